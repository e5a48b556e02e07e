/**
 * The public API of `fencepost`: checking a scenario in a test, defining systems, and the
 * individual steps of a check. `fencepost/servers` contains locks, stores and servers as state
 * machines, `fencepost/redis` the simulated Redis, and `fencepost/check` the checker of histories.
 */

export { checkScenario } from './adapters/scenario-check/check-scenario.ts';
export type { ClaimName, LockName, StoreName } from './adapters/scenario-check/known-names.ts';
export type {
  Body,
  BodyOptions,
  LockOptions,
  ScenarioOptions,
  TestOptions,
} from './adapters/scenario-check/options.ts';
export type {
  ClientFields,
  FaultFields,
  FaultPlaceFields,
  MessageFields,
  Odds,
  ScenarioFields,
  Time,
  TimeRange,
  WorkloadFields,
} from './adapters/scenario-check/scenario-fields.ts';
export type { CheckedScenario } from './adapters/scenario-check/test-campaign.ts';
export { ScenarioCheckFailed } from './adapters/scenario-check/test-place.ts';
export type { SystemDefinition } from './catalogue.ts';
export type { Causation } from './check/causation.ts';
export type { ClaimDefinition, Ruling } from './check/custom-claim.ts';
export type { ModelDefinition, ModelForm } from './check/store-models.ts';
export type { Terms } from './check/terms.ts';
export type { Evidence, Explanation, Verdict } from './check/verdict.ts';
export type { Answer, Call } from './core/history/call.ts';
export type { EventKind, EventOf, TraceEvent } from './core/history/events.ts';
export type { Trace } from './core/history/trace.ts';
export type { Json } from './core/kernel/json.ts';
export type { FaultKind } from './core/plan/fault.ts';
export { type Definitions, defineSystem } from './define-system.ts';
export {
  expand,
  explain,
  InvalidInput,
  judge,
  loadPlan,
  loadScenario,
  Plan,
  type Replay,
  replay,
  run,
  Scenario,
  type ShrinkResult,
  shrink,
} from './library.ts';
export type { OptionInfo } from './systems/options.ts';
export {
  AccessRefused,
  type AsyncClient,
  type AsyncSection,
  type Guard,
  type GuardSetting,
  type LockDefinition,
  NoAnswer,
} from './systems/protocol.ts';
export type { StoreDefinition } from './systems/store/store-kinds.ts';
export type { Problem } from './text/problem.ts';
export { Cache } from './zoo/cache/cache.ts';
export {
  CacheLock,
  type CacheLockAnswer,
  type CacheLockSettings,
} from './zoo/cache-lock/cache-lock.ts';
export {
  OptimisticTable,
  type TableRow,
  type Update,
  type UpdateAnswer,
} from './zoo/optimistic/optimistic-table.ts';
export {
  type LeaseAnswer,
  LeaseCache,
  type LeaseHolder,
  LeaseTable,
  type ReleaseAnswer,
} from './zoo/worker-lease/leases.ts';
