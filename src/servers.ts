/**
 * The public names of `fencepost/servers`: the building blocks of simulated locks, stores and
 * servers. A client is a generator, which may be paused or crash at every `yield*`. A server takes
 * a message and a turn, and replies. The systems in `zoo` use nothing else.
 */
export type { Answer } from './core/history/call.ts';
export { randomOf } from './core/kernel/chance.ts';
export { type Name, under } from './core/kernel/name.ts';
export type { ClientPlan, QueuePlan, Work } from './core/plan/plan.ts';
export type { CallSetting, PendingCall, ServerHost } from './core/world/calls.ts';
export type { Caller, Outcome, Port } from './core/world/port.ts';
export type { LeaseEnd, Program, Self } from './core/world/program.ts';
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
export { argument } from './systems/argument.ts';
export { GrantRecorder, type GrantTerms, OrderedKeyRecorder } from './systems/grant-recorder.ts';
export { ClientSession, KeepAlive } from './systems/keep-alive.ts';
export { askLock, enterLock, leaseEnd, questionOf, testLease } from './systems/lease.ts';
export { LockClient } from './systems/lock-service/lock-client.ts';
export {
  hasExpired,
  type LockAnswer,
  type LockGrant,
  LockService,
} from './systems/lock-service/lock-service.ts';
export { type Options, optionsFor } from './systems/options.ts';
export type {
  Change,
  CheckToken,
  LockDefinition,
  LockDriver,
  Section,
} from './systems/protocol.ts';
export { accessStore, part } from './systems/section-calls.ts';
export type { StoreReply, StoreRequest } from './systems/store/request.ts';
export { type FenceRule, Store, stores } from './systems/store/store.ts';
export { StoreRecorder } from './systems/store/store-recorder.ts';
export { StoreServer } from './systems/store/store-server.ts';
