/**
 * Lists the statements of the four documents that fencepost implements, line by line, each with
 * what shows that it is so, or why it is not. `docs/documents.md` is generated from the same rows:
 * `npx vitest run tools/docs/documents --update` writes it.
 */
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import * as fencepost from '../../src/index.ts';
import * as servers from '../../src/servers.ts';
import { compare } from '../compare/compare.ts';
import { document as cacheLock } from './documents/cache-lock.ts';
import { document as fencingTokens } from './documents/fencing-tokens.ts';
import { document as optimisticLocking } from './documents/optimistic-locking.ts';
import type { Row, Shown, SourceDocument } from './documents/row.ts';
import { document as workerLeases } from './documents/worker-leases.ts';

const documents: readonly SourceDocument[] = [
  fencingTokens,
  optimisticLocking,
  workerLeases,
  cacheLock,
];

let printed = '';

beforeEach(() => {
  printed = '';
  const keep = (text: string | Uint8Array): true => {
    printed += String(text);
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(keep);
  vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
  vi.spyOn(console, 'log').mockImplementation((...said: unknown[]) => keep(`${said.join(' ')}\n`));
  vi.stubEnv('NO_COLOR', '1');
  vi.spyOn(process, 'cwd').mockReturnValue(fileURLToPath(new URL('../../', import.meta.url)));
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** The constructor of asynchronous functions, which takes code as text. */
const AsyncFunction: new (name: string, code: string) => (given: unknown) => Promise<void> =
  Object.getPrototypeOf(async () => {}).constructor;

let compared: readonly string[] | null = null;

async function linesOfCompare(seeds: number): Promise<readonly string[]> {
  compared ??= await compare(seeds);
  return compared;
}

async function show(shown: Shown): Promise<void> {
  if ('comparedSeeds' in shown) {
    for (const line of await linesOfCompare(shown.comparedSeeds)) console.log(line);
    return;
  }
  if ('command' in shown) {
    await runProgram(shown.command.split(' '), '');
    return;
  }
  const [first = '', ...rest] = shown.script.trim().split('\n');
  const names = /^import (\{.*\}) from 'fencepost(?:\/servers)?';$/.exec(first)?.[1];
  if (names === undefined) throw new Error(`a script begins with its only import, not: ${first}`);
  await new AsyncFunction('given', `const ${names} = given;\n${rest.join('\n')}`)({
    ...servers,
    ...fencepost,
  });
}

describe.each(documents.map((one) => [one.title, one] as const))('%s', (_, { rows }) => {
  test.each(rows.map((row) => [`${row.lines}: ${row.says}`, row] as const))(
    '%s',
    async (_name, { shown }) => {
      await show(shown);
      expect(shown.prints.length).toBeGreaterThan(0);
      for (const expected of shown.prints) {
        if (typeof expected === 'string') expect(printed).toContain(expected);
        else expect(printed).toMatch(expected);
      }
    },
  );
});

function cellOf(text: string): string {
  return text.replaceAll('|', '\\|');
}

/** Returns the end of the output of `npm run compare`: the last condition, and the rulings. */
async function listingOf({ shown }: Row): Promise<readonly string[]> {
  if (!('comparedSeeds' in shown)) return [];
  const lines = await linesOfCompare(shown.comparedSeeds);
  const from = lines.findIndex((line) => line.startsWith('high contention, with faults'));
  const text = lines.slice(from).join('\n');
  return [
    `The last part of the output of \`npm run compare -- ${shown.comparedSeeds}\`:\n\n\`\`\`text\n${text}\n\`\`\`\n`,
  ];
}

/** Renders the table of a document; text that is too long for a cell follows it. */
async function render({ title, about, rows }: SourceDocument, at: number): Promise<string> {
  const scripts: string[] = [];
  const shownBy = ({ shown }: Row): string => {
    if ('comparedSeeds' in shown) return `\`npm run compare -- ${shown.comparedSeeds}\``;
    if ('command' in shown) return `\`fencepost ${cellOf(shown.command)}\``;
    const same = scripts.indexOf(shown.script.trim());
    const number = same < 0 ? scripts.push(shown.script.trim()) : same + 1;
    return `script ${at + 1}.${number}`;
  };
  const verdictOf = ({ deviates }: Row): string =>
    deviates === undefined ? 'yes' : `deviates because ${cellOf(deviates)}`;
  const table = rows.map(
    (row) => `| ${row.lines} | ${cellOf(row.says)} | ${shownBy(row)} | ${verdictOf(row)} |`,
  );
  const listings = scripts.map(
    (script, index) => `Script ${at + 1}.${index + 1}:\n\n\`\`\`js\n${script}\n\`\`\`\n`,
  );
  for (const row of rows) listings.push(...(await listingOf(row)));
  const head = ['| lines | statement | shown by | conforms |', '| --- | --- | --- | --- |'];
  return [`## ${at + 1}. ${title}`, about, [...head, ...table].join('\n'), ...listings].join(
    '\n\n',
  );
}

const INTRODUCTION = `# The four source documents, line by line

fencepost implements four documents on locks, leases and fencing tokens. Each table lists the statements of one
document, with their lines, the command or script that shows each statement in fencepost, and whether fencepost
conforms. \`tools/docs/documents.slow.test.ts\` runs every command and script below, checks the output, and writes this
page. To run a script, save it as a \`.mjs\` file where fencepost is installed, and run it with \`node\`.
`;

test('every row of a document is present', () => {
  expect(documents.map(({ rows }) => rows.length)).toEqual([18, 13, 17, 21]);
});

test('docs/documents.md shows the statements that were run', async () => {
  const parts = await Promise.all(documents.map(render));
  const text = [INTRODUCTION.trim(), ...parts].join('\n\n').trimEnd();
  await expect(`${text}\n`).toMatchFileSnapshot('../../docs/documents.md');
});
