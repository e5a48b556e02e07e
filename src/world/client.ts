/**
 * Runs a client's program as a process of the world: sends its calls, wakes it when they settle, and
 * stops it at the points where the plan places a fault.
 */
import { copy } from '../kernel/copy.ts';
import type { Json } from '../kernel/json.ts';
import { type Name, under } from '../kernel/name.ts';
import type { Return } from '../history/trace.ts';
import { Attempt, type CallSetting, PendingCall } from './call.ts';
import type { Decider } from './decider.ts';
import { SystemFailure, underTest } from './failure.ts';
import type { Points } from './points.ts';
import { Connection } from './network.ts';
import { Alarm, type Process, type Resident } from './process.ts';
import type { Awaitable, Effect, LeaseEnd, Program, Self } from './program.ts';
import type { HostParts } from './server.ts';

/** A program that takes more steps than this without waiting for anything never will. */
const STEPS_AT_ONE_INSTANT = 100_000;

/** Makes the program anew, leaving out its first `from` sections; called again after a restart. */
export type ProgramFactory = (self: Self, from: number) => Program<void>;

export interface ClientParts extends HostParts {
  readonly decider: Decider;
  readonly points: Points;
}

/** What the program now counts on. */
interface Held {
  readonly section: Name;
  readonly lock: string;
  readonly ordinal: number;
  isBelieved: boolean;
}

export class ClientHost implements Resident, Self {
  readonly process: Process;
  private readonly parts: ClientParts;
  private readonly factory: ProgramFactory;
  private readonly poolSize: number;
  private readonly pools: Map<string, Connection[]> = new Map();
  private program: Program<void> | null = null;
  /** What it waits for: a call, or (`timer`) a sleep. */
  private waitsFor: Awaitable | 'timer' | null = null;
  /** The step that a pause interrupted: an effect not yet begun, or `advance`. */
  private interrupted: Effect | 'advance' | null = null;
  private held: Held | null = null;
  private issued = 0;
  /** How many sections have begun. */
  private begun = 0;

  constructor(
    process: Process,
    setting: { factory: ProgramFactory; pool: number },
    parts: ClientParts,
  ) {
    this.process = process;
    this.factory = setting.factory;
    this.poolSize = setting.pool;
    this.parts = parts;
    process.house(this);
  }

  get name(): string {
    return this.process.name;
  }

  private get nowUs(): number {
    return this.parts.scheduler.nowUs;
  }

  monotonicUs(): number {
    return this.process.clock.monotonicUs(this.nowUs);
  }

  wallUs(): number {
    return this.process.clock.wallUs(this.nowUs);
  }

  start(): void {
    this.program = this.factory(this, this.begun);
    this.continue();
  }

  resume(): void {
    const { interrupted } = this;
    this.interrupted = null;
    if (interrupted === 'advance') this.continue();
    else if (interrupted !== null && this.begin(interrupted)) this.continue();
  }

  crash(): void {
    for (const pool of this.pools.values()) {
      for (const connection of pool) {
        connection.passengers.clear();
        connection.isOpen = false;
      }
    }
    this.pools.clear();
    this.program = null;
    this.waitsFor = null;
    this.interrupted = null;
    this.leave();
    this.held = null;
  }

  /** Starts again with the section after the one that it was in. */
  restart(): void {
    this.start();
  }

  /** Tells the host that a section begins, so that a restart goes on behind it. */
  beginSection(): void {
    this.begun += 1;
    this.issued = 0;
    this.held = null;
  }

  /** Runs the program until it waits, is interrupted or ends. */
  private continue(): void {
    for (let steps = 0; this.program !== null; steps += 1) {
      if (steps > STEPS_AT_ONE_INSTANT) throw new SystemFailure(this.name, 'it never waits');
      if (!this.process.isRunning) {
        this.interrupted = this.process.isUp ? 'advance' : null;
        return;
      }
      const { program } = this;
      const step = underTest(this.name, () => program.next());
      if (step.done === true) {
        this.program = null;
        return;
      }
      const effect = step.value;
      if (effect.kind === 'send' && this.parts.points.strike('before', effect.point)) {
        if (!this.process.isRunning) {
          this.interrupted = this.process.isUp ? effect : null;
          return;
        }
      }
      if (!this.begin(effect)) return;
    }
  }

  /** Does what the program asks; true when it may go on at once. */
  private begin(effect: Effect): boolean {
    switch (effect.kind) {
      case 'send':
        effect.launch();
        return true;
      case 'await':
        if (effect.call.isSettled) return true;
        this.waitsFor = effect.call;
        return false;
      case 'sleep': {
        this.waitsFor = 'timer';
        const waitUs = this.parts.decider.waitUs(effect.timer, effect.forUs);
        this.setAlarm(effect.timer, waitUs, () => this.wake('timer'));
        return false;
      }
      case 'mark': {
        const point = effect.point;
        const { recorder, points } = this.parts;
        recorder.record({ kind: 'mark', atUs: this.nowUs, process: this.name, point: point.text });
        points.strike('before', point);
        points.strike('after', point);
        return true;
      }
    }
  }

  private wake(cause: Awaitable | 'timer'): void {
    if (this.waitsFor !== cause) return;
    this.waitsFor = null;
    this.continue();
  }

  private setAlarm(timer: Name, waitUs: number, action: () => void): Alarm {
    const { decider, recorder, scheduler } = this.parts;
    let lateUs = 0;
    for (const { fault, index } of decider.timerFaultsOf(timer, this.name, this.nowUs)) {
      lateUs += fault.byUs;
      recorder.record({
        kind: 'fault',
        atUs: this.nowUs,
        fault: 'late-timer',
        index,
        processes: [this.name],
        untilUs: null,
        target: timer.text,
        amount: fault.byUs,
      });
    }
    const dueMonotonicUs = this.monotonicUs() + waitUs;
    const alarm = new Alarm(
      this.process,
      { name: timer, dueMonotonicUs, lateUs, tie: decider.tie(timer) },
      action,
    );
    this.process.alarms.add(alarm);
    alarm.arm(scheduler);
    return alarm;
  }

  get nextIssue(): number {
    return this.issued + 1;
  }

  prepare<Q extends Json, R extends Json>(setting: CallSetting<Q, R>): PendingCall<Q, R> {
    this.issued += 1;
    return new PendingCall(setting, this.held?.ordinal ?? 0, this.issued);
  }

  launch<Q extends Json, R extends Json>(call: PendingCall<Q, R>): void {
    const { setting } = call;
    this.parts.recorder.record({
      kind: 'invoke',
      atUs: this.nowUs,
      process: this.name,
      operation: setting.operation.text,
      call: setting.call,
    });
    this.sendTry(call);
  }

  private sendTry<Q extends Json, R extends Json>(call: PendingCall<Q, R>): void {
    const { setting } = call;
    call.tryNumber += 1;
    const attempt = new Attempt(call, copy(setting.request), {
      caller: this,
      sentAtUs: this.nowUs,
      connection: this.connectionTo(setting.target.process.name, call.issue + call.tryNumber),
    });
    call.attempt = attempt;
    if (setting.timeoutUs !== null) {
      const timer = under(attempt.name, 'timeout');
      attempt.timeout = this.setAlarm(timer, setting.timeoutUs, () => this.lose(attempt, 'unknown'));
    }
    this.parts.network.send({
      name: attempt.requestName,
      from: this.process,
      to: setting.target.process,
      connection: attempt.connection,
      isRequest: true,
      body: attempt.request,
      passenger: attempt,
      arrive: (isCopy) => setting.target.serve(attempt, isCopy),
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

  receive<Q extends Json, R extends Json>(attempt: Attempt<Q, R>): void {
    const { call } = attempt;
    if (call.isSettled || call.attempt !== attempt) return;
    this.release(attempt);
    call.state = 'answered';
    call.reply = attempt.reply;
    call.granted = attempt.granted;
    this.settle(call);
  }

  lose<Q extends Json, R extends Json>(attempt: Attempt<Q, R>, state: 'unknown' | 'never'): void {
    const { call } = attempt;
    if (call.isSettled || call.attempt !== attempt || !this.process.isUp) return;
    if (this.process.isPaused) {
      const run = (): void => this.lose(attempt, state);
      this.process.acceptMessage({ run, abandon: () => {} });
      return;
    }
    this.release(attempt);
    if (state === 'unknown') call.mayHaveHappened = true;
    if (call.tryNumber < call.setting.tries) {
      this.sendTry(call);
      return;
    }
    call.state = call.mayHaveHappened ? 'unknown' : 'never';
    this.settle(call);
  }

  private release<Q extends Json, R extends Json>(attempt: Attempt<Q, R>): void {
    attempt.timeout?.cancel();
    attempt.connection.passengers.delete(attempt);
  }

  /** The client learns how its call ended: the observer notes it, and the program goes on. */
  private settle<Q extends Json, R extends Json>(call: PendingCall<Q, R>): void {
    const { setting, reply } = call;
    const outcome: Return['outcome'] =
      call.state === 'answered' ? 'ok' : call.state === 'never' ? 'fail' : 'info';
    this.parts.recorder.record({
      kind: 'return',
      atUs: this.nowUs,
      process: this.name,
      operation: setting.operation.text,
      outcome,
      answer: reply === null ? null : setting.describe(reply),
    });
    this.parts.points.strike('after', setting.operation);
    this.wake(call);
  }

  enter(entry: {
    section: Name;
    lock: string;
    ordinal: number;
    token: number;
    end: LeaseEnd;
  }): void {
    const { section, lock, ordinal, token } = entry;
    this.held = { section, lock, ordinal, isBelieved: true };
    this.parts.recorder.record({
      kind: 'enter',
      atUs: this.nowUs,
      process: this.name,
      section: section.text,
      lock,
      ordinal,
      token,
      believedUntilUs: this.trueTimeOf(entry.end),
    });
  }

  leave(): void {
    const { held } = this;
    if (held?.isBelieved !== true) return;
    held.isBelieved = false;
    const { section, lock, ordinal } = held;
    this.parts.recorder.record({
      kind: 'leave',
      atUs: this.nowUs,
      process: this.name,
      section: section.text,
      lock,
      ordinal,
    });
  }

  testLease(test: { isLive: boolean; end: LeaseEnd }): void {
    const { held } = this;
    if (held === null) return;
    this.parts.recorder.record({
      kind: 'lease-test',
      atUs: this.nowUs,
      process: this.name,
      lock: held.lock,
      ordinal: held.ordinal,
      isLive: test.isLive,
      believedUntilUs: this.trueTimeOf(test.end),
    });
  }

  private trueTimeOf(end: LeaseEnd): number {
    return end.clock === 'wall'
      ? this.process.clock.trueTimeOfWall(end.us)
      : this.process.clock.trueTimeOfMonotonic(end.us);
  }
}
