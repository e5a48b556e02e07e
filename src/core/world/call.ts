/**
 * One call of a client to a server, over all its tries: what was asked, under which grant, and how
 * it ended as far as the client can know. A later reply does not change an outcome that is unknown.
 */

import type { Answer, Call } from '../history/trace.ts';
import type { Json } from '../kernel/json.ts';
import { type Name, under } from '../kernel/name.ts';
import type { Alarm } from './alarm.ts';
import type { Connection, Passenger } from './connection.ts';
import type { Process } from './process.ts';
import type { ServerHost } from './server.ts';

/**
 * `never`: every try was refused before it was executed. `unknown`: it may or may not have
 * happened.
 */
export type CallState = 'pending' | 'answered' | 'unknown' | 'never';

/** Everything that a program says of a call before it leaves. */
export interface CallSetting<Q extends Json, R extends Json> {
  /** E.g. `alice/2/write`. */
  readonly operation: Name;
  readonly call: Call;
  readonly target: ServerHost<Q, R>;
  readonly request: Q;
  /** By the caller's monotonic clock; null waits for ever. */
  readonly timeoutUs: number | null;
  readonly tries: number;
  /** What the trace says of an answer. */
  readonly describe: (reply: R) => Answer;
  /** The grant that the call is made under, where that is not the one that was entered last. */
  readonly under?: number;
}

export class PendingCall<Q extends Json, R extends Json> {
  readonly setting: CallSetting<Q, R>;
  /** The grant under which it was issued; 0 under none. */
  readonly under: number;
  /** Its place among the calls that its section issued, from 1. */
  readonly issue: number;
  state: CallState = 'pending';
  reply: R | null = null;
  /** The grant that the answered try brought; unseen by programs except to say what they enter. */
  granted = 0;
  /** True time at which its first try left; unseen by programs. */
  sentAtUs = 0;
  tryNumber = 0;
  mayHaveHappened = false;
  attempt: Attempt<Q, R> | null = null;

  constructor(setting: CallSetting<Q, R>, under: number, issue: number) {
    this.setting = setting;
    this.under = under;
    this.issue = issue;
  }

  get isSettled(): boolean {
    return this.state !== 'pending';
  }
}

/** Who made a call, and takes its reply. */
export interface Caller {
  readonly process: Process;
  /** Whether a reply to this try would still be of use. */
  awaits<Q extends Json, R extends Json>(attempt: Attempt<Q, R>): boolean;
  receive<Q extends Json, R extends Json>(attempt: Attempt<Q, R>): void;
  /** No reply will come: the call was not executed (`never`), or nobody knows. */
  lose<Q extends Json, R extends Json>(attempt: Attempt<Q, R>, state: 'unknown' | 'never'): void;
}

/** One try of a call: a request and its reply on one connection. */
export class Attempt<Q extends Json, R extends Json> implements Passenger {
  readonly call: PendingCall<Q, R>;
  readonly name: Name;
  readonly requestName: Name;
  readonly caller: Caller;
  /** How often its caller had crashed before: a later life of it knows nothing of this try. */
  readonly crashes: number;
  readonly sentAtUs: number;
  readonly connection: Connection;
  /** As it travels: a copy of what the program asked. */
  readonly request: Q;
  reply: R | null = null;
  granted = 0;
  timeout: Alarm | null = null;

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
    this.name = under(call.setting.operation, String(call.tryNumber));
    this.requestName = under(this.name, 'request');
  }

  reset(): void {
    this.caller.lose(this, 'unknown');
  }

  refuse(): void {
    this.caller.lose(this, 'never');
  }
}
