import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkScenario } from './check-scenario.ts';
import type { CheckedScenario } from './test-campaign.ts';
import { ScenarioCheckFailed } from './test-place.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-checks-'));
const zombie = join(folder, 'zombie.yaml');
const ZOMBIE = `name: zombie-writer
systems:
  unfenced: { lock: lock-service, store: unfenced, expect: { holds: [grant-order] } }
  twin: { lock: lock-service, store: unfenced, expect: { breaks: [grant-order] } }
  fenced: { lock: lock-service, store: fenced, expect: { holds: [grant-order] } }
faults:
  - pause: { before: write, for: 1ms..40ms, chance: 1/2 }
`;
writeFileSync(zombie, ZOMBIE);
writeFileSync(join(folder, 'wrong.yaml'), ZOMBIE.replace('pause', 'pausee'));

/** Returns the error of a rejected check. */
async function rejected(check: Promise<CheckedScenario>): Promise<Error> {
  return await check.then(
    () => expect.fail('it passed'),
    (error: Error) => error,
  );
}

test('a scenario that meets its expectations resolves to the counts of each', async () => {
  const twin = await checkScenario(zombie, { seeds: 40, system: 'twin' });
  // The run stops once every claim that should break is broken.
  const broke = { claim: 'grant-order', expected: 'breaks', exercised: 1, broken: 1 };
  expect(twin).toEqual({ systems: [{ name: 'twin', seeds: 2, expectations: [broke] }] });
  const fenced = await checkScenario(zombie, { seeds: 40, system: 'fenced' });
  expect(fenced.systems[0]?.expectations[0]).toMatchObject({ expected: 'holds', broken: 0 });
  expect(fenced.systems[0]?.expectations[0]?.exercised).toBeGreaterThan(0);
});

test('a scenario that misses one rejects with the failure block, seed and command', async () => {
  const error = await rejected(checkScenario(zombie, { seeds: 40, system: 'unfenced' }));
  expect(error).toBeInstanceOf(ScenarioCheckFailed);
  expect(error.message).toMatch(
    /^✗ Stale write accepted by `unfenced`\n {2}grant-order of unfenced, /,
  );
  expect(error.message).toMatch(
    /^seed: {3}FENCEPOST_SEED=\d+ npx vitest run src\/adapters\/scenario-check\/check-scenario\.test\.ts$/m,
  );
  expect(error.stack?.split('\n').at(-1)).toMatch(/check-scenario\.test\.ts:\d+:\d+/);
});

test.each<[string, () => Promise<CheckedScenario>, string]>([
  [
    'a field',
    () => checkScenario(join(folder, 'wrong.yaml')),
    'wrong.yaml:7:5 faults[0].pausee: unk',
  ],
  ['a file', () => checkScenario('gone.yaml'), 'scenario: gone.yaml: there is no such file; name'],
  [
    'an option',
    () => checkScenario(zombie, Object({ seedz: 5 })),
    'unknown field "seedz"; did you',
  ],
  ['a name', () => checkScenario(Object({ faults: [] })), 'name: is missing; name the check'],
  ['nothing', () => checkScenario(Object(undefined)), 'name: is missing'],
  [
    'a function',
    () =>
      checkScenario(
        zombie,
        Object(() => {}),
      ),
    'a scenario file takes no body; with a body, pass {',
  ],
])('a mistake in %s rejects with another error class, and its place', async (_, check, why) => {
  const error = await rejected(check());
  expect(error.message).toContain(why);
  expect(error).not.toBeInstanceOf(ScenarioCheckFailed);
});

test('a path relative to the working directory is accepted, too', async () => {
  const { systems } = await checkScenario('fixtures/six-steps.yaml', { seeds: 1 });
  expect(systems.length).toBeGreaterThan(0);
});

test('accepts the options and the body of simTest', async () => {
  const faults = [{ pause: { before: 'write', for: '1ms..60ms', chance: '1/2' } }] as const;
  const bodyOnly = { name: 'no lock', lock: 'none', seeds: 20, faults } as const;
  const workload = { kind: 'read-modify-write' } as const;
  const { systems } = await checkScenario(
    { ...bodyOnly, workload, breaks: ['no-lost-update'] },
    (section) => section.guard().work(),
  );
  expect(systems[0]).toMatchObject({ name: 'own-lock', expectations: [{ expected: 'breaks' }] });
});
