/**
 * A server is a plain state machine: it takes a request and returns a reply. It does no I/O and
 * reads only its own clocks. The host runs the server as a process of the world: it queues messages
 * during a pause, discards volatile state in a crash, and fails over to a lagging replica. While
 * handling a request, a server may call other servers, as a store calls the lock service. The
 * answers reach only the incarnation that sent the call.
 */
import type { TraceEvent } from '../history/events.ts';
import { copy } from '../kernel/copy.ts';
import type { Json } from '../kernel/json.ts';
import { type Name, under } from '../kernel/name.ts';
import {
  type Attempt,
  type Awaitable,
  type CallSetting,
  Calls,
  type CallsParts,
  PendingCall,
  ReplyMessage,
  type ServerHost,
} from './calls.ts';
import { trueTimeOf } from './client-view.ts';
import { SystemFailure, underTest } from './failure.ts';
import type { Interventions } from './interventions.ts';
import { Alarm, type Process } from './process.ts';
import type { Recorder } from './recorder.ts';

/**
 * Returned by `handle` if the server replies later, through `turn.answer`. All loaded copies of
 * this package share the symbol.
 */
export const LATER: unique symbol = Symbol.for('fencepost/later');

/**
 * One request: its data for the observer, and the clocks and actions of the server. A server that
 * replies later keeps the turn, whose times do not advance.
 */
export interface Turn<R extends Json = never> extends Boot {
  /** Name of this server. */
  readonly server: string;
  /** The request, for the observer: client, operation, message, grant and send time. */
  readonly client: string;
  readonly operation: string;
  readonly message: string;
  readonly issue: number;
  readonly under: number;
  readonly sentAtUs: number;
  readonly adds: number | null;
  /** The connection of the request. `isOpen` is false once the client has lost it. */
  readonly connection: { readonly isOpen: boolean };
  /**
   * Numbers the grant of this turn. The client's program does not see the number. To repeat an
   * earlier grant, pass its number as `again`.
   */
  grant(again?: number): number;
  /** Records that the request needs something that is not simulated, such as `XADD`. */
  noteUnsimulated(feature: string): void;
  /** Sends the reply to a request that was not answered immediately. A second call does nothing. */
  answer(reply: R): void;
  /**
   * Calls another server while the request waits. `label` names the purpose: `check` in
   * `alice/1/write/1/check`. `onAnswer` is called once, with the true time `atUs`, unless this
   * server crashes first.
   */
  ask<Q extends Json, A extends Json>(
    question: Omit<CallSetting<Q, A>, 'operation' | 'under'> & { readonly label: string },
    onAnswer: (call: PendingCall<Q, A>, atUs: number) => void,
  ): void;
  /**
   * Calls `ring` after `afterUs` on the server's monotonic clock, unless the server crashes first.
   * `label` names the purpose, and is unique among the turn's timers: `expiry` in
   * `alice/1/acquire/1/expiry`.
   */
  setTimer(
    timer: { readonly label: string; readonly afterUs: number },
    ring: (boot: Boot) => void,
  ): void;
}

type Ring = Parameters<Turn['setTimer']>[1];

/** The data and actions available to a server that restarts, forgets a key or handles a timer. */
export interface Boot {
  /** True time, for the observer only: a server must decide by its own clocks. */
  readonly atUs: number;
  /** The server's clocks in microseconds. */
  readonly wallUs: number;
  readonly monotonicUs: number;
  /**
   * Returns the true time at which a clock of this server, at its current rate, will show `us`.
   * `right` is a wall clock without any fault.
   */
  trueTimeOf(clock: 'wall' | 'monotonic' | 'right', us: number): number;
  /**
   * Returns the time for which the server keeps a lease or key with this ttl: `ttlUs`, unless an
   * intervention postpones the expiry to show whether a breach depends on it. `record` is what a
   * server keeps of a lease that has ended; the default is `lease`.
   */
  lifetimeUs(ttlUs: number, of?: 'lease' | 'record'): number;
  /** Records an event in the trace. This does not affect the server. */
  observe(event: TraceEvent): void;
}

/** A state machine that answers requests, implemented by the author of a server. */
export interface Server<Q extends Json, R extends Json> {
  /** Protocol spoken at its address in `hosts`, such as `redis`. Absent: no driver can connect. */
  readonly speaks?: 'redis';
  /** Handles one request. Returns the reply, or `LATER` if the server answers the turn later. */
  handle(request: Q, turn: Turn<R>): R | typeof LATER;
  /**
   * Restarts after a crash or as a replica. Discards volatile state, including kept turns. Absent:
   * all state is durable.
   */
  restart?(boot: Boot): void;
  /**
   * Copies the durable state, and returns a function that restores it. Absent: the server cannot
   * fail over, and a run with such a fault fails.
   */
  snapshot?(): () => void;
  /**
   * Forgets one key. Returns false if there was no such key. If the server stores values, it
   * reports its remaining data to the observer. Absent: the server has no keys.
   */
  evict?(key: string, boot: Boot): boolean;
}

interface Snapshot {
  readonly atUs: number;
  readonly restore: () => void;
}

/** Server operations for faults other than pauses and crashes of the process. */
export interface Replaceable {
  readonly speaks: 'redis' | undefined;
  /** True if the server implements failover (`canFailOver`) or eviction (`canForget`). */
  readonly canFailOver: boolean;
  readonly canForget: boolean;
  keepSnapshots(): void;
  loadReplica(lagUs: number): void;
  /** Returns the events for the observer, or null if there was no such key. */
  evict(key: string): readonly TraceEvent[] | null;
}

export class HostedServer<Q extends Json, R extends Json> implements ServerHost<Q, R> {
  readonly process: Process;
  private readonly server: Server<Q, R>;
  private readonly parts: CallsParts;
  private snapshots: Snapshot[] | null = null;
  /** Created on the first call to another server, which most servers never make. */
  private calls: ServerCalls | null = null;
  private readonly asking: Asking = (question, onAnswer) => {
    this.calls ??= new ServerCalls(this.process, this.parts);
    this.calls.ask(question, (call, atUs) => {
      onAnswer(call, atUs);
      this.remember();
    });
  };
  private readonly timing: Timing = (name, waitUs, ring) => {
    const action = (): void => {
      underTest(this.process.name, () =>
        ring(this.boot((event) => this.parts.recorder.record(event))),
      );
      this.remember();
    };
    const { choices } = this.parts;
    new Alarm(this.process, { name, waitUs: choices.waitUs(name, waitUs), action }, this.parts);
  };

  constructor(process: Process, server: Server<Q, R>, parts: CallsParts) {
    this.process = process;
    this.server = server;
    this.parts = parts;
    process.attach(this);
  }

  get speaks(): 'redis' | undefined {
    return this.server.speaks;
  }

  get canFailOver(): boolean {
    return this.server.snapshot !== undefined;
  }

  get canForget(): boolean {
    return this.server.evict !== undefined;
  }

  /** Keeps the states that a lagging replica may be in. Call it before a run with failovers. */
  keepSnapshots(): void {
    this.snapshots = [{ atUs: 0, restore: this.snapshot() }];
  }

  serve(attempt: Attempt<Q, R>, isCopy: boolean): void {
    const { scheduler, recorder, choices } = this.parts;
    const { nowUs } = scheduler;
    const replies = choices.interventions.repliesWithout(attempt.call.setting.operation.text);
    if (replies !== null) {
      if (!isCopy) this.replyWithout(attempt, replies);
      return;
    }
    let isAnswered = false;
    const answer = (reply: R): void => {
      if (!isAnswered && !isCopy) this.reply(attempt, reply);
      isAnswered = true;
    };
    const { process, asking: ask, timing: setTimer } = this;
    const { interventions } = choices;
    const parts = { process, recorder, interventions, isCopy, ask, setTimer };
    const turn = new ServerTurn(attempt, nowUs, answer, parts);
    const reply = underTest(this.process.name, () =>
      this.server.handle(copy(attempt.request), turn),
    );
    this.remember();
    if (reply !== LATER) answer(reply);
  }

  private reply(attempt: Attempt<Q, R>, reply: R): void {
    const instead = this.parts.choices.interventions.replyInstead(
      under(attempt.name, 'reply').text,
    );
    this.send(attempt, instead !== undefined && isReply<R>(instead) ? instead : reply);
  }

  /** Sends the reply, if any, that an intervention lists for this attempt. */
  private replyWithout(attempt: Attempt<Q, R>, replies: Readonly<Record<string, Json>>): void {
    const reply = replies[under(attempt.name, 'reply').text];
    if (reply !== undefined && isReply<R>(reply)) this.send(attempt, reply);
  }

  private send(attempt: Attempt<Q, R>, reply: R): void {
    attempt.reply = copy(reply);
    this.parts.network.send(new ReplyMessage(attempt, this.process));
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

  /** Becomes a replica with the durable state of `lagUs` ago. Later changes are lost. */
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

  get name(): string {
    return this.process.name;
  }

  monotonicUsAt(atUs: number): number {
    return this.process.clock.monotonicUs(atUs);
  }

  private boot(observe: Boot['observe']): Boot {
    const atUs = this.parts.scheduler.nowUs;
    const { process } = this;
    const [wallUs, monotonicUs] = [process.clock.wallUs(atUs), process.clock.monotonicUs(atUs)];
    const trueTimeOf: Boot['trueTimeOf'] = (clock, us) => trueTimeShown(process, clock, us);
    const lifetimeUs = (ttlUs: number): number => ttlUs;
    return { atUs, wallUs, monotonicUs, trueTimeOf, lifetimeUs, observe };
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

/** Always true: an intervention contains replies that the same server sent in another run. */
function isReply<R extends Json>(_reply: Json): _reply is R {
  return true;
}

function trueTimeShown(
  process: Process,
  clock: 'wall' | 'monotonic' | 'right',
  us: number,
): number {
  return clock === 'right' ? us - process.epochUs : trueTimeOf(process, { clock, us });
}

type Asked<Q extends Json, R extends Json> = Omit<CallSetting<Q, R>, 'under'>;

type Asking = <Q extends Json, R extends Json>(
  question: Asked<Q, R>,
  onAnswer: OnAnswer<Q, R>,
) => void;

type Timing = (name: Name, waitUs: number, ring: Ring) => void;

interface TurnParts {
  readonly process: Process;
  readonly recorder: Recorder;
  readonly interventions: Interventions;
  readonly isCopy: boolean;
  readonly ask: Asking;
  readonly setTimer: Timing;
}

class ServerTurn<Q extends Json, R extends Json> implements Turn<R> {
  readonly atUs: number;
  readonly answer: (reply: R) => void;
  private readonly attempt: Attempt<Q, R>;
  private readonly parts: TurnParts;

  constructor(attempt: Attempt<Q, R>, atUs: number, answer: (reply: R) => void, parts: TurnParts) {
    this.attempt = attempt;
    this.atUs = atUs;
    this.answer = answer;
    this.parts = parts;
  }

  get wallUs(): number {
    return this.parts.process.clock.wallUs(this.atUs);
  }

  get monotonicUs(): number {
    return this.parts.process.clock.monotonicUs(this.atUs);
  }

  trueTimeOf(clock: 'wall' | 'monotonic' | 'right', us: number): number {
    return trueTimeShown(this.parts.process, clock, us);
  }

  get server(): string {
    return this.parts.process.name;
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

  get connection(): { readonly isOpen: boolean } {
    return this.attempt.connection;
  }

  get sentAtUs(): number {
    return this.attempt.sentAtUs;
  }

  get adds(): number | null {
    const { call } = this.attempt.call.setting;
    return 'adds' in call ? call.adds : null;
  }

  ask<A extends Json, B extends Json>(
    question: Omit<Asked<A, B>, 'operation'> & { readonly label: string },
    onAnswer: OnAnswer<A, B>,
  ): void {
    const { label, call, target, request, timeoutUs, tries, describe } = question;
    const operation = under(this.attempt.name, this.parts.isCopy ? `${label}-copy` : label);
    this.parts.ask({ operation, call, target, request, timeoutUs, tries, describe }, onAnswer);
  }

  setTimer(timer: { readonly label: string; readonly afterUs: number }, ring: Ring): void {
    const { label, afterUs } = timer;
    if (typeof label !== 'string' || label === '' || label.includes('/')) {
      throw new SystemFailure(
        this.server,
        'the label of a timer must be a non-empty string without `/`',
      );
    }
    if (!Number.isSafeInteger(afterUs) || afterUs < 0) {
      const rule = 'the delay of a timer must be a whole number of microseconds, 0 or more';
      throw new SystemFailure(this.server, `${rule}, not ${afterUs}`);
    }
    if (typeof ring !== 'function') {
      throw new SystemFailure(this.server, 'a timer needs a function to call');
    }
    const name = under(this.attempt.name, this.parts.isCopy ? `${label}-copy` : label);
    this.parts.setTimer(name, afterUs, ring);
  }

  observe(event: TraceEvent): void {
    this.parts.recorder.record(event);
  }

  lifetimeUs(ttlUs: number, of: 'lease' | 'record' = 'lease'): number {
    return this.parts.interventions.lifetimeUs(this.message, ttlUs, of);
  }

  noteUnsimulated(feature: string): void {
    if (!this.parts.isCopy) this.attempt.call.setting.whenUnsimulated?.(feature);
  }

  grant(again?: number): number {
    const ordinal = again ?? this.parts.recorder.nextOrdinal();
    if (!this.parts.isCopy) this.attempt.granted = ordinal;
    return ordinal;
  }
}

type OnAnswer<Q extends Json, R extends Json> = (call: PendingCall<Q, R>, atUs: number) => void;

class ServerCalls {
  private readonly process: Process;
  private readonly parts: CallsParts;
  private readonly calls: Calls;
  private readonly waiting: Map<Awaitable, () => void> = new Map();
  private issued = 0;

  constructor(process: Process, parts: CallsParts) {
    this.process = process;
    this.parts = parts;
    const whenSettled = (call: Awaitable): void => this.notify(call);
    this.calls = new Calls(process, { pool: 1, whenSettled }, parts);
  }

  ask<Q extends Json, R extends Json>(question: Asked<Q, R>, onAnswer: OnAnswer<Q, R>): void {
    this.issued += 1;
    const call = new PendingCall<Q, R>(question, 0, this.issued);
    this.waiting.set(call, () => onAnswer(call, this.parts.scheduler.nowUs));
    this.calls.launch(call);
  }

  private notify(call: Awaitable): void {
    const onAnswer = this.waiting.get(call);
    this.waiting.delete(call);
    if (onAnswer !== undefined) underTest(this.process.name, onAnswer);
  }

  crash(): void {
    this.waiting.clear();
    this.calls.crash();
  }
}
