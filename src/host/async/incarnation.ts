/**
 * One incarnation of a process that runs real asynchronous code: its clocks, timers and random
 * streams, and the steps that a pause holds back. An incarnation lasts from a start until a crash
 * or the end of the program. Afterwards, its code has no effect.
 */

import { Defect } from '../../core/kernel/assert.ts';
import { type Name, nameOf, under } from '../../core/kernel/name.ts';
import { ASYNC_EPOCH_US } from '../../core/plan/duration.ts';
import { SystemFailure } from '../../core/world/failure.ts';
import type { JobOwner } from '../../core/world/jobs.ts';
import type { Process } from '../../core/world/process.ts';
import type { HostedParts } from '../../core/world/world.ts';
import { errorText } from '../../text/error-text.ts';
import type { Uplink } from '../network/hosts.ts';
import { ambient, type CurrentProcess, isLoading, noteImpure } from './ambient.ts';
import { contextNow, endContexts, inThread } from './async-context.ts';
import { requireFewJobs } from './endless.ts';
import { CONNECTS, LOOKS_UP } from './forbidden-apis.ts';
import type { Printed } from './printing.ts';
import { Randomness } from './randomness.ts';
import { type TimerSetting, Timers, type VirtualTimer } from './timers.ts';
import type { UnsimulatedLog } from './unsimulated.ts';
import { clearMatches, takeExitCode } from './virtual-machine.ts';
import { giveBackDefaults, takeDefaults } from './virtual-process.ts';

/** 2024-01-01T00:00:00Z, the initial `Date.now()` if the plan has no `epoch`. */
export const EPOCH_MS: number = ASYNC_EPOCH_US / 1000;

/**
 * Code that reads its clock more often than this within one event waits for the clock to advance.
 */
const MOST_READINGS = 1_000_000;

export class Incarnation implements CurrentProcess, JobOwner {
  readonly process: Process;
  /** The number of this incarnation, counted from 1. */
  readonly ordinal: number;
  readonly root: Name;
  private readonly parts: HostedParts;
  private readonly timers: Timers;
  /** Random streams by the module that is being loaded; '' stands for the program itself. */
  private readonly drawn: Map<string, Randomness> = new Map();
  private held: (() => void)[] = [];
  /** Failure of its code, or null if there is none. */
  failure: SystemFailure | Defect | null = null;
  /** The value that was thrown, or null if nothing was. */
  thrown: { readonly error: unknown } | null = null;
  private readings = 0;
  private jobs = 0;
  /** Number of calls without an answer. */
  openCalls = 0;
  /** True if the program has ended; then only timers and open calls keep the process alive. */
  hasFinished = false;
  isOver = false;
  network: Uplink | null = null;
  printed: Printed | null = null;
  unsimulated: UnsimulatedLog | null = null;

  constructor(process: Process, parts: HostedParts, ordinal: number) {
    this.process = process;
    this.parts = parts;
    this.ordinal = ordinal;
    const root = nameOf(process.name);
    this.root = ordinal === 1 ? root : under(root, `life-${ordinal}`);
    this.timers = new Timers(process, parts, { root: this.root, run: (code) => this.run(code) });
  }

  get name(): string {
    return this.process.name;
  }

  /** Within Linux's default range: below 32,768 and above the pids of system processes. */
  get pid(): number {
    noteImpure();
    return 300 + ((nameOf(`${this.name}/${this.ordinal}`).hash >>> 0) % 32_000);
  }

  /** The true time. */
  get nowUs(): number {
    return this.parts.scheduler.nowUs;
  }

  dateMs(): number {
    this.countReading();
    return Math.floor(this.process.clock.wallUs(this.nowUs) / 1000);
  }

  monotonicUs(): number {
    this.countReading();
    return this.process.clock.monotonicUs(this.nowUs);
  }

  private countReading(): void {
    noteImpure();
    this.readings += 1;
    if (this.readings < MOST_READINGS) return;
    const error = new Error('it polls its clock, which advances only while it awaits');
    this.fail(error);
    throw error;
  }

  print(text: string, stream: unknown): void {
    if (!this.isOver) this.printed?.write(this.name, text, stream);
  }

  countJob(): void {
    this.jobs += 1;
    try {
      requireFewJobs(this.jobs);
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  get randomness(): Randomness {
    noteImpure();
    const module = ambient.loading?.name ?? '';
    const known = this.drawn.get(module);
    if (known !== undefined) return known;
    const number = this.parts.choices.streamOf(under(nameOf(this.name), 'random'));
    const place = module === '' ? this.name : `${this.name}/${module}`;
    const drawn = new Randomness(place, { number, incarnation: this.ordinal });
    this.drawn.set(module, drawn);
    return drawn;
  }

  setTimer(setting: TimerSetting): VirtualTimer {
    noteImpure();
    const inContext = contextNow(setting.kind === 'immediate' ? 'Immediate' : 'Timeout');
    const callback = (): void => inContext(setting.callback);
    const timer = this.timers.set({ ...setting, callback });
    if (this.isOver) timer.close();
    return timer;
  }

  timerOf(id: number): VirtualTimer | undefined {
    return this.timers.timerOf(id);
  }

  mayCall(call: string): boolean {
    if (CONNECTS.test(call)) return this.network !== null;
    return LOOKS_UP.test(call) && this.hasHosts;
  }

  /** A module may read files while it is loaded. */
  get mayRead(): boolean {
    return isLoading(this);
  }

  private get hasHosts(): boolean {
    return this.network !== null && this.network.hosts.addresses.length > 0;
  }

  noteUnsimulated(...asked: Parameters<UnsimulatedLog['note']>): void {
    this.unsimulated?.note(...asked);
  }

  fail(error: unknown, why: string = errorText(error)): void {
    if (this.isOver || this.failure !== null) return;
    this.thrown = { error };
    const isReported = error instanceof Defect || error instanceof SystemFailure;
    this.failure = isReported ? error : new SystemFailure(this.name, why);
  }

  /** Fails the run if code continues outside the world because it waited for something real. */
  requireInside(): void {
    if (this.isOver || ambient.current === this) return;
    const error = new Error(
      'it waited for something outside the simulated world and continued afterwards',
    );
    this.fail(error);
    throw error;
  }

  /** Runs a piece of user code; its jobs run before anything else happens. */
  run(code: () => void): void {
    const { current } = ambient;
    this.parts.jobs.take(this);
    ambient.current = this;
    takeDefaults(this);
    clearMatches();
    try {
      inThread(code);
    } catch (error) {
      this.fail(error);
    } finally {
      ambient.current = current;
      if (current !== this) giveBackDefaults();
    }
  }

  begin(): void {
    ambient.current = this;
    takeDefaults(this);
  }

  end(): void {
    ambient.current = null;
    giveBackDefaults();
    if (takeExitCode().isSet)
      this.fail(new Error('it sets process.exitCode, which belongs to the real process'));
    this.readings = 0;
    this.jobs = 0;
    if (this.failure !== null) throw this.failure;
    if (this.hasFinished && !this.isKeptAlive) this.close();
  }

  private get isKeptAlive(): boolean {
    return this.openCalls > 0 || this.held.length > 0 || this.timers.referenced > 0;
  }

  /** Runs `step` now, or after a pause of its process and the jobs of other processes. */
  whenRunning(step: () => void): void {
    if (this.isOver) return;
    const isFree = this.process.isRunning && this.held.length === 0;
    if (isFree && !this.parts.jobs.mustWait(this.process, this)) step();
    else this.held.push(step);
  }

  /** Like `whenRunning`, but before other held steps: `step` continues the current step. */
  next(step: () => void): void {
    if (this.isOver) return;
    if (this.process.isRunning) step();
    else this.held.unshift(step);
  }

  goOn(): void {
    while (this.held.length > 0 && this.process.isRunning && !this.process.mustWait) {
      this.held.shift()?.();
    }
  }

  /** Ends the incarnation after a crash, or after its program has ended. */
  close(): void {
    this.isOver = true;
    this.held = [];
    this.timers.clear();
    endContexts(this);
  }
}
