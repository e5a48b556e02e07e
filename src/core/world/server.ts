/**
 * A server is a plain state machine: a request in, a reply out, no I/O and no time but its own
 * clock. Its host runs it as a process of the world: queues what arrives in a pause, forgets its
 * volatile state in a crash, and hands over to a replica that lags.
 */

import type { TraceEvent } from '../history/trace.ts';
import { copy } from '../kernel/copy.ts';
import type { Json } from '../kernel/json.ts';
import { under } from '../kernel/name.ts';
import type { Attempt } from './call.ts';
import type { CallsParts } from './calls.ts';
import { SystemFailure, underTest } from './failure.ts';
import type { Process, Resident } from './process.ts';
import { type Question, ServerCalls, type Told } from './server-calls.ts';
import { type Asking, ServerTurn } from './server-turn.ts';

/**
 * What `handle` returns when the reply is to come later, through the turn's `answer`; the same in
 * every copy of this package that is loaded.
 */
export const LATER: unique symbol = Symbol.for('fencepost/later');

/**
 * What a server may know while it handles one request, and what it tells the observer. A server
 * that replies later keeps the turn: its times stay those of its own handling.
 */
export interface Turn<R extends Json = never> {
  readonly atUs: number;
  readonly wallUs: number;
  readonly monotonicUs: number;
  /**
   * True time at which a clock of this server, as it now runs, will show `us`; `right` is a wall
   * clock that nothing ever happened to.
   */
  trueTimeOf(clock: 'wall' | 'monotonic' | 'right', us: number): number;
  /** For the observer: who asks, by which operation and message, under which grant, sent when. */
  readonly client: string;
  readonly operation: string;
  readonly message: string;
  readonly issue: number;
  readonly under: number;
  readonly sentAtUs: number;
  readonly adds: number | null;
  observe(event: TraceEvent): void;
  /**
   * Numbers the grant that this turn gives, and sends the number along, unseen, with the reply;
   * `again` is the number of one that was given before and is told once more.
   */
  grant(again?: number): number;
  /** Sends the reply of a request that was not answered at once; a second call does nothing. */
  answer(reply: R): void;
  /** Asks another server, while the request waits. */
  ask<Q extends Json, A extends Json>(question: Question<Q, A>, told: Told<Q, A>): void;
}

/** What a server may know while it starts again, or is made to forget something. */
export interface Boot {
  /** True time, for the observer alone: what a server decides, it decides by its own clocks. */
  readonly atUs: number;
  readonly wallUs: number;
  readonly monotonicUs: number;
  observe(event: TraceEvent): void;
}

export interface Server<Q extends Json, R extends Json> {
  /**
   * Answers one request; the reply leaves in the same instant, or, after `LATER`, when the server
   * answers the turn that it kept.
   */
  handle(request: Q, turn: Turn<R>): R | typeof LATER;
  /**
   * Comes back after a crash or as a replica: volatile state is lost, durable state stays. Turns
   * that were kept are volatile: nobody waits for them any more. Absent: all of it is durable.
   */
  restart?(boot: Boot): void;
  /**
   * A copy of the durable state, as a function that brings it back. Absent: it cannot fail over,
   * and a run with such a fault fails.
   */
  snapshot?(): () => void;
  /**
   * Forgets one key; false where it had none. Tells the observer what it now holds, if values.
   * Absent: it has no keys.
   */
  evict?(key: string, boot: Boot): boolean;
}

interface Snapshot {
  readonly atUs: number;
  readonly restore: () => void;
}

/** What faults may do to a server beyond pausing and crashing its process. */
export interface Replaceable {
  keepSnapshots(): void;
  loadReplica(lagUs: number): void;
  /** What the observer is to be told of it; null where there was no such key. */
  evict(key: string): readonly TraceEvent[] | null;
}

export class ServerHost<Q extends Json, R extends Json> implements Resident, Replaceable {
  readonly process: Process;
  private readonly server: Server<Q, R>;
  private readonly parts: HostParts;
  private snapshots: Snapshot[] | null = null;
  /** Made by its first question; most servers never ask. */
  private calls: ServerCalls | null = null;
  private readonly asking: Asking = (question, told) => {
    this.calls ??= new ServerCalls(this.process, this.parts);
    this.calls.ask(question, (call, atUs) => {
      told(call, atUs);
      this.remember();
    });
  };

  constructor(process: Process, server: Server<Q, R>, parts: HostParts) {
    this.process = process;
    this.server = server;
    this.parts = parts;
    process.house(this);
  }

  /**
   * Keeps the states that a lagging replica may still be in; asked for before a run that needs it.
   */
  keepSnapshots(): void {
    this.snapshots = [{ atUs: 0, restore: this.snapshot() }];
  }

  /** Handles a request; the reply to a copy of one is discarded. */
  serve(attempt: Attempt<Q, R>, isCopy: boolean): void {
    const { scheduler, recorder } = this.parts;
    const { nowUs } = scheduler;
    let isAnswered = false;
    const answer = (reply: R): void => {
      if (!isAnswered && !isCopy) this.reply(attempt, reply);
      isAnswered = true;
    };
    const parts = { process: this.process, recorder, nowUs, isCopy, answer, ask: this.asking };
    const turn = new ServerTurn(attempt, parts);
    const reply = underTest(this.process.name, () =>
      this.server.handle(copy(attempt.request), turn),
    );
    this.remember();
    if (reply !== LATER) answer(reply);
  }

  private reply(attempt: Attempt<Q, R>, reply: R): void {
    attempt.reply = copy(reply);
    this.parts.network.send({
      name: under(attempt.name, 'reply'),
      from: this.process,
      to: attempt.caller.process,
      connection: attempt.connection,
      isRequest: false,
      life: attempt.caller.process.crashes,
      body: attempt.reply,
      passenger: null,
      isAwaited: () => attempt.caller.awaits(attempt),
      arrive: () => attempt.caller.receive(attempt),
    });
  }

  private remember(): void {
    const { snapshots } = this;
    if (snapshots === null) return;
    snapshots.push({ atUs: this.parts.scheduler.nowUs, restore: this.snapshot() });
  }

  private snapshot(): () => void {
    const { name } = this.process;
    const restore = underTest(name, () => this.server.snapshot?.());
    if (restore === undefined) throw new SystemFailure(name, 'it cannot fail over: no `snapshot`');
    return restore;
  }

  /**
   * Becomes a replica that knows what was durable `lagUs` ago; what came after is lost for good.
   */
  loadReplica(lagUs: number): void {
    const { snapshots } = this;
    if (snapshots === null) return;
    const asOfUs = this.parts.scheduler.nowUs - lagUs;
    while (snapshots.length > 1 && (snapshots.at(-1)?.atUs ?? 0) > asOfUs) snapshots.pop();
    underTest(this.process.name, () => snapshots.at(-1)?.restore());
  }

  evict(key: string): readonly TraceEvent[] | null {
    const events: TraceEvent[] = [];
    const boot = this.boot((event) => events.push(event));
    const hadKey = underTest(this.process.name, () => this.server.evict?.(key, boot));
    if (hadKey !== true) return null;
    this.remember();
    return events;
  }

  private boot(observe: Boot['observe']): Boot {
    const atUs = this.parts.scheduler.nowUs;
    const { clock } = this.process;
    return { atUs, wallUs: clock.wallUs(atUs), monotonicUs: clock.monotonicUs(atUs), observe };
  }

  resume(): void {}

  mustWait(): boolean {
    return false;
  }

  crash(): void {
    this.calls?.crash();
  }

  restart(): void {
    const boot = this.boot((event) => this.parts.recorder.record(event));
    underTest(this.process.name, () => this.server.restart?.(boot));
    this.remember();
  }
}

export type HostParts = CallsParts;
