/**
 * A process of the world, with its clocks and timers. A paused process runs nothing. On resume, the
 * interrupted step runs first, then the messages in arrival order, then the timers that are due.
 * Timers use the monotonic clock. A fault delays a timer only when it is due.
 */
import type { ProcessInfo } from '../history/trace.ts';
import type { Name } from '../kernel/name.ts';
import type { Due } from '../kernel/queue.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { FaultOf } from '../plan/fault.ts';
import type { Choices, Injection } from './choices.ts';
import type { Recorder } from './recorder.ts';

/** A piece of a process's work: handling a message or a timer. */
export interface Task {
  run(): void;
  /** Called instead of `run` if the process crashes first. */
  abandon(): void;
}

/** The code in a process, notified when the process resumes, crashes or restarts. */
export interface ProcessHost {
  /** Continues with the step that the pause interrupted, if any. */
  resume?(): void;
  crash(): void;
  restart(): void;
  /**
   * Returns true if jobs must run first. The implementation then calls `goOn` after the jobs.
   * Absent if there are never any jobs.
   */
  mustWait?(): boolean;
}

export class Process {
  readonly info: ProcessInfo;
  readonly clock: Clock;
  /** Wall clock time at the start of the run, without clock faults. */
  readonly epochUs: number;
  /** Timers that are set and have not run. */
  readonly alarms: Set<Alarm> = new Set();
  isUp = true;
  isPaused = false;
  /** End of the current pause. */
  pausedUntilUs = 0;
  /** Number of crashes. A connection to an earlier incarnation is dead. */
  crashes = 0;
  private processHost: ProcessHost | null = null;
  private messages: Task[] = [];
  private dueTimers: Task[] = [];

  constructor(info: ProcessInfo, epochUs: number) {
    this.info = info;
    this.epochUs = epochUs;
    this.clock = new Clock(epochUs);
  }

  get name(): string {
    return this.info.name;
  }

  get isRunning(): boolean {
    return this.isUp && !this.isPaused;
  }

  attach(processHost: ProcessHost): void {
    this.processHost = processHost;
  }

  acceptMessage(task: Task): void {
    this.accept(task, this.messages);
  }

  acceptTimer(task: Task): void {
    this.accept(task, this.dueTimers);
  }

  private accept(task: Task, backlog: Task[]): void {
    if (!this.isUp) task.abandon();
    else if (this.mustWait) backlog.push(task);
    else task.run();
  }

  /** True if new work has to wait, for the end of a pause or of jobs. */
  get mustWait(): boolean {
    return this.isPaused || this.processHost?.mustWait?.() === true;
  }

  /** Pauses the process until `untilUs`, or until a longer pause already in progress ends. */
  pause(untilUs: number): void {
    this.pausedUntilUs = this.isPaused ? Math.max(this.pausedUntilUs, untilUs) : untilUs;
    this.isPaused = true;
  }

  /** Ends the pause and runs the work that it held back, until a new pause or a crash. */
  resume(): void {
    this.isPaused = false;
    this.goOn();
  }

  /** Runs waiting work, as far as possible. */
  goOn(): void {
    if (!this.isRunning) return;
    this.processHost?.resume?.();
    this.drain(this.messages);
    this.drain(this.dueTimers);
  }

  private drain(backlog: Task[]): void {
    while (backlog.length > 0 && this.isRunning && !this.mustWait) backlog.shift()?.run();
  }

  crash(nowUs: number): void {
    this.isUp = false;
    this.isPaused = false;
    this.crashes += 1;
    this.clock.thaw(nowUs);
    const lost = [...this.messages, ...this.dueTimers, ...this.alarms];
    this.messages = [];
    this.dueTimers = [];
    for (const task of lost) task.abandon();
    this.processHost?.crash();
  }

  restart(): void {
    this.isUp = true;
    this.processHost?.restart();
  }

  setClockRate(nowUs: number, ppm: number): void {
    this.clock.setRate(nowUs, ppm);
    this.rearm();
  }

  freezeClock(nowUs: number, untilUs: number): void {
    this.clock.freeze(nowUs, untilUs);
    this.rearm();
  }

  private rearm(): void {
    for (const alarm of this.alarms) alarm.arm();
  }
}

const MILLION = 1_000_000;

/** floor(us × ppm / 10⁶) in safe integers, for |ppm| < 10⁷ and spans of centuries. */
function drift(us: number, ppm: number): number {
  const integer = Math.floor(us / MILLION);
  const rest = us - integer * MILLION;
  return integer * ppm + Math.floor((rest * ppm) / MILLION);
}

export class Clock {
  /** True time at which the current rate began or, while the clocks are frozen, will begin. */
  private anchorUs = 0;
  private anchorMonotonicUs = 0;
  private ppm = 0;
  private wallOffsetUs: number;

  /** At true time 0 the wall clock shows `epochUs`, and the monotonic clock shows 0. */
  constructor(epochUs: number = 0) {
    this.wallOffsetUs = epochUs;
  }

  /** Rate error relative to true time: positive if the clock is fast. */
  get ratePpm(): number {
    return this.ppm;
  }

  monotonicUs(trueUs: number): number {
    if (trueUs <= this.anchorUs) return this.anchorMonotonicUs;
    const elapsedUs = trueUs - this.anchorUs;
    const driftUs = this.ppm === 0 ? 0 : drift(elapsedUs, this.ppm);
    return this.anchorMonotonicUs + elapsedUs + driftUs;
  }

  wallUs(trueUs: number): number {
    return this.monotonicUs(trueUs) + this.wallOffsetUs;
  }

  /** Returns the first true time since the last change at which the clock shows `us` or more. */
  trueTimeOfMonotonic(us: number): number {
    const spanUs = us - this.anchorMonotonicUs;
    if (spanUs <= 0) return this.anchorUs;
    if (this.ppm === 0) return this.anchorUs + spanUs;
    // The least e with floor(e × rate / 10⁶) >= span is ceil(span × 10⁶ / rate), in two parts.
    const rate = MILLION + this.ppm;
    const integer = Math.floor(spanUs / rate);
    const rest = spanUs - integer * rate;
    return this.anchorUs + integer * MILLION + Math.ceil((rest * MILLION) / rate);
  }

  trueTimeOfWall(us: number): number {
    return this.trueTimeOfMonotonic(us - this.wallOffsetUs);
  }

  /** Changes the rate of both clocks from `trueUs` on; -10⁶ < ppm < 10⁷. */
  setRate(trueUs: number, ppm: number): void {
    this.anchor(trueUs);
    this.ppm = ppm;
  }

  /** Steps the wall clock. The monotonic clock is unaffected. */
  step(us: number): void {
    this.wallOffsetUs += us;
  }

  /** Stops both clocks until `untilUs`, as if a virtual machine were suspended. */
  freeze(trueUs: number, untilUs: number): void {
    this.anchor(trueUs);
    this.anchorUs = Math.max(this.anchorUs, untilUs);
  }

  /** Restarts a frozen clock at `trueUs`. */
  thaw(trueUs: number): void {
    this.anchorUs = Math.min(this.anchorUs, trueUs);
  }

  private anchor(trueUs: number): void {
    this.anchorMonotonicUs = this.monotonicUs(trueUs);
    this.anchorUs = Math.max(this.anchorUs, trueUs);
  }
}

export interface AlarmParts {
  readonly scheduler: Scheduler;
  readonly recorder: Recorder;
  readonly choices: Choices;
}

interface AlarmSetting {
  readonly name: Name;
  /** Wait from now, on the monotonic clock of the process. */
  readonly waitUs: number;
  readonly action: () => void;
  /** Name from which the tie is drawn. Timers that share this name keep their order. */
  readonly tiedAs?: Name;
}

/** The queued event of an alarm, replaced whenever the process's clock changes. */
class Timer implements Due {
  readonly name: Name;
  readonly timeUs: number;
  readonly tie: number;
  isCancelled = false;
  seq = 0;
  private readonly alarm: Alarm;

  constructor(alarm: Alarm, timeUs: number, tie: number) {
    this.alarm = alarm;
    this.name = alarm.tiedAs;
    this.timeUs = timeUs;
    this.tie = tie;
  }

  fire(): void {
    this.alarm.ring(this);
  }
}

export class Alarm implements Task {
  readonly name: Name;
  readonly tiedAs: Name;
  private readonly process: Process;
  private readonly parts: AlarmParts;
  private readonly dueMonotonicUs: number;
  private readonly tie: number;
  private readonly action: () => void;
  /** Faults that will delay the alarm when it is due. */
  private waiting: readonly Injection<FaultOf<'late-timer'>>[];
  private timer: Timer | null = null;
  /** True once the alarm is due. Clock changes no longer affect it. */
  private isDue = false;

  constructor(process: Process, setting: AlarmSetting, parts: AlarmParts) {
    const { scheduler, choices } = parts;
    this.name = setting.name;
    this.process = process;
    this.parts = parts;
    this.dueMonotonicUs = process.clock.monotonicUs(scheduler.nowUs) + setting.waitUs;
    this.tiedAs = setting.tiedAs ?? setting.name;
    this.tie = choices.tie(this.tiedAs);
    this.action = setting.action;
    this.waiting = choices.timerFaultsOf(setting.name, process.name, scheduler.nowUs);
    process.alarms.add(this);
    this.arm();
  }

  /** Schedules the alarm by the process's clock. Called again whenever that clock changes. */
  arm(): void {
    if (this.isDue) return;
    this.scheduleAt(this.process.clock.trueTimeOfMonotonic(this.dueMonotonicUs));
  }

  private scheduleAt(timeUs: number): void {
    const { scheduler } = this.parts;
    this.callOff();
    this.timer = new Timer(this, Math.max(timeUs, scheduler.nowUs), this.tie);
    scheduler.schedule(this.timer);
  }

  /**
   * Cancels the timer. If due now, the timer stays queued without effect, so a replay can order it.
   */
  private callOff(): void {
    const { timer } = this;
    this.timer = null;
    if (timer !== null && timer.timeUs > this.parts.scheduler.nowUs) timer.isCancelled = true;
  }

  /** Called by the event loop. */
  ring(timer: Timer): void {
    if (timer !== this.timer) return;
    this.isDue = true;
    const lateUs = this.waiting.length === 0 ? 0 : this.injectWaiting();
    if (lateUs > 0) this.scheduleAt(this.parts.scheduler.nowUs + lateUs);
    else this.process.acceptTimer(this);
  }

  /** Returns the total delay. */
  private injectWaiting(): number {
    const { recorder, choices, scheduler } = this.parts;
    const { nowUs } = scheduler;
    const injected = choices.injectInto(this.waiting, nowUs);
    this.waiting = [];
    for (const { fault, index } of injected) {
      recorder.record({
        kind: 'fault',
        atUs: nowUs,
        fault: 'late-timer',
        index,
        processes: [this.process.name],
        untilUs: nowUs + fault.byUs,
        target: this.name.text,
        amount: fault.byUs,
      });
    }
    return injected.reduce((sumUs, { fault }) => sumUs + fault.byUs, 0);
  }

  cancel(): void {
    this.callOff();
    this.process.alarms.delete(this);
    this.parts.choices.giveBack(this.waiting);
    this.waiting = [];
  }

  run(): void {
    if (this.timer === null) return;
    this.cancel();
    this.action();
  }

  abandon(): void {
    this.cancel();
  }
}
