/**
 * What earlier versions wrote goes on to work: their kept plans replay to the outcome that they
 * name, but for those that `fixtures/compatibility/changed.yaml` lists with a reason, and what
 * their `--json` printed can be read.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { isSameCause } from '../src/check/breach-cause.ts';
import { loadPlanFile } from '../src/host/modules/load-files.ts';
import { outputLine } from '../src/report/output-schema.ts';
import { type Replay, replay } from '../src/search/corpus/replay.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';

const folder = fileURLToPath(new URL('../fixtures/compatibility/', import.meta.url));
const versions = readdirSync(folder).filter((name) => /^\d/.test(name));

const changed = z
  .record(
    z.string(),
    z.strictObject({
      outcome: z.enum(['reproduced', 'fixed', 'inert', 'diverged']),
      because: z.string().min(20),
    }),
  )
  .parse(parse(readFileSync(join(folder, 'changed.yaml'), 'utf8')));

function plansOf(version: string): readonly string[] {
  return ['plans', 'modules/plans'].flatMap((place) =>
    readdirSync(join(folder, version, place)).map((file) => join(version, place, file)),
  );
}

const plans = versions.flatMap(plansOf);

/** As `changed.yaml` calls it: `0.1.0/boundary-after-lease-conservative`. */
function nameOf(file: string): string {
  return `${file.split('/')[0]}/${basename(file, '.yaml')}`;
}

const ours = ['../plans', '../modules/plans'].flatMap((place) =>
  readdirSync(join(folder, place)).map((file) => join(place, file)),
);

async function replayOf(file: string): Promise<Replay & { readonly expected: string | undefined }> {
  const read = await loadPlanFile(join(folder, file));
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { plan, catalogue } = read;
  await prepare([plan.system], catalogue);
  return { ...(await replay(plan, undefined, catalogue)), expected: plan.expect?.outcome };
}

describe('a plan that an earlier version kept', () => {
  test.each(plans)(
    '%s replays to the outcome that it names, or to the one listed',
    async (file) => {
      const { outcome, expected } = await replayOf(file);
      const exception = changed[nameOf(file)];
      expect(outcome).toBe(exception?.outcome ?? expected);
      if (exception !== undefined) expect(exception.outcome).not.toBe(expected);
    },
  );

  test('is there wherever one is listed as changed', () => {
    expect(plans.length).toBeGreaterThan(100);
    const names = new Set(plans.map(nameOf));
    expect(Object.keys(changed).filter((name) => !names.has(name))).toEqual([]);
  });
});

test.each(versions)('every line that %s printed with --json can be read', (version) => {
  const lines = readFileSync(join(folder, version, 'run.jsonl'), 'utf8')
    .trim()
    .split('\n');
  for (const line of lines) expect(outputLine.safeParse(JSON.parse(line)).error).toBeUndefined();
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'summary', exit: 0 });
});

test('a plan that we keep says what it breaks by, and does', async () => {
  const wrong: string[] = [];
  for (const file of ours) {
    const read = await loadPlanFile(join(folder, file));
    if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
    const { plan, catalogue } = read;
    await prepare([plan.system], catalogue);
    const { outcome, cause } = await replay(plan, undefined, catalogue);
    const said = plan.expect?.cause;
    if (outcome !== 'reproduced' || cause === null) expect(said, file).toBeUndefined();
    else if (said === undefined || !isSameCause(said, cause)) wrong.push(file);
  }
  expect(ours.length).toBeGreaterThan(100);
  expect(wrong).toEqual([]);
}, 120_000);
