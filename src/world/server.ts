/**
 * A server is a plain state machine: a request in, a reply out, no I/O and no time but its own
 * clock. Its host runs it as a process of the world: queues what arrives in a pause, forgets its
 * volatile state in a crash, and hands over to a replica that lags.
 */

import type { TraceEvent } from '../history/trace.ts';
import { copy } from '../kernel/copy.ts';
import type { Json } from '../kernel/json.ts';
import { type Name, under } from '../kernel/name.ts';
import type { Attempt } from './call.ts';
import type { CallsParts } from './calls.ts';
import { underTest } from './failure.ts';
import type { Process, Resident } from './process.ts';
import type { Recorder } from './recorder.ts';
import { type Question, ServerCalls, type Told } from './server-calls.ts';

/** What `handle` returns when the reply is to come later, through the turn's `answer`. */
export const LATER: unique symbol = Symbol('later');

/**
 * What a server may know while it handles one request, and what it tells the observer. A server
 * that replies later keeps the turn: its times stay those of its own handling.
 */
export interface Turn<R extends Json = never> {
  readonly atUs: number;
  readonly wallUs: number;
  readonly monotonicUs: number;
  /** True time at which a clock of this server, as it now runs, will show `us`. */
  trueTimeOf(clock: 'wall' | 'monotonic', us: number): number;
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
  readonly atUs: number;
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
   * that were kept are volatile: nobody waits for them any more.
   */
  restart(boot: Boot): void;
  /** A copy of the durable state, as a function that brings it back. */
  snapshot(): () => void;
  /** Forgets one key; false where it had none. Tells the observer what it now holds, if values. */
  evict(key: string, boot: Boot): boolean;
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
    this.snapshots = [{ atUs: 0, restore: this.server.snapshot() }];
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
    this.snapshots?.push({
      atUs: this.parts.scheduler.nowUs,
      restore: this.server.snapshot(),
    });
  }

  /**
   * Becomes a replica that knows what was durable `lagUs` ago; what came after is lost for good.
   */
  loadReplica(lagUs: number): void {
    const { snapshots } = this;
    if (snapshots === null) return;
    const asOfUs = this.parts.scheduler.nowUs - lagUs;
    while (snapshots.length > 1 && (snapshots.at(-1)?.atUs ?? 0) > asOfUs) snapshots.pop();
    snapshots.at(-1)?.restore();
  }

  evict(key: string): readonly TraceEvent[] | null {
    const events: TraceEvent[] = [];
    const atUs = this.parts.scheduler.nowUs;
    const hadKey = this.server.evict(key, { atUs, observe: (event) => events.push(event) });
    if (!hadKey) return null;
    this.remember();
    return events;
  }

  resume(): void {}

  crash(): void {
    this.calls?.crash();
  }

  restart(): void {
    const { scheduler, recorder } = this.parts;
    this.server.restart({
      atUs: scheduler.nowUs,
      observe: (event) => recorder.record(event),
    });
    this.remember();
  }
}

export type HostParts = CallsParts;

type Asked<Q extends Json, R extends Json> = { readonly operation: Name } & Omit<
  Question<Q, R>,
  'label'
>;

type Asking = <Q extends Json, R extends Json>(question: Asked<Q, R>, told: Told<Q, R>) => void;

class ServerTurn<Q extends Json, R extends Json> implements Turn<R> {
  readonly atUs: number;
  private readonly attempt: Attempt<Q, R>;
  private readonly process: Process;
  private readonly recorder: Recorder;
  private readonly isCopy: boolean;
  readonly answer: (reply: R) => void;
  private readonly asking: Asking;

  constructor(
    attempt: Attempt<Q, R>,
    parts: {
      process: Process;
      recorder: Recorder;
      nowUs: number;
      isCopy: boolean;
      answer: (reply: R) => void;
      ask: Asking;
    },
  ) {
    this.attempt = attempt;
    this.process = parts.process;
    this.recorder = parts.recorder;
    this.atUs = parts.nowUs;
    this.isCopy = parts.isCopy;
    this.answer = parts.answer;
    this.asking = parts.ask;
  }

  get wallUs(): number {
    return this.process.clock.wallUs(this.atUs);
  }

  get monotonicUs(): number {
    return this.process.clock.monotonicUs(this.atUs);
  }

  trueTimeOf(clock: 'wall' | 'monotonic', us: number): number {
    return clock === 'wall'
      ? this.process.clock.trueTimeOfWall(us)
      : this.process.clock.trueTimeOfMonotonic(us);
  }

  get client(): string {
    return this.attempt.caller.process.name;
  }

  get operation(): string {
    return this.attempt.call.setting.operation.text;
  }

  get message(): string {
    return this.attempt.requestName.text;
  }

  get issue(): number {
    return this.attempt.call.issue;
  }

  get under(): number {
    return this.attempt.call.under;
  }

  get sentAtUs(): number {
    return this.attempt.sentAtUs;
  }

  get adds(): number | null {
    const { call } = this.attempt.call.setting;
    return 'adds' in call ? call.adds : null;
  }

  ask<A extends Json, B extends Json>(question: Question<A, B>, told: Told<A, B>): void {
    const { label, ...rest } = question;
    const name = this.isCopy ? `${label}-copy` : label;
    this.asking({ ...rest, operation: under(this.attempt.name, name) }, told);
  }

  observe(event: TraceEvent): void {
    this.recorder.record(event);
  }

  grant(again?: number): number {
    const ordinal = again ?? this.recorder.nextOrdinal();
    if (!this.isCopy) this.attempt.granted = ordinal;
    return ordinal;
  }
}
