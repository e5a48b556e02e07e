/**
 * The public API of `fencepost/check`, which reads recorded histories, decides whether they are
 * linearizable, and explains why a history is not. It does not need the simulator.
 */
export type { Json } from './core/kernel/json.ts';
export {
  checkHistory,
  checkParts,
  type HistoryVerdict,
  MalformedOperation,
  type PartVerdict,
} from './linearizability/check-history.ts';
export type { Core } from './linearizability/core.ts';
export type { CheckOptions, Decision } from './linearizability/decide.ts';
export { type ExplainedState, explainHistory, type Reasons } from './linearizability/explain.ts';
export {
  type HistoryRead,
  type ReadHistoryOptions,
  readHistory,
} from './linearizability/formats/formats.ts';
export type { TimeDisorder } from './linearizability/formats/record.ts';
export {
  type CallData,
  type FastDecision,
  type History,
  illegal,
  type Model,
  type Operation,
} from './linearizability/model.ts';
export type { CounterCall } from './linearizability/models/counter.ts';
export type { FencedMutexCall } from './linearizability/models/fenced-mutex.ts';
export type { FencedCall } from './linearizability/models/fenced-register.ts';
export type { KeyValueCall } from './linearizability/models/key-value.ts';
export type { LeaseCall } from './linearizability/models/lease.ts';
export type { MutexCall } from './linearizability/models/mutex.ts';
export type { CasRegisterCall, RegisterCall, Value } from './linearizability/models/register.ts';
export type { SemaphoreCall } from './linearizability/models/semaphore.ts';
export type { VersionedCall } from './linearizability/models/versioned-register.ts';
export { type Beginning, type MakeModel, models } from './linearizability/models.ts';
export { explainInWords } from './linearizability/sentence.ts';
export { refuteOrder } from './linearizability/verify-order.ts';
