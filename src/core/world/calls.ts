/**
 * The calls of one client (or of a server that asks another): each is sent, try after try, and
 * settled once, when its reply comes, when it times out, or when its connection is gone. What a
 * call holds is how it ended as far as its caller can know: a later reply does not change an
 * outcome that is unknown.
 */
import type { Answer, Call } from '../history/call.ts';
import type { Return } from '../history/events.ts';
import { assert } from '../kernel/assert.ts';
import { copy } from '../kernel/copy.ts';
import type { Json } from '../kernel/json.ts';
import { type Name, under } from '../kernel/name.ts';
import { SystemFailure, underTest } from './failure.ts';
import { Connection, type Network, type Parcel, type Passenger } from './network.ts';
import { Alarm, type AlarmParts, type Process } from './process.ts';

export type CallState = PendingCall<Json, Json>['state'];

/** What a program may wait for. */
export interface Awaitable {
  readonly isSettled: boolean;
}

/** A server of a world as clients call it: what `World.addServer` returns. */
export interface ServerHost<Q extends Json, R extends Json> {
  /** Name of its process. */
  readonly name: string;
  /** Never set. It lets the compiler check requests and replies against the server's. */
  handles?(request: Q): R;
  /** Returns what its monotonic clock shows at true time `atUs`. */
  monotonicUsAt(atUs: number): number;
  /** @internal */
  readonly process: Process;
  /** Handles a request; the reply to a copy of one is discarded. @internal */
  serve(attempt: Attempt<Q, R>, isCopy: boolean): void;
}

/** One call of a server, as its client describes it before it is sent. */
export interface CallSetting<Q extends Json, R extends Json> {
  /** E.g. `alice/2/write`. */
  readonly operation: Name;
  readonly call: Call;
  readonly target: ServerHost<Q, R>;
  readonly request: Q;
  /** By the caller's monotonic clock; null waits for ever. */
  readonly timeoutUs: number | null;
  /** How often it is sent while its outcome is unknown, at least 1. */
  readonly tries: number;
  /** What the trace says of an answer; null where that says nothing about what was asked. */
  readonly describe: (reply: R) => Answer | null;
  /** Called with what the request asks for and its server does not simulate. @internal */
  readonly whenUnsimulated?: (what: string) => void;
  /** Only a port may say that a reply means nothing. @internal */
  readonly mayBeSilent?: true;
  /** The grant that the call is made under, where that is not the one that was entered last. */
  readonly under?: number;
  /**
   * The access of which it is the part that goes to one server: that one stands in the trace.
   * @internal
   */
  readonly within?: Round<Q, R>;
  /** The server, in the names of its messages: `alice/1/write/1-store-2/request`. @internal */
  readonly part?: string;
}

/** A call that was sent, and how it ended as far as its client can know. */
export class PendingCall<Q extends Json, R extends Json> {
  /** @internal */
  readonly setting: CallSetting<Q, R>;
  /** The grant under which it was issued; 0 if there was none. @internal */
  readonly under: number;
  /** Its place among the calls that its section issued, from 1. @internal */
  readonly issue: number;
  /** `never`: every try was refused before execution. `unknown`: it may have happened. */
  state: 'pending' | 'answered' | 'unknown' | 'never' = 'pending';
  /** Null until it is answered, and if it never is. */
  reply: R | null = null;
  /** What the trace says of the reply. @internal */
  answer: Answer | null = null;
  /** Number of the grant that the reply brought, for `enterLock` and `self.enter`; 0 for none. */
  granted = 0;
  /** True time in microseconds at which its first try left, for the observer alone. */
  sentAtUs = 0;
  /** @internal */
  tryNumber = 0;
  /** Whether a try without an answer may have been executed. */
  mayHaveHappened = false;
  /** @internal */
  attempt: Attempt<Q, R> | null = null;

  /** @internal */
  constructor(setting: CallSetting<Q, R>, under: number, issue: number) {
    this.setting = setting;
    this.under = under;
    this.issue = issue;
  }

  /** Whether it was answered, or no answer can come any more. */
  get isSettled(): boolean {
    return this.state !== 'pending';
  }
}

export interface RoundSetting<Q extends Json, R extends Json> {
  readonly operation: Name;
  /** What the trace says that it is; null: it is nothing that a client would call an access. */
  readonly call: Call | null;
  /** One for each server. */
  readonly calls: readonly CallSetting<Q, R>[];
  /** How many of them must answer. */
  readonly needs: number;
  /** What the client makes of those that have answered first, in the order of the servers. */
  readonly conclude: (answered: readonly PendingCall<Q, R>[]) => R;
  readonly describe: (reply: R) => Answer;
}

/**
 * An access that goes to several servers at once, and is answered when enough of them have: what a
 * client of replicas calls one read or one write. In the trace it is one call with one return; its
 * parts are messages only: that to the first server bears the name of the access alone
 * (`alice/1/write/1/request`), the others that of their server too (`…/1-store-2/request`).
 *
 * Of three servers of which two must answer: it is answered with the second answer, whatever
 * becomes of the third; and unknown as soon as two will never answer.
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

  /** Whether a part that now leaves is the first. */
  begins(): boolean {
    const { hasBegun } = this;
    this.hasBegun = true;
    return !hasBegun;
  }

  /** Whether it settles by what has just become of one of its parts. */
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

/** Who made a call, and takes its reply. */
interface Caller {
  readonly process: Process;
  /** Whether a reply to this try would still be of use. */
  awaits<Q extends Json, R extends Json>(attempt: Attempt<Q, R>): boolean;
  receive<Q extends Json, R extends Json>(attempt: Attempt<Q, R>): void;
  /** No reply will come: the call was not executed (`never`), or nobody knows. */
  lose<Q extends Json, R extends Json>(attempt: Attempt<Q, R>, state: 'unknown' | 'never'): void;
}

/** One try of a call: a request and its reply on one connection. */
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
   * How often its caller had crashed before: a later life of it knows nothing of this try.
   * @internal
   */
  readonly crashes: number;
  /** @internal */
  readonly sentAtUs: number;
  /** @internal */
  readonly connection: Connection;
  /** As it travels: a copy of what the program asked. */
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

/** The request of a try, on its way to the server. */
class RequestParcel<Q extends Json, R extends Json> implements Parcel {
  readonly name: Name;
  readonly from: Process;
  readonly to: Process;
  readonly connection: Connection;
  readonly isRequest = true;
  readonly life: number;
  readonly body: Json;
  readonly passenger: Passenger;
  private readonly attempt: Attempt<Q, R>;
  private readonly target: ServerHost<Q, R>;

  constructor(attempt: Attempt<Q, R>, from: Process, target: ServerHost<Q, R>) {
    const { process } = target;
    this.name = attempt.requestName;
    this.from = from;
    this.to = process;
    this.connection = attempt.connection;
    this.life = process.crashes;
    this.body = attempt.request;
    this.passenger = attempt;
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

/** The reply to a try, on its way back; `attempt.reply` is what it says. */
export class ReplyParcel<Q extends Json, R extends Json> implements Parcel {
  readonly name: Name;
  readonly from: Process;
  readonly to: Process;
  readonly connection: Connection;
  readonly isRequest = false;
  readonly life: number;
  readonly body: Json;
  readonly passenger = null;
  private readonly attempt: Attempt<Q, R>;

  constructor(attempt: Attempt<Q, R>, from: Process) {
    const { process } = attempt.caller;
    this.name = under(attempt.name, 'reply');
    this.from = from;
    this.to = process;
    this.connection = attempt.connection;
    this.life = process.crashes;
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

/** What a reply says; throws a failure of the process where its code gives no answer for that. */
function meaningOf<R extends Json>(
  process: string,
  { describe, mayBeSilent }: Pick<CallSetting<Json, R>, 'describe' | 'mayBeSilent'>,
  reply: R,
): Answer | null {
  const answer = underTest(process, () => describe(reply));
  const given: unknown = answer;
  if (answer === null && mayBeSilent === true) return null;
  if (typeof given === 'object' && given !== null && 'kind' in given) return answer;
  const what = given === undefined ? 'nothing' : JSON.stringify(given);
  throw new SystemFailure(process, `what a reply means is an object with its kind, not ${what}`);
}

/** Told when the client knows how a call ended. */
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
    this.parts.network.send(new RequestParcel(attempt, this.process, target));
  }

  /** The connections of its pool are taken in turn; a closed one is replaced. */
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

  /** Its open connections to a server. */
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

  /** The client learns how its call ended: the observer notes it, and the program goes on. */
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
    // A try before may have had its effect, of which the refusal of this one says nothing.
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

  /** Enough servers have answered an access that went to several, or too few ever can. */
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

  /** Its process crashed: what it sent keeps travelling, no reply finds it. */
  crash(): void {
    for (const pool of this.pools.values()) {
      for (const connection of pool) connection.close();
    }
    this.pools.clear();
  }
}
