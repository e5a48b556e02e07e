/**
 * Tests the verdict table row by row: a claim that holds holds on every seed and is exercised, and
 * the faults that it survives do fire; a claim that breaks does so on some seed, because of the
 * faults. `FENCEPOST_SEEDS` sets the number of seeds for claims that hold. The table's last row,
 * without faults, has its own tests in `verdict-table/`.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { prepare } from '../../src/systems/store/store-kinds.ts';
import { runs } from '../runs.ts';
import { countsOf, objections } from './judging.ts';
import { scenarioOf, titleOf } from './row.ts';
import { LATER, rows } from './rows.ts';

const SEEDS = Number(process.env['FENCEPOST_SEEDS'] ?? runs(250));
const BUDGET = { holding: SEEDS, breaking: 3_000 };
const CALM_BUDGET = { holding: 100, breaking: 0 };

beforeAll(async () => {
  for (const { stores } of rows) await prepare(stores.map((store) => ({ store })));
});

describe.each(rows.map((row) => [titleOf(row), row] as const))('%s', (_, row) => {
  const { holds = [], breaks = [] } = row;
  const said = [...holds.map((claim) => `holds ${claim}`), ...breaks.map((it) => `breaks ${it}`)];
  const note = row.note === undefined ? '' : ` (${row.note})`;

  test.each(row.stores)(`%s: ${said.join(', ')}${note}`, async (store) => {
    const scenario = scenarioOf(row, { isCalm: false });
    const system = scenario.systems.find(({ name }) => name === store);
    if (system === undefined) expect.fail(`there is no system ${store}`);
    const found = objections(scenario, system, await countsOf(scenario, system, BUDGET));
    const isExpected = (line: string): boolean =>
      row.prevents === true && line.endsWith('was never exercised');
    expect(found.filter((line) => !isExpected(line))).toEqual([]);
  });

  if (breaks.length === 0 || row.faults.length === 0) return;
  test.each(row.stores)('%s: does not break without the faults', async (store) => {
    const scenario = scenarioOf(row, { isCalm: true });
    const broken = scenario.systems.find(({ name }) => name === store);
    if (broken === undefined) expect.fail(`there is no system ${store}`);
    const calm = { ...broken, expect: { holds: broken.expect.breaks, breaks: [] } };
    const counts = await countsOf(scenario, calm, CALM_BUDGET);
    expect(objections(scenario, calm, counts)).toEqual([]);
  });
});

describe('systems that are not modeled', () => {
  for (const [row, why] of LATER) test.todo(`${row}: ${why}`);
});
