/** How files are called after what is in them, and a breach that does not happen again. */
import { describe, expect, test } from 'vitest';
import { builtIn } from '../catalogue.ts';
import { sweep } from '../search/sweep/sweep.ts';
import { claimTally, EMPTY_TALLY } from '../search/sweep/tally.ts';
import { concludeScenario } from './conclude.ts';
import { exits } from './exit.ts';
import { fileName, ownName, planFileOf } from './output-files.ts';
import { smallScenario } from './small.fixture.ts';
import { openTerminal } from './terminal.ts';

describe('a file is called', () => {
  test.each([
    [['zombie writer', 'unfenced', 'grant-order'], 'zombie-writer-unfenced-grant-order'],
    [['../étage/2.b'], 'étage-2.b'],
    [['..'], 'unnamed'],
    [[']]>', 'fenced'], 'unnamed-fenced'],
    [['zombie', '"', 'grant-order'], 'zombie-unnamed-grant-order'],
  ])('after %j as %s', (parts, name) => {
    expect(fileName(parts)).toBe(name);
  });

  test('as no other of one run, even where their names differ by signs only', () => {
    const names = ['a b', 'a/b', 'a-b-2', 'c', '..', ']]>', 'a+b'];
    const own = names.map((name) => ownName(name, names));
    expect(own).toEqual(['a-b', 'a-b-2', 'a-b-2-2', 'c', 'unnamed', 'unnamed-2', 'a-b-3']);
    expect(ownName('elsewhere', [])).toBe('elsewhere');
  });
});

const scenario = smallScenario();
const kind = { system: 'unfenced', claim: 'fence-monotone' };

test('two systems whose names differ by signs only have plans of their own', () => {
  const place = { scenario: 'a', systems: ['x y', 'x/y'], output: 'reports' };
  const files = place.systems.map((system) => planFileOf({ system, claim: 'c' }, place));
  expect(files).toEqual(['reports/a-x-y-c.yaml', 'reports/a-x-y-2-c.yaml']);
});

test('a claim that broke, and does not when its seed is run again, is told and no result', async () => {
  const range = { from: 0, to: 99 };
  const { tallies } = await sweep(scenario, { ...range, pool: null });
  const own = tallies.get(kind.system) ?? EMPTY_TALLY;
  const broken = claimTally(own, kind.claim);
  const holds = [...Array(100).keys()].filter((seed) => !broken.brokenSeeds.includes(seed));
  const printed: string[] = [];
  const conclude = async (brokenSeeds: readonly number[]): Promise<readonly number[]> => {
    const claims = { ...own.claims, [kind.claim]: { ...broken, causes: [], brokenSeeds } };
    const outcome = await concludeScenario(
      { scenario, file: 'small.yaml', text: '', catalogue: builtIn, warnings: [] },
      {
        tallies: new Map([...tallies, [kind.system, { ...own, claims }]]),
        ...{ range, isWhole: true, isPart: false, milliseconds: 0 },
        ...{ keptPlans: [], repeated: 0, difference: null },
      },
      {
        ...{ output: 'reports', hasPage: false, isInterrupted: () => false },
        terminal: { ...openTerminal({ isQuiet: true }), print: (line) => printed.push(line) },
      },
    );
    return outcome.exits;
  };
  expect(await conclude(broken.brokenSeeds)).not.toContain(exits.nondeterministic);
  expect(printed).toEqual([]);
  expect(await conclude(holds.slice(0, 2))).toContain(exits.nondeterministic);
  expect(printed).toEqual([
    `nondeterministic: small.yaml, unfenced, seed ${holds[0]}: fence-monotone broke, and does not when it is run again`,
  ]);
});
