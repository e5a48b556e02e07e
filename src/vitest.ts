/**
 * `fencepost/vitest`: one test of vitest is one property of a lock, over many seeds.
 *
 *     simTest('two clients never lose an update', {
 *       clients: { count: 2, ttl: '20ms' },
 *       workload: { kind: 'read-modify-write' },
 *       faults: [{ pause: { before: 'write', for: '1ms..60ms', chance: '1/2' } }],
 *       servers: (world) => ({ redis: … world.addServer({ name: 'lock', role: 'lock' }, …) … }),
 *     }, async (section, { redis, client }) => { … });
 *
 * It is `checkScenario` as a test of vitest. What was decided, and why. The body is the lock's
 * client, written as in production: it takes the lock, says so (`section.guard()`), works and gives
 * it back; without a body `lock` names one that fencepost has, or is a definition. All that a
 * scenario file says is said in the same words, flat and beside one another, since a test has one
 * system: its reader reads them, so that mistakes are reported as there. `faults` has no default: a
 * test in which nothing can go wrong is to look like that. `store` is `unfenced` and `holds` is
 * `grant-order`, the least that a lock is taken for.
 * `time` is virtual, as in a scenario; what a test may take in reality is `timeout` and `budgetMs`.
 *
 * A test replays its kept plans (`__fencepost__/<test file>/`), repeats a few seeds to see that
 * they are deterministic, then takes fresh seeds until one breaks what should hold. It fails where
 * that happens, where what should break did not, and where a fault or a claim was never put to the
 * test. `FENCEPOST_SEED`, `FENCEPOST_SEEDS`, `FENCEPOST_REPLAY` and `FENCEPOST_UPDATE` change what
 * it does without an edit; see `scenario-check/test-place.ts`.
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
