/**
 * The public names of `fencepost/servers`: what locks, stores and servers are made of that are
 * simulated as state machines. A client is a generator, in which every `yield*` is a point at which
 * it may be paused or crash; a server takes a message and a turn, and answers. The systems in `zoo`
 * are made of nothing else.
 */
export type { Answer, Call } from './core/history/call.ts';
export { mix } from './core/kernel/chance.ts';
export type { Json } from './core/kernel/json.ts';
export { type Name, under } from './core/kernel/name.ts';
export type { ClientSettings } from './core/plan/client-text.ts';
export { proseDuration } from './core/plan/duration.ts';
export { QUEUE } from './core/plan/operation-names.ts';
export type { ClientPlan, QueuePlan } from './core/plan/plan.ts';
export type { CallSetting, PendingCall } from './core/world/calls.ts';
export type { LeaseEnd, Quorum } from './core/world/client-view.ts';
export {
  answerOf,
  backOff,
  inBackground,
  mark,
  type Program,
  request,
  type Self,
  send,
  sleep,
} from './core/world/program.ts';
export { type Boot, LATER, type Server, type ServerHost, type Turn } from './core/world/server.ts';
export type { World } from './core/world/world.ts';
export { argument } from './systems/argument.ts';
export { GrantBook, restoreAll } from './systems/grant-book.ts';
export {
  KeepAlive,
  type KeptSession,
  type LeaseTerm,
  Names,
  type Opening,
  OwnSession,
} from './systems/keep-alive.ts';
export {
  askLock,
  askServer,
  enterLock,
  type LockAsk,
  type LockOutcome,
  leaseEnd,
  questionOf,
  testLease,
} from './systems/lease.ts';
export { LineBook } from './systems/line-book.ts';
export { LockClient } from './systems/lock-service/lock-client.ts';
export { hasExpired, LockService } from './systems/lock-service/lock-service.ts';
export {
  type Change,
  type CheckToken,
  type Chosen,
  chosenFrom,
  type DriverOf,
  type JobStep,
  LONGEST_MS,
  type LockDriver,
  type OptionProblem,
  type Options,
  optionsFor,
  type Protocol,
  type Section,
} from './systems/protocol.ts';
export { nodeChoices, nodeOptions } from './systems/redis/protocol.ts';
export {
  describeRedisReply,
  type Kept,
  type LockKey,
  type LockNodeReply,
  type LockNodeRequest,
  RedisServer,
  randomValue,
  type Witness,
} from './systems/redis/server.ts';
export { askStore, conditionOf, labelOf, part } from './systems/section-calls.ts';
export { Store, stores } from './systems/store/store.ts';
export { StoreServer } from './systems/store/store-server.ts';
export { MemoryTable, type Row } from './systems/store/version-table.ts';
export { StoreWitness } from './systems/store/witness.ts';
