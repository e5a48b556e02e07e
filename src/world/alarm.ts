/**
 * The timers of a process, set on its monotonic clock. A timer that is due while its process is
 * paused waits for the resume; one that a fault makes late is held back when it would have fired.
 */
import type { Name } from '../kernel/name.ts';
import type { Due } from '../kernel/queue.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { Decider } from './decider.ts';
import type { Process, Task } from './process.ts';
import type { Recorder } from './recorder.ts';

export interface AlarmParts {
  readonly scheduler: Scheduler;
  readonly recorder: Recorder;
  readonly decider: Decider;
}

export interface AlarmSetting {
  readonly name: Name;
  /** On the clock of its process, from now. */
  readonly waitUs: number;
  readonly action: () => void;
}

/** The event in the queue; an alarm has a new one whenever the rate of its clock changes. */
class Timer implements Due {
  readonly name: Name;
  readonly timeUs: number;
  readonly tie: number;
  isCancelled = false;
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

export class Alarm implements Task {
  readonly name: Name;
  private readonly process: Process;
  private readonly parts: AlarmParts;
  private readonly dueMonotonicUs: number;
  private readonly tie: number;
  private readonly action: () => void;
  /** How long faults hold it back once it is due, asked once. */
  private late: (() => number) | null;
  private timer: Timer | null = null;
  /** Its clock has reached its time, so that no change of the clock concerns it any more. */
  private isDue = false;

  constructor(process: Process, setting: AlarmSetting, parts: AlarmParts) {
    const { scheduler, decider } = parts;
    this.name = setting.name;
    this.process = process;
    this.parts = parts;
    this.dueMonotonicUs = process.clock.monotonicUs(scheduler.nowUs) + setting.waitUs;
    this.tie = decider.tie(setting.name);
    this.action = setting.action;
    this.late = latenessOf(process, setting.name, parts);
    process.alarms.add(this);
    this.arm();
  }

  /** Schedules it by its process's clock as that now runs; called again when that changes. */
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
   * A timer of this very instant stays in the queue, where it does nothing: it might have come
   * first, so a plan that repeats the run must order it.
   */
  private callOff(): void {
    const { timer } = this;
    this.timer = null;
    if (timer !== null && timer.timeUs > this.parts.scheduler.nowUs) timer.isCancelled = true;
  }

  /** Called by the loop. */
  ring(timer: Timer): void {
    if (timer !== this.timer) return;
    this.isDue = true;
    const lateUs = this.late === null ? 0 : this.late();
    this.late = null;
    if (lateUs > 0) this.scheduleAt(this.parts.scheduler.nowUs + lateUs);
    else this.process.acceptTimer(this);
  }

  cancel(): void {
    this.callOff();
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

/**
 * What the late-timer faults that wait for this timer will do when it is due; null when none waits.
 */
function latenessOf(process: Process, timer: Name, parts: AlarmParts): (() => number) | null {
  const { scheduler, recorder, decider } = parts;
  const waiting = decider.timerFaultsOf(timer, process.name, scheduler.nowUs);
  if (waiting.length === 0) return null;
  return () => {
    const nowUs = scheduler.nowUs;
    const struck = decider.strikeTimer(waiting, nowUs);
    for (const { fault, index } of struck) {
      recorder.record({
        kind: 'fault',
        atUs: nowUs,
        fault: 'late-timer',
        index,
        processes: [process.name],
        untilUs: nowUs + fault.byUs,
        target: timer.text,
        amount: fault.byUs,
      });
    }
    return struck.reduce((sumUs, { fault }) => sumUs + fault.byUs, 0);
  };
}
