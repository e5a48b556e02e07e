/**
 * Runs a client's program as a process of the world: does what it asks, wakes it when what it waits
 * for has come, and stops it at the points where the plan places a fault.
 */
import type { Job } from '../history/trace.ts';
import type { Json } from '../kernel/json.ts';
import type { Name } from '../kernel/name.ts';
import { type Awaitable, type CallSetting, Calls, type CallsParts, PendingCall } from './calls.ts';
import { ClientView, type Entry, type LeaseEnd, Quorum } from './client-view.ts';
import { SystemFailure, underTest } from './failure.ts';
import type { Connection } from './network.ts';
import type { Points } from './points.ts';
import { Alarm, type Process, type Resident } from './process.ts';
import type { Effect, Program, Self } from './program.ts';

/** A program that takes more steps than this without waiting for anything never will. */
const STEPS_AT_ONE_INSTANT = 100_000;

/** Makes the program anew, leaving out its first `from` sections; called again after a restart. */
export type ProgramFactory = (self: Self, from: number) => Program<void>;

export interface ClientParts extends CallsParts {
  readonly points: Points;
}

/** What the world asks of the host of a client. */
export interface Client {
  readonly name: string;
  start(): void;
  /** Its open connections to a server. */
  connectionsTo(server: string): readonly Connection[];
}

export class ClientHost implements Resident, Client, Self {
  readonly process: Process;
  private readonly parts: ClientParts;
  private readonly factory: ProgramFactory;
  private readonly calls: Calls;
  private readonly belief: ClientView;
  private readonly ownGrants: Quorum;
  private program: Program<void> | null = null;
  /** What it waits for: a call, or (`timer`) a sleep. */
  private waitsFor: Awaitable | 'timer' | null = null;
  /** The step that a pause interrupted: an effect not yet begun, or `advance`. */
  private interrupted: Effect | 'advance' | null = null;
  private issued = 0;
  /** The grant of the section before, of which it may be told again, and the calls made by then. */
  private before: { readonly ordinal: number; readonly issued: number } = { ordinal: 0, issued: 0 };
  /** How many sections have begun. */
  private begun = 0;

  constructor(
    process: Process,
    setting: { factory: ProgramFactory; pool: number },
    parts: ClientParts,
  ) {
    this.process = process;
    this.factory = setting.factory;
    this.parts = parts;
    const whenSettled = (call: Awaitable, operation: Name): void => {
      parts.points.pass('after', operation);
      this.wake(call);
    };
    this.calls = new Calls(process, { pool: setting.pool, whenSettled }, parts);
    this.belief = new ClientView(process, parts);
    this.ownGrants = new Quorum(process, parts);
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
    this.calls.crash();
    this.program = null;
    this.waitsFor = null;
    this.interrupted = null;
    this.belief.leave();
    this.belief.begin();
  }

  /** Starts again with the section after the one that it was in. */
  restart(): void {
    this.start();
  }

  /** Tells the host that a section begins, so that a restart goes on behind it. */
  beginSection(): void {
    this.begun += 1;
    const { ordinal } = this.belief;
    if (ordinal > 0) this.before = { ordinal, issued: this.issued };
    this.issued = 0;
    this.belief.begin();
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
      if (effect.kind === 'send' && this.parts.points.pass('before', effect.point)) {
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
        return effect.awaits === null || this.goesOnAfter(effect.awaits);
      case 'await':
        return this.goesOnAfter(effect.call);
      case 'sleep':
        this.sleep(effect);
        return false;
      case 'mark': {
        const point = effect.point;
        const { recorder, points } = this.parts;
        recorder.record({ kind: 'mark', atUs: this.nowUs, process: this.name, point: point.text });
        points.pass('before', point);
        points.pass('after', point);
        return true;
      }
    }
  }

  /** False when the program has to wait for `call`. */
  private goesOnAfter(call: Awaitable): boolean {
    if (call.isSettled) return true;
    this.waitsFor = call;
    return false;
  }

  private sleep(effect: Extract<Effect, { kind: 'sleep' }>): void {
    const { timer: name, forUs } = effect;
    const { choices } = this.parts;
    const waitUs = effect.isJittered
      ? choices.jitteredUs(name, forUs)
      : choices.waitUs(name, forUs);
    this.waitsFor = 'timer';
    new Alarm(this.process, { name, waitUs, action: () => this.wake('timer') }, this.parts);
  }

  private wake(cause: Awaitable | 'timer'): void {
    if (this.waitsFor !== cause) return;
    this.waitsFor = null;
    this.continue();
  }

  get nextIssue(): number {
    return this.issued + 1;
  }

  prepare<Q extends Json, R extends Json>(setting: CallSetting<Q, R>): PendingCall<Q, R> {
    this.issued += 1;
    return new PendingCall(setting, setting.under ?? this.belief.ordinal, this.issued);
  }

  launch<Q extends Json, R extends Json>(call: PendingCall<Q, R>): void {
    this.calls.launch(call);
  }

  connectionsTo(server: string): readonly Connection[] {
    return this.calls.connectionsTo(server);
  }

  enter(entry: Entry): void {
    const { ordinal, issued } = this.before;
    if (entry.ordinal === ordinal) this.issued = Math.max(this.issued, issued);
    this.belief.enter(entry);
  }

  leave(): void {
    this.belief.leave();
  }

  testLease(test: { isLive: boolean; end: LeaseEnd }): void {
    this.belief.testLease(test);
  }

  get quorum(): Quorum {
    return this.ownGrants;
  }

  job(phase: Job['phase'], job: { section: Name; lock: string; tick: number }): void {
    this.belief.noteJob(phase, job);
  }

  log(topic: string, text: string): void {
    this.parts.recorder.record({ kind: 'log', atUs: this.nowUs, process: this.name, topic, text });
  }
}
