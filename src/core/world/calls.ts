/**
 * The calls of one client, or of a server that calls another server. Each call is sent in one or
 * more attempts and settles once: by a reply, a timeout or a lost connection. A reply that arrives
 * later does not change an unknown outcome.
 */
import type { Answer, Call } from '../history/call.ts';
import type { Return } from '../history/events.ts';
import { assert } from '../kernel/assert.ts';
import { copy } from '../kernel/copy.ts';
import type { Json } from '../kernel/json.ts';
import { type Name, under } from '../kernel/name.ts';
import { SystemFailure, underTest } from './failure.ts';
import { type CallInTransit, Connection, type Message, type Network } from './network.ts';
import { Alarm, type AlarmParts, type Process } from './process.ts';

export type CallState = PendingCall<Json, Json>['state'];

/** Anything that a program can wait for. */
export interface Awaitable {
  readonly isSettled: boolean;
}

/** A server as its clients see it: the result of `World.addServer`. */
export interface ServerHost<Q extends Json, R extends Json> {
  /** Name of the server's process. */
  readonly name: string;
  /** Never set. Lets the compiler check that requests and replies have the server's types. */
  handles?(request: Q): R;
  /** Returns the server's monotonic clock at true time `atUs`. */
  monotonicUsAt(atUs: number): number;
  /** @internal */
  readonly process: Process;
  /** Handles a request. If the request is a copy, discards the reply. @internal */
  serve(attempt: Attempt<Q, R>, isCopy: boolean): void;
}

/** Describes one call to a server. */
export interface CallSetting<Q extends Json, R extends Json> {
  /** Name of the operation, such as `alice/2/write`. */
  readonly operation: Name;
  readonly call: Call;
  readonly target: ServerHost<Q, R>;
  readonly request: Q;
  /** Timeout on the caller's monotonic clock, or null to wait forever. */
  readonly timeoutUs: number | null;
  /** Maximum number of attempts while the outcome is unknown, at least 1. */
  readonly tries: number;
  /** Returns the trace form of a reply, or null if the reply does not answer the request. */
  readonly describe: (reply: R) => Answer | null;
  /** Called with a feature that the request needs but the server does not simulate. @internal */
  readonly whenUnsimulated?: (feature: string) => void;
  /** True if `describe` may return null. Only calls through a port allow this. @internal */
  readonly mayBeSilent?: true;
  /** Number of the grant for the call. Default: the grant that was entered last. */
  readonly under?: number;
  /**
   * The access to several servers that this call is part of. The trace records the access instead
   * of the call.
   * @internal
   */
  readonly within?: Round<Q, R>;
  /** Part in message names: `1-store-2` in `alice/1/write/1-store-2/request`. @internal */
  readonly part?: string;
}

/** A call that was sent, and its outcome as far as the client can know. */
export class PendingCall<Q extends Json, R extends Json> {
  /** @internal */
  readonly setting: CallSetting<Q, R>;
  /** Number of the grant under which the call was issued, or 0. @internal */
  readonly under: number;
  /** Position among the calls of its section, from 1. @internal */
  readonly issue: number;
  /** `never`: every attempt was refused before execution. `unknown`: it may have been executed. */
  state: 'pending' | 'answered' | 'unknown' | 'never' = 'pending';
  /** Null until the call is answered. */
  reply: R | null = null;
  /** The trace form of the reply. @internal */
  answer: Answer | null = null;
  /** Number of the grant in the reply, for `enterLock` and `self.enter`; 0 if there is none. */
  granted = 0;
  /** True time of the first attempt in microseconds, for the observer only. */
  sentAtUs = 0;
  /** @internal */
  tryNumber = 0;
  /** True if an unanswered attempt may have been executed. */
  mayHaveHappened = false;
  /** @internal */
  attempt: Attempt<Q, R> | null = null;

  /** @internal */
  constructor(setting: CallSetting<Q, R>, under: number, issue: number) {
    this.setting = setting;
    this.under = under;
    this.issue = issue;
  }

  /** True if the call was answered, or can no longer be answered. */
  get isSettled(): boolean {
    return this.state !== 'pending';
  }
}

export interface RoundSetting<Q extends Json, R extends Json> {
  readonly operation: Name;
  /** Trace form of the access. If null, the trace records no call and no return. */
  readonly call: Call | null;
  /** One call per server. */
  readonly calls: readonly CallSetting<Q, R>[];
  /** Number of servers that must answer. */
  readonly needs: number;
  /** Combines the first answers into one reply. The answers are in server order. */
  readonly conclude: (answered: readonly PendingCall<Q, R>[]) => R;
  readonly describe: (reply: R) => Answer;
}

/**
 * An access that is sent to several servers at once, such as a read of a replicated store. It
 * settles when enough servers have answered, or when too few can still answer. The trace records
 * one call and one return; the parts appear only as messages. The message to the first server has
 * the name of the access (`alice/1/write/1/request`); the others add their server's name
 * (`…/1-store-2/request`).
 */
export class Round<Q extends Json, R extends Json> implements Awaitable {
  readonly setting: RoundSetting<Q, R>;
  readonly calls: PendingCall<Q, R>[] = [];
  state: CallState = 'pending';
  reply: R | null = null;
  answer: Answer | null = null;
  mayHaveHappened = false;
  private hasBegun = false;

  constructor(setting: RoundSetting<Q, R>) {
    this.setting = setting;
  }

  get isSettled(): boolean {
    return this.state !== 'pending';
  }

  /** Returns true for the first part that is sent. */
  begins(): boolean {
    const { hasBegun } = this;
    this.hasBegun = true;
    return !hasBegun;
  }

  /** Settles the access if its outcome is now decided. Returns true if this call settled it. */
  settles(): boolean {
    if (this.isSettled) return false;
    const { needs, conclude, describe } = this.setting;
    const answered = this.calls.filter(({ state }) => state === 'answered');
    if (answered.length >= needs) {
      this.reply = conclude(answered);
      this.answer = describe(this.reply);
      this.state = 'answered';
      return true;
    }
    const open = this.calls.filter(({ isSettled }) => !isSettled);
    if (answered.length + open.length >= needs) return false;
    this.mayHaveHappened = this.calls.some(({ state }) => state !== 'never');
    this.state = this.mayHaveHappened ? 'unknown' : 'never';
    return true;
  }
}

interface Caller {
  readonly process: Process;
  /** Returns true if the caller still needs a reply to this attempt. */
  awaits<Q extends Json, R extends Json>(attempt: Attempt<Q, R>): boolean;
  receive<Q extends Json, R extends Json>(attempt: Attempt<Q, R>): void;
  /** Ends an attempt without a reply: not executed (`never`), or `unknown`. */
  lose<Q extends Json, R extends Json>(attempt: Attempt<Q, R>, state: 'unknown' | 'never'): void;
}

/** One attempt of a call: a request and its reply on one connection. */
export class Attempt<Q extends Json, R extends Json> {
  /** @internal */
  readonly call: PendingCall<Q, R>;
  /** @internal */
  readonly name: Name;
  /** @internal */
  readonly requestName: Name;
  /** @internal */
  readonly caller: Caller;
  /**
   * Number of crashes of the caller before this attempt. Later incarnations ignore the reply.
   * @internal
   */
  readonly crashes: number;
  /** @internal */
  readonly sentAtUs: number;
  /** @internal */
  readonly connection: Connection;
  /** A copy of the program's request. */
  readonly request: Q;
  reply: R | null = null;
  /** @internal */
  granted = 0;
  /** @internal */
  timeout: Alarm | null = null;

  /** @internal */
  constructor(
    call: PendingCall<Q, R>,
    request: Q,
    origin: { caller: Caller; sentAtUs: number; connection: Connection },
  ) {
    this.call = call;
    this.request = request;
    this.caller = origin.caller;
    this.crashes = origin.caller.process.crashes;
    this.sentAtUs = origin.sentAtUs;
    this.connection = origin.connection;
    const { operation, part } = call.setting;
    const tried = String(call.tryNumber);
    this.name = under(operation, part === undefined ? tried : `${tried}-${part}`);
    this.requestName = under(this.name, 'request');
  }

  /** @internal */
  reset(): void {
    this.caller.lose(this, 'unknown');
  }

  /** @internal */
  refuse(): void {
    this.caller.lose(this, 'never');
  }
}

class RequestMessage<Q extends Json, R extends Json> implements Message {
  readonly name: Name;
  readonly from: Process;
  readonly to: Process;
  readonly connection: Connection;
  readonly isRequest = true;
  readonly incarnation: number;
  readonly body: Json;
  readonly callInTransit: CallInTransit;
  private readonly attempt: Attempt<Q, R>;
  private readonly target: ServerHost<Q, R>;

  constructor(attempt: Attempt<Q, R>, from: Process, target: ServerHost<Q, R>) {
    const { process } = target;
    this.name = attempt.requestName;
    this.from = from;
    this.to = process;
    this.connection = attempt.connection;
    this.incarnation = process.crashes;
    this.body = attempt.request;
    this.callInTransit = attempt;
    this.attempt = attempt;
    this.target = target;
  }

  isAwaited(): boolean {
    return true;
  }

  arrive(isCopy: boolean): void {
    this.target.serve(this.attempt, isCopy);
  }
}

/** The reply to an attempt, on its way to the caller. */
export class ReplyMessage<Q extends Json, R extends Json> implements Message {
  readonly name: Name;
  readonly from: Process;
  readonly to: Process;
  readonly connection: Connection;
  readonly isRequest = false;
  readonly incarnation: number;
  readonly body: Json;
  readonly callInTransit = null;
  private readonly attempt: Attempt<Q, R>;

  constructor(attempt: Attempt<Q, R>, from: Process) {
    const { process } = attempt.caller;
    this.name = under(attempt.name, 'reply');
    this.from = from;
    this.to = process;
    this.connection = attempt.connection;
    this.incarnation = process.crashes;
    this.body = attempt.reply;
    this.attempt = attempt;
  }

  isAwaited(): boolean {
    return this.attempt.caller.awaits(this.attempt);
  }

  arrive(): void {
    this.attempt.caller.receive(this.attempt);
  }
}

export interface CallsParts extends AlarmParts {
  readonly network: Network;
}

/** Returns the trace form of a reply. Fails the process if `describe` returns no valid answer. */
function meaningOf<R extends Json>(
  process: string,
  { describe, mayBeSilent }: Pick<CallSetting<Json, R>, 'describe' | 'mayBeSilent'>,
  reply: R,
): Answer | null {
  const answer = underTest(process, () => describe(reply));
  const value: unknown = answer;
  if (answer === null && mayBeSilent === true) return null;
  if (typeof value === 'object' && value !== null && 'kind' in value) return answer;
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  throw new SystemFailure(process, `describe() must return an object with a kind, not ${text}`);
}

/** Called when the client learns the outcome of a call. */
type WhenSettled = (call: Awaitable, operation: Name) => void;

const OUTCOMES: Readonly<Record<Exclude<CallState, 'pending'>, Return['outcome']>> = {
  answered: 'ok',
  never: 'fail',
  unknown: 'info',
};

export class Calls implements Caller {
  readonly process: Process;
  private readonly parts: CallsParts;
  private readonly poolSize: number;
  private readonly whenSettled: WhenSettled;
  private readonly pools: Map<string, Connection[]> = new Map();

  constructor(
    process: Process,
    setting: { pool: number; whenSettled: WhenSettled },
    parts: CallsParts,
  ) {
    this.process = process;
    this.parts = parts;
    this.poolSize = setting.pool;
    this.whenSettled = setting.whenSettled;
  }

  private get nowUs(): number {
    return this.parts.scheduler.nowUs;
  }

  launch<Q extends Json, R extends Json>(call: PendingCall<Q, R>): void {
    const { within } = call.setting;
    if (within === undefined) this.noteInvoke(call.setting);
    else if (within.begins() && within.setting.call !== null) {
      const { operation, call: access } = within.setting;
      this.noteInvoke({ operation, call: access });
    }
    call.sentAtUs = this.nowUs;
    this.sendTry(call);
  }

  private noteInvoke({
    operation,
    call,
  }: Pick<CallSetting<Json, Json>, 'operation' | 'call'>): void {
    this.parts.recorder.record({
      kind: 'invoke',
      atUs: this.nowUs,
      process: this.process.name,
      operation: operation.text,
      call,
    });
  }

  private sendTry<Q extends Json, R extends Json>(call: PendingCall<Q, R>): void {
    const { request, target, timeoutUs } = call.setting;
    call.tryNumber += 1;
    const attempt = new Attempt(call, copy(request), {
      caller: this,
      sentAtUs: this.nowUs,
      connection: this.connectionTo(target.process.name, call.issue + call.tryNumber),
    });
    call.attempt = attempt;
    if (timeoutUs !== null) {
      const name = under(attempt.name, 'timeout');
      const action = (): void => this.lose(attempt, 'unknown');
      attempt.timeout = new Alarm(this.process, { name, waitUs: timeoutUs, action }, this.parts);
    }
    this.parts.network.send(new RequestMessage(attempt, this.process, target));
  }

  private connectionTo(server: string, turn: number): Connection {
    let pool = this.pools.get(server);
    if (pool === undefined) {
      pool = [];
      for (let made = 0; made < this.poolSize; made += 1) pool.push(new Connection());
      this.pools.set(server, pool);
    }
    const at = turn % pool.length;
    const connection = pool[at];
    if (connection?.isOpen === true) return connection;
    const fresh = new Connection();
    pool[at] = fresh;
    return fresh;
  }

  connectionsTo(server: string): readonly Connection[] {
    return (this.pools.get(server) ?? []).filter((connection) => connection.isOpen);
  }

  awaits<Q extends Json, R extends Json>(attempt: Attempt<Q, R>): boolean {
    const { call } = attempt;
    return !call.isSettled && call.attempt === attempt && attempt.crashes === this.process.crashes;
  }

  receive<Q extends Json, R extends Json>(attempt: Attempt<Q, R>): void {
    const { call, reply } = attempt;
    call.reply = reply === null ? null : copy(reply);
    call.granted = attempt.granted;
    this.finish(attempt);
    this.settle(call, 'answered');
  }

  lose<Q extends Json, R extends Json>(attempt: Attempt<Q, R>, state: 'unknown' | 'never'): void {
    if (!this.awaits(attempt) || !this.process.isUp) return;
    if (this.process.mustWait) {
      const run = (): void => this.lose(attempt, state);
      this.process.acceptMessage({ run, abandon: () => {} });
      return;
    }
    const { call } = attempt;
    this.finish(attempt);
    if (state === 'unknown') call.mayHaveHappened = true;
    if (call.tryNumber < call.setting.tries) this.sendTry(call);
    else this.settle(call, call.mayHaveHappened ? 'unknown' : 'never');
  }

  private finish<Q extends Json, R extends Json>(attempt: Attempt<Q, R>): void {
    attempt.timeout?.cancel();
    attempt.connection.leave(attempt);
  }

  private settle<Q extends Json, R extends Json>(
    call: PendingCall<Q, R>,
    state: Exclude<CallState, 'pending'>,
  ): void {
    const { setting, reply } = call;
    call.state = state;
    const answer = reply === null ? null : meaningOf(this.process.name, setting, reply);
    call.answer = answer;
    const { within } = setting;
    if (within !== undefined) {
      if (within.settles()) this.noteRound(within);
      return;
    }
    // An earlier attempt may have taken effect, even if the last was refused.
    const isOpen =
      call.mayHaveHappened && (answer?.kind === 'refused' || answer?.kind === 'denied');
    this.parts.recorder.record({
      kind: 'return',
      atUs: this.nowUs,
      process: this.process.name,
      operation: setting.operation.text,
      outcome: isOpen ? 'info' : OUTCOMES[state],
      answer,
    });
    this.whenSettled(call, setting.operation);
  }

  private noteRound<Q extends Json, R extends Json>(round: Round<Q, R>): void {
    const { state, answer, setting } = round;
    assert(state !== 'pending', 'it has settled');
    if (setting.call !== null) {
      this.parts.recorder.record({
        kind: 'return',
        atUs: this.nowUs,
        process: this.process.name,
        operation: setting.operation.text,
        outcome: OUTCOMES[state],
        answer,
      });
    }
    this.whenSettled(round, setting.operation);
  }

  /** Ends all calls in a crash. Sent messages still travel, but replies are lost. */
  crash(): void {
    for (const pool of this.pools.values()) {
      for (const connection of pool) connection.close();
    }
    this.pools.clear();
  }
}
