/**
 * Anything that runs in the world and can be paused, crashed and skewed. While it is paused nothing of
 * it runs: what would have run is kept, and on resume comes its interrupted step first, then the
 * messages in the order of their arrival, then the timers that are due.
 */
import type { Name } from '../kernel/name.ts';
import type { Due } from '../kernel/queue.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { ProcessInfo } from '../history/trace.ts';
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
}

export class Timer implements Due {
  readonly name: Name;
  readonly timeUs: number;
  readonly tie: number;
  seq = 0;
  private readonly alarm: Alarm;

  constructor(alarm: Alarm, timeUs: number, tie: number) {
    this.alarm = alarm;
    this.name = alarm.name;
    this.timeUs = timeUs;
    this.tie = tie;
  }

  fire(): void {
    this.alarm.ring(this);
  }
}

/** A timer that a process has set on its monotonic clock. */
export class Alarm implements Task {
  readonly name: Name;
  private readonly process: Process;
  private readonly dueMonotonicUs: number;
  private readonly lateUs: number;
  private readonly tie: number;
  private readonly action: () => void;
  private timer: Timer | null = null;

  constructor(
    process: Process,
    setting: { name: Name; dueMonotonicUs: number; lateUs: number; tie: number },
    action: () => void,
  ) {
    this.process = process;
    this.name = setting.name;
    this.dueMonotonicUs = setting.dueMonotonicUs;
    this.lateUs = setting.lateUs;
    this.tie = setting.tie;
    this.action = action;
  }

  /** Schedules it anew by the process's clock as it now runs. */
  arm(scheduler: Scheduler): void {
    const dueUs = this.process.clock.trueTimeOfMonotonic(this.dueMonotonicUs) + this.lateUs;
    this.timer = new Timer(this, Math.max(dueUs, scheduler.nowUs), this.tie);
    scheduler.schedule(this.timer);
  }

  /** Called by the loop; a timer that was replaced or cancelled stays silent. */
  ring(timer: Timer): void {
    if (timer === this.timer) this.process.acceptTimer(this);
  }

  cancel(): void {
    this.timer = null;
    this.process.alarms.delete(this);
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

export class Process {
  readonly info: ProcessInfo;
  readonly clock: Clock = new Clock();
  /** The timers that are set and have not run. */
  readonly alarms: Set<Alarm> = new Set();
  isUp = true;
  isPaused = false;
  /** Until when the present pause lasts. */
  pausedUntilUs = 0;
  private resident: Resident | null = null;
  private messages: Task[] = [];
  private dueTimers: Task[] = [];

  constructor(info: ProcessInfo) {
    this.info = info;
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
    else if (this.isPaused) backlog.push(task);
    else task.run();
  }

  /** Ends the pause and runs what it held up, until a new pause or a crash interrupts that. */
  resume(): void {
    this.isPaused = false;
    this.resident?.resume();
    this.drain(this.messages);
    this.drain(this.dueTimers);
  }

  private drain(backlog: Task[]): void {
    while (this.isRunning) {
      const task = backlog.shift();
      if (task === undefined) return;
      task.run();
    }
  }

  crash(): void {
    this.isUp = false;
    this.isPaused = false;
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
}
