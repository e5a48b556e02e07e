/**
 * The public names of the package, one by one, sorted by the files that have them. In which order
 * data flows through those, `harness.ts` shows. The checker of histories is `fencepost/check`.
 */

export {
  checkScenario,
  type ScenarioFileOptions,
} from './adapters/scenario-check/check-scenario.ts';
export type {
  CheckedScenario,
  CheckedSystem,
  MetExpectation,
} from './adapters/scenario-check/test-campaign.ts';
export { ScenarioCheckFailed } from './adapters/scenario-check/test-place.ts';
export type { Catalogue, LoadedModule, SystemDefinition } from './catalogue.ts';
export { builtIn, extend } from './catalogue.ts';
export type {
  Causation,
  Neighbour,
  ProvenCause,
  ProvenCure,
  TurningPoint,
} from './check/causation.ts';
export type { Checker, ClaimAbout } from './check/claim.ts';
export { claims, judge } from './check/claims.ts';
export { explain } from './check/explain.ts';
export type { ClaimDefinition, OwnBreach, Ruling } from './check/own-claim.ts';
export type { ModelDefinition } from './check/store-models.ts';
export { type Terms, termsOf } from './check/terms.ts';
export type { Evidence, Explanation, Invalid, Unknown, Valid, Verdict } from './check/verdict.ts';
export type { Answer, Call } from './core/history/call.ts';
export type { TraceEvent } from './core/history/events.ts';
export type { Ending, ProcessInfo, Trace } from './core/history/trace.ts';
export type { Json } from './core/kernel/json.ts';
export { type Name, under } from './core/kernel/name.ts';
export type { Fault, FaultKind, When, Which } from './core/plan/fault.ts';
export type {
  ChancePlan,
  ClientPlan,
  Expectation,
  Limits,
  ModuleDigests,
  Plan,
  SectionPlan,
  SystemPlan,
  Work,
} from './core/plan/plan.ts';
export { readPlan, renderPlan } from './core/plan/plan-text.ts';
export type { Boundary } from './core/shrink/boundary.ts';
export type { ShrinkOptions, ShrinkResult } from './core/shrink/shrink.ts';
export { shrink, shrinkWith, shrinkWithAsync } from './core/shrink/shrink.ts';
export type { CallSetting, PendingCall, ServerHost } from './core/world/calls.ts';
export type { Caller, CallOptions, Outcome, Port } from './core/world/port.ts';
export type { Background, LeaseEnd, Program, Self } from './core/world/program.ts';
export {
  answerOf,
  backOff,
  inBackground,
  mark,
  request,
  send,
  sleep,
} from './core/world/program.ts';
export { type Boot, LATER, type Server, type Turn } from './core/world/server.ts';
export type { World } from './core/world/world.ts';
export { type Definitions, defineSystem } from './define-system.ts';
export type { Examination, ShrinkFailureOptions } from './harness.ts';
export { breaks, examine, examineSeed, judgeRun, shrinkFailure } from './harness.ts';
export { type GlobalsOptions, loadVirtually } from './host/async/globals.ts';
export { EPOCH_MS } from './host/async/life.ts';
export {
  examineAsync,
  examineSeedAsync,
  pinAsync,
  runAsync,
  type ShrinkAsyncOptions,
  shrinkFailureAsync,
} from './host/async/run-async.ts';
export type { PlanFileRead, ScenarioFileRead } from './host/modules/load-files.ts';
export { loadPlanFile, loadScenarioFile } from './host/modules/load-files.ts';
export { loadScenario } from './load.ts';
export { digestOf, pin, run } from './run.ts';
export { expand } from './scenario/expand.ts';
export type { ScenarioRead } from './scenario/read-scenario.ts';
export type { Scenario, SystemScenario } from './scenario/scenario.ts';
export { type Replay, replay } from './search/corpus/replay.ts';
export { type ExplainOptions, explainPlan } from './search/evidence/explain-plan.ts';
export type { ToldBreach } from './search/evidence/explain-run.ts';
export { type Judgement, judgeSystem } from './search/sweep/expectation.ts';
export type { Pool, PoolOptions } from './search/sweep/pool.ts';
export type { Progress, SweepOptions, SweepResult } from './search/sweep/sweep.ts';
export { openPool, sweep } from './search/sweep/sweep.ts';
export type { ClaimTally, Tally } from './search/sweep/tally.ts';
export { GrantBook } from './systems/grant-book.ts';
export { askLock, enterLock, leaseEnd, testLease } from './systems/lease.ts';
export { LockClient } from './systems/lock-service/lock-client.ts';
export type { LockAnswer, LockGrant as Grant } from './systems/lock-service/lock-service.ts';
export { hasExpired, LockService } from './systems/lock-service/lock-service.ts';
export type { OptionInfo, Options } from './systems/options.ts';
export type {
  Change,
  CheckToken,
  JobStep,
  LockDefinition,
  LockDriver,
  Protocol,
} from './systems/protocol.ts';
export {
  AccessRefused,
  type AsyncClient,
  type AsyncSection,
  type BuildAsync,
  type Guard,
  type GuardSetting,
  NoAnswer,
  type Section,
  type SectionProgram,
  type SectionProgramOf,
} from './systems/protocol.ts';
export { part } from './systems/section-calls.ts';
export type { Manners, StoreReply, StoreRequest } from './systems/store/request.ts';
export type { FenceRule } from './systems/store/store.ts';
export { Store, stores } from './systems/store/store.ts';
export type { StoreDefinition } from './systems/store/store-kinds.ts';
export { prepare, type StoreKind, storeKinds } from './systems/store/store-kinds.ts';
export { StoreServer } from './systems/store/store-server.ts';
export { StoreWitness } from './systems/store/witness.ts';
export type { Problem } from './text/problem.ts';
export { renderProblem } from './text/problem.ts';
export type { CacheItem, CasAnswer } from './zoo/cache/cache.ts';
export { Cache } from './zoo/cache/cache.ts';
export type { CacheLockAnswer, CacheLockSettings } from './zoo/cache-lock/cache-lock.ts';
export { CacheLock } from './zoo/cache-lock/cache-lock.ts';
export type { ReleaseRule } from './zoo/cache-lock/commands.ts';
export {
  OptimisticTable,
  type OptimisticTableSetting,
  type Update,
  type UpdateAnswer,
} from './zoo/optimistic/optimistic-table.ts';
export {
  type GivenLease,
  type LeaseAnswer,
  LeaseCache,
  type LeaseHolder,
  LeaseTable,
  type LeaseWish,
  type ReleaseAnswer,
} from './zoo/worker-lease/leases.ts';
