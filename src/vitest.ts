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
 * `simTest` runs `checkScenario` as a vitest test. Its design decisions:
 *
 * The body is the lock's client, written as in production: it acquires the lock, declares that it
 * holds it (`section.guard()`), works, and releases it. Without a body, `lock` names a built-in
 * lock or is a lock definition. The other options are the fields of a scenario file, at the top
 * level, since a test has one system. The reader of scenario files also reads these options, and
 * reports mistakes in the same way. `faults` has no default: a test without faults should say so
 * explicitly. The default of `store` is `unfenced`. The default of `holds` is `grant-order`, the
 * least that a lock is used for. `time` is virtual, as in a scenario; `timeout` and `budgetMs`
 * limit the real duration of a test.
 *
 * A test replays its kept plans (`__fencepost__/<test file>/`), runs a few seeds twice to check
 * that they are deterministic, then runs fresh seeds until one breaks a claim that should hold. It
 * fails if such a claim breaks, if a claim that should break does not, or if a fault or a claim was
 * not exercised. `FENCEPOST_SEED`, `FENCEPOST_SEEDS`, `FENCEPOST_REPLAY` and `FENCEPOST_UPDATE`
 * change this without an edit of the test; see `scenario-check/test-place.ts`.
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
