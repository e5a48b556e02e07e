/**
 * The edges of the documents' systems, as `docs/edges.md` and its picture have them. `npx vitest
 * run tools/docs/edges.slow.test.ts -u` makes both anew.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadScenarioFile } from '../../src/host/modules/load-files.ts';
import { type EdgeScope, edgeSentence, edgeSvg, edgeTable } from '../../src/report/edge.ts';
import { type ClaimEdge, findEdges, holdsAll } from '../../src/search/exhaust/edge.ts';
import { narrowed } from '../../src/search/exhaust/narrowed.ts';
import { prepare } from '../../src/systems/store/store-kinds.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const axes = { kind: 'pause', parameter: 'ttl' } as const;
const size = { faults: 1, clients: 2, sections: 1 } as const;

/** With the claim of which each has its map shown. */
const SCENARIOS = [
  ['zombie-writer', 'grant-order'],
  ['lost-update', 'no-lost-update'],
] as const;

const HEAD = `# Where the edge is

How long may a client stand still before it does harm? Each line is what \`run --exhaust 1 --clients 2 --sections 1
--edge pause,ttl\` found: every pause of any client at any point, with every length at which the order of things
changes, at five values of the ttl, and at two of them with twice the latency. What is varied, and what is not, stands
[beside the command](exhaustive.md#where-the-edge-is). \`npx vitest run tools/docs/edges.slow.test.ts -u\` makes this
page, and a test holds it.
`;

async function edgesOf(name: string): Promise<readonly ClaimEdge[]> {
  const loaded = await loadScenarioFile(join(root, 'fixtures', `${name}.yaml`));
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  const scenario = narrowed(loaded.scenario, { ...size, ties: 0 });
  await prepare(scenario.systems, loaded.catalogue);
  const options = { catalogue: loaded.catalogue, shouldStop: async () => false };
  return (await findEdges(scenario, axes, options)) ?? [];
}

test('the page on edges is what a search finds', { timeout: 240_000 }, async () => {
  const parts = [HEAD];
  for (const [name, shown] of SCENARIOS) {
    const scope: EdgeScope = { ...axes, ...size, scenario: name };
    const edges = await edgesOf(name);
    const map = edges.find((edge) => edge.claim === shown && !holdsAll(edge));
    const table = map === undefined ? [] : edgeTable(map, scope).map((line) => line.slice(4));
    const lines = edges.map((edge) => edgeSentence(edge, scope));
    parts.push(`## \`${name}\`\n`, ['```text', ...lines, '```'].join('\n'));
    parts.push(`\n\`${shown}\` of \`${map?.system}\`, in full; × breaks, · holds:\n`);
    parts.push(['```text', ...table, '```', ''].join('\n'));
    if (name !== 'lost-update' || map === undefined) continue;
    const picture = 'edge-lost-update.svg';
    parts.push(`![${edgeSentence(map, scope)}](${picture})\n`);
    await expect(edgeSvg(map, scope)).toMatchFileSnapshot(join(root, 'docs', picture));
  }
  await expect(parts.join('\n')).toMatchFileSnapshot(join(root, 'docs/edges.md'));
});
