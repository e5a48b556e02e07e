/** The public names of the package, one by one, in the order in which data flows. */

// Judging a trace.
export { claims, judge } from './check/claims.ts';
export { explain } from './check/explain.ts';
export { type ModelName, type Terms, termsOf } from './check/terms.ts';
export type { Evidence, Explanation, Invalid, Unknown, Valid, Verdict } from './check/verdict.ts';
export { type Replay, replay } from './corpus/replay.ts';
// The whole way: examine, shrink, sweep, replay.
export { breaks, type Examination, examine, examineSeed, shrinkFailure } from './harness.ts';
export type { Ending, ProcessInfo, Trace, TraceEvent } from './history/trace.ts';
// The linearizability checker by itself.
export { checkHistory, checkParts } from './linearizability/check-history.ts';
export type { CheckOptions } from './linearizability/check-options.ts';
export type { Decision } from './linearizability/decide.ts';
export type { HistoryVerdict, PartVerdict } from './linearizability/decide-history.ts';
export { explainHistory, type Reasons } from './linearizability/explain.ts';
export { explainInWords } from './linearizability/explain-in-words.ts';
export type { Model } from './linearizability/model.ts';
export { models } from './linearizability/models.ts';
export type { CallData, History, Operation } from './linearizability/operation.ts';
// Scenarios and plans, and their texts.
export { loadScenario } from './load.ts';
export type { Fault, FaultKind, When, Which } from './plan/fault.ts';
export type {
  ChancePlan,
  ClientPlan,
  Expectation,
  Limits,
  Plan,
  SectionPlan,
  SystemPlan,
  Work,
} from './plan/plan.ts';
export { readPlan, renderPlan } from './plan/plan-text.ts';
export type { Problem } from './plan/problem.ts';
export { renderProblem } from './plan/problem.ts';
// Running a plan.
export { digestOf, pin, run } from './run.ts';
export { expand } from './scenario/expand.ts';
export type { ScenarioRead } from './scenario/read-scenario.ts';
export type { Scenario, SystemScenario } from './scenario/scenario.ts';
export type { Boundary } from './shrink/boundary.ts';
export {
  type ShrinkOptions,
  type ShrinkResult,
  shrink,
  shrinkWith,
  shrinkWithAsync,
} from './shrink/shrink.ts';
export { type Judgement, judgeSystem } from './sweep/expectation.ts';
export type { Pool, PoolOptions } from './sweep/pool.ts';
export {
  openPool,
  type Progress,
  type SweepOptions,
  type SweepResult,
  sweep,
} from './sweep/sweep.ts';
export type { ClaimTally, Tally } from './sweep/tally.ts';
export { LockClient } from './systems/lock-service/lock-client.ts';
// The lock service and the stores by themselves, without the simulator.
export {
  type Grant,
  hasExpired,
  type LockAnswer,
  LockService,
} from './systems/lock-service/lock-service.ts';
export { type FenceRule, stores } from './systems/store/fence.ts';
export { type Access, Store, type StoreAnswer } from './systems/store/store.ts';
export { prepare, type StoreKind, storeKinds } from './systems/store/store-kinds.ts';
