/**
 * Law: kept plans continue to work. Those of `fixtures/frozen`, which are never regenerated, replay
 * to their stated outcome, and recorded `--json` output can be read.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { isSameCause } from '../src/check/breach-cause.ts';
import { loadPlanFile } from '../src/host/modules/load-files.ts';
import { outputLine } from '../src/report/output-schema.ts';
import { replay } from '../src/search/corpus/replay.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { RECORDS, readRecord } from '../tools/freeze/frozen.ts';

const folder = fileURLToPath(new URL('../fixtures/frozen/', import.meta.url));
const filesIn = (...places: readonly string[]): readonly string[] =>
  places.flatMap((place) => readdirSync(join(folder, place)).map((file) => join(place, file)));

const plans = filesIn('plans', 'modules/plans');
const ours = filesIn('../plans', '../modules/plans');

test('there are many frozen plans', () => {
  expect(plans.length).toBeGreaterThan(100);
});

test.each(plans)('the frozen plan %s replays to its stated outcome', async (file) => {
  const read = await loadPlanFile(join(folder, file));
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { plan, catalogue } = read;
  await prepare([plan.system], catalogue);
  expect((await replay(plan, undefined, catalogue)).outcome).toBe(plan.expect?.outcome);
});

test('every line that `run` and `replay` printed with --json can be read', () => {
  const printed = readdirSync(join(RECORDS, 'outputs')).flatMap((file) =>
    [...readRecord(`outputs/${file.replace('.txt', '')}`)].filter(([command]) =>
      /^fencepost (run|replay) .*--json$/.test(command),
    ),
  );
  const lines = printed.flatMap(([, text]) => text.filter((line) => line.startsWith('{')));
  expect(lines.length).toBeGreaterThan(30);
  for (const line of lines) {
    const timed = line.replace('"exit":', '"seedsPerSecond":1,"eventsPerSecond":1,"exit":');
    expect(outputLine.safeParse(JSON.parse(timed)).error).toBeUndefined();
  }
});

test('a kept plan of this project states the cause of its breach correctly', async () => {
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
