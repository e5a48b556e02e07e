/**
 * Sends the calls of one client, try after try, and settles each once: when its reply comes, when
 * it times out, or when its connection is gone.
 */

import type { Return } from '../history/trace.ts';
import { copy } from '../kernel/copy.ts';
import type { Json } from '../kernel/json.ts';
import { type Name, under } from '../kernel/name.ts';
import { Alarm, type AlarmParts } from './alarm.ts';
import { Attempt, type Caller, type CallState, type PendingCall } from './call.ts';
import { Connection } from './connection.ts';
import type { Network } from './network.ts';
import type { Process } from './process.ts';
import type { Awaitable } from './program.ts';

export interface CallsParts extends AlarmParts {
  readonly network: Network;
}

/** Told when the client knows how a call ended. */
export type WhenSettled = (call: Awaitable, operation: Name) => void;

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
    const { setting } = call;
    this.parts.recorder.record({
      kind: 'invoke',
      atUs: this.nowUs,
      process: this.process.name,
      operation: setting.operation.text,
      call: setting.call,
    });
    call.sentAtUs = this.nowUs;
    this.sendTry(call);
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
    this.parts.network.send({
      name: attempt.requestName,
      from: this.process,
      to: target.process,
      connection: attempt.connection,
      isRequest: true,
      life: target.process.crashes,
      body: attempt.request,
      passenger: attempt,
      isAwaited: () => true,
      arrive: (isCopy) => target.serve(attempt, isCopy),
    });
  }

  /** The connections of its pool are taken in turn; a closed one is replaced. */
  private connectionTo(server: string, turn: number): Connection {
    let pool = this.pools.get(server);
    if (pool === undefined) {
      pool = Array.from({ length: this.poolSize }, () => new Connection());
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
    attempt.connection.passengers.delete(attempt);
  }

  /** The client learns how its call ended: the observer notes it, and the program goes on. */
  private settle<Q extends Json, R extends Json>(
    call: PendingCall<Q, R>,
    state: Exclude<CallState, 'pending'>,
  ): void {
    const { setting, reply } = call;
    call.state = state;
    const answer = reply === null ? null : setting.describe(reply);
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

  /** Its process crashed: what it sent keeps travelling, no reply finds it. */
  crash(): void {
    for (const pool of this.pools.values()) {
      for (const connection of pool) connection.close();
    }
    this.pools.clear();
  }
}
