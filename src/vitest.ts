/**
 * `fencepost/vitest`: one vitest test checks one property of a lock, over many seeds.
 *
 *     simTest('two clients never lose an update', {
 *       clients: { count: 2, ttl: '20ms' },
 *       workload: { kind: 'read-modify-write' },
 *       faults: [{ pause: { before: 'write', for: '1ms..60ms', chance: '1/2' } }],
 *       servers: (world) => ({ redis: … world.addServer({ name: 'lock', role: 'lock' }, …) … }),
 *     }, async (section, { redis, client }) => { … });
 *
 * `simTest` runs `checkScenario` as a vitest test. The body is the lock's client, written as in
 * production: it acquires the lock, declares that it holds the lock (`section.guard()`), works, and
 * releases the lock. Without a body, `lock` names a built-in lock or is a lock definition. The
 * other options are the fields of a scenario file. `faults` has no default: a test without faults
 * must say so. `store` defaults to `unfenced`, and `holds` to `grant-order`. `time` is virtual;
 * `timeout` and `budgetMs` limit the real duration of a test.
 *
 * A test replays its kept plans (`__fencepost__/<test file>/`), runs a few seeds twice to check
 * that they are deterministic, then runs fresh seeds. It fails if a claim that should hold breaks,
 * if a claim that should break does not, or if a fault or a claim was not exercised. The variables
 * `FENCEPOST_SEED`, `FENCEPOST_SEEDS`, `FENCEPOST_REPLAY` and `FENCEPOST_UPDATE` change this; see
 * `scenario-check/test-place.ts`.
 */
export type {
  Body,
  BodyOptions,
  LockOptions,
  ScenarioOptions,
  TestOptions,
} from './adapters/scenario-check/options.ts';
export {
  type CaseOf,
  type SimTest,
  type SimTestCall,
  type SimTestEach,
  simTest,
} from './adapters/vitest/sim-test.ts';
