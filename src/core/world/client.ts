/**
 * Runs a client's program as a process of the world: performs its effects, resumes it after each
 * wait, and stops it at points where the plan places a fault. A process may also run background
 * programs, such as a heartbeat. Each program is a strand. All strands of a process pause and crash
 * together, and share its connections and clock.
 */
import type { SectionRun } from '../history/trace.ts';
import type { Json } from '../kernel/json.ts';
import type { Name } from '../kernel/name.ts';
import { type Awaitable, type CallSetting, Calls, type CallsParts, PendingCall } from './calls.ts';
import { ClientView, Quorum } from './client-view.ts';
import { SystemFailure, underTest } from './failure.ts';
import type { Connection } from './network.ts';
import type { Points } from './points.ts';
import { Alarm, type Process, type ProcessHost } from './process.ts';
import type { Background, Effect, Program, Self } from './program.ts';
import { SectionLog } from './section-log.ts';

/** A program that takes more steps than this without waiting is considered stuck. */
const STEPS_AT_ONE_INSTANT = 100_000;

/** Creates the program without its first `from` sections; called again after a restart. */
export type ProgramFactory = (self: Self, from: number) => Program<void>;

export interface ClientParts extends CallsParts {
  readonly points: Points;
  /** Returns true if only background work is left. */
  readonly isOver: () => boolean;
}

/** A client host as the world uses it. */
export interface Client {
  readonly name: string;
  /** True if its main program is running or waiting. */
  readonly isBusy: boolean;
  /** The sections that have begun. */
  readonly sections: readonly SectionRun[];
  start(): void;
  /** Records an error of the client's code, which ends the run. */
  noteFailure(failure: SystemFailure): void;
  connectionsTo(server: string): readonly Connection[];
}

/** The main program of a process, or one of its background programs. */
class Strand implements Background {
  program: Program<void> | null = null;
  private readonly host: ClientHost;
  private readonly parts: ClientParts;
  /** The call that the program waits for, or `timer` for a sleep. */
  private waitsFor: Awaitable | 'timer' | null = null;
  private alarm: Alarm | null = null;
  /** The step that a pause interrupted: an effect that has not begun, or `advance`. */
  private interrupted: Effect | 'advance' | null = null;

  constructor(host: ClientHost, parts: ClientParts) {
    this.host = host;
    this.parts = parts;
  }

  get isRunning(): boolean {
    return this.program !== null;
  }

  run(program: Program<void>): void {
    this.program = program;
    this.continue();
  }

  /** Ends the program, even while it waits. Sent messages still travel. */
  stop(): void {
    this.alarm?.cancel();
    this.forget();
  }

  /** Ends the program in a crash, which has already canceled its timer. */
  forget(): void {
    this.program = null;
    this.waitsFor = null;
    this.interrupted = null;
    this.alarm = null;
  }

  resume(): void {
    const { interrupted } = this;
    this.interrupted = null;
    if (interrupted === 'advance') this.continue();
    else if (interrupted !== null && this.begin(interrupted)) this.continue();
  }

  /** Runs the program until it waits, is interrupted or ends. */
  private continue(): void {
    const { process } = this.host;
    for (let steps = 0; this.program !== null; steps += 1) {
      if (steps > STEPS_AT_ONE_INSTANT) throw new SystemFailure(process.name, 'it never waits');
      if (!process.isRunning) {
        this.interrupted = process.isUp ? 'advance' : null;
        return;
      }
      const { program } = this;
      const step = underTest(process.name, () => program.next());
      if (this.program === null) return; // the program stopped itself
      if (step.done === true) {
        this.program = null;
        return;
      }
      const effect = step.value;
      if (effect.kind === 'send' && this.parts.points.pass('before', effect.point)) {
        if (!process.isRunning) {
          this.interrupted = process.isUp ? effect : null;
          return;
        }
      }
      if (!this.begin(effect)) return;
    }
  }

  /** Performs an effect. Returns true if the program can continue immediately. */
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
        const { recorder, points, scheduler } = this.parts;
        const { name } = this.host;
        recorder.record({ kind: 'mark', atUs: scheduler.nowUs, process: name, point: point.text });
        points.pass('before', point);
        points.pass('after', point);
        return true;
      }
      case 'background':
        effect.started(this.host.runBeside(effect.program));
        return true;
    }
  }

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
    const action = (): void => this.wake();
    this.alarm = new Alarm(this.host.process, { name, waitUs, action }, this.parts);
  }

  private wake(): void {
    if (this.waitsFor === null) return;
    this.waitsFor = null;
    if (!this.host.endsNow(this)) this.continue();
  }

  /** Resumes the program if it waits for `call`. Returns false otherwise. */
  heed(call: Awaitable): boolean {
    if (this.waitsFor !== call) return false;
    this.wake();
    return true;
  }
}

export class ClientHost implements ProcessHost, Client, Self {
  readonly process: Process;
  private readonly parts: ClientParts;
  private readonly factory: ProgramFactory;
  private readonly calls: Calls;
  private readonly view: ClientView;
  private readonly clientGrants: Quorum;
  private readonly main: Strand;
  /** Background programs, in the order in which they were started. */
  private beside: Strand[] = [];
  private issued = 0;
  /** Grant number and number of calls of the last section that had a grant. */
  private before: { readonly ordinal: number; readonly issued: number } = { ordinal: 0, issued: 0 };
  private readonly sectionLog: SectionLog;

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
    this.view = new ClientView(process, parts);
    this.clientGrants = new Quorum(process, parts);
    this.main = new Strand(this, parts);
    this.sectionLog = new SectionLog(process.name, parts.scheduler);
    process.attach(this);
  }

  get name(): string {
    return this.process.name;
  }

  get isBusy(): boolean {
    return this.main.isRunning;
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
    this.main.run(this.factory(this, this.sectionLog.begun));
  }

  runBeside(program: Program<void>): Background {
    const strand = new Strand(this, this.parts);
    this.beside = [...this.beside.filter(({ isRunning }) => isRunning), strand];
    strand.run(program);
    return strand;
  }

  /** Ends all background programs if `strand` is one of them and no other work is left. */
  endsNow(strand: Strand): boolean {
    if (strand === this.main || !this.parts.isOver()) return false;
    for (const other of this.beside) other.stop();
    return true;
  }

  private wake(call: Awaitable): void {
    if (this.main.heed(call)) return;
    for (const strand of this.beside) if (strand.heed(call)) return;
  }

  resume(): void {
    this.main.resume();
    for (const strand of this.beside) strand.resume();
  }

  crash(): void {
    this.sectionLog.crash();
    this.calls.crash();
    this.main.forget();
    for (const strand of this.beside) strand.forget();
    this.beside = [];
    this.view.leave();
    this.view.begin();
  }

  /** Continues with the section after the interrupted section. */
  restart(): void {
    this.start();
  }

  get sections(): readonly SectionRun[] {
    return this.sectionLog.runs;
  }

  noteFailure({ message }: SystemFailure): void {
    this.sectionLog.fail(null, { text: message, place: null });
  }

  /** Records that a section begins, so that a restart continues after it. */
  beginSection(section: Name): void {
    this.sectionLog.begin(section);
    const { ordinal } = this.view;
    if (ordinal > 0) this.before = { ordinal, issued: this.issued };
    this.issued = 0;
    this.view.begin();
  }

  endSection(section: Name): void {
    this.sectionLog.end(section);
  }

  get nextIssue(): number {
    return this.issued + 1;
  }

  prepare<Q extends Json, R extends Json>(setting: CallSetting<Q, R>): PendingCall<Q, R> {
    this.issued += 1;
    return new PendingCall(setting, setting.under ?? this.view.ordinal, this.issued);
  }

  launch<Q extends Json, R extends Json>(call: PendingCall<Q, R>): void {
    this.calls.launch(call);
  }

  connectionsTo(server: string): readonly Connection[] {
    return this.calls.connectionsTo(server);
  }

  enter(entry: Parameters<Self['enter']>[0]): void {
    const { ordinal, issued } = this.before;
    if (entry.ordinal === ordinal) this.issued = Math.max(this.issued, issued);
    this.view.enter(entry);
  }

  leave(): void {
    this.view.leave();
  }

  testLease(test: Parameters<Self['testLease']>[0]): void {
    this.view.testLease(test);
  }

  get quorum(): Quorum {
    return this.clientGrants;
  }

  job(...[phase, job]: Parameters<Self['job']>): void {
    this.view.noteJob(phase, job);
  }

  log(topic: string, text: string): void {
    this.parts.recorder.record({ kind: 'log', atUs: this.nowUs, process: this.name, topic, text });
  }
}
