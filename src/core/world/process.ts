/**
 * Anything that runs in the world and can be paused, crashed and skewed. While it is paused nothing
 * of it runs: what would have run is kept, and on resume comes its interrupted step first, then the
 * messages in the order of their arrival, then the timers that are due.
 */
import type { ProcessInfo } from '../history/trace.ts';
import type { Alarm } from './alarm.ts';
import { Clock } from './clock.ts';

/** A piece of a process's own work: the handling of a message, or what follows a timer. */
export interface Task {
  run(): void;
  /** The process crashed before it could be run. */
  abandon(): void;
}

/** Told when its process goes on after a pause, and when it crashes or starts again. */
export interface Resident {
  /** Goes on with the step that the pause interrupted, if there is one. */
  resume(): void;
  crash(): void;
  restart(): void;
  /**
   * Asked before each piece of work: whether jobs are to run first. Who says so has `goOn` called
   * on its process once they have.
   */
  mustWait(): boolean;
}

export class Process {
  readonly info: ProcessInfo;
  readonly clock: Clock;
  /** What a right wall clock showed when the run began. */
  readonly epochUs: number;
  /** The timers that are set and have not run. */
  readonly alarms: Set<Alarm> = new Set();
  isUp = true;
  isPaused = false;
  /** Until when the present pause lasts. */
  pausedUntilUs = 0;
  /** How often it has crashed: a connection to an earlier life leads nowhere. */
  crashes = 0;
  private resident: Resident | null = null;
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

  house(resident: Resident): void {
    this.resident = resident;
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

  /** Whether what comes now has to wait, for the end of a pause or of jobs. */
  get mustWait(): boolean {
    return this.isPaused || this.resident?.mustWait() === true;
  }

  /** Runs nothing until `untilUs`; a pause that would last longer goes on. */
  pause(untilUs: number): void {
    this.pausedUntilUs = this.isPaused ? Math.max(this.pausedUntilUs, untilUs) : untilUs;
    this.isPaused = true;
  }

  /** Ends the pause and runs what it held up, until a new pause or a crash interrupts that. */
  resume(): void {
    this.isPaused = false;
    this.goOn();
  }

  /** Runs what waited, as far as it gets. */
  goOn(): void {
    if (!this.isRunning) return;
    this.resident?.resume();
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
    this.resident?.crash();
  }

  restart(): void {
    this.isUp = true;
    this.resident?.restart();
  }

  /** Both clocks run at another rate from now on, and its timers with them. */
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
