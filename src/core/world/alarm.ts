/**
 * The timers of a process, set on its monotonic clock. A timer that is due while its process is
 * paused waits for the resume; one that a fault makes late is held back when it would have fired.
 */
import type { Name } from '../kernel/name.ts';
import type { Due } from '../kernel/queue.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { FaultOf } from '../plan/fault.ts';
import type { Decider, Struck } from './decider.ts';
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
  /** By whose name its place in an instant is drawn; those that share one keep their order. */
  readonly tiedAs?: Name;
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
  /** The faults that will hold it back once it is due. */
  private waiting: readonly Struck<FaultOf<'late-timer'>>[];
  private timer: Timer | null = null;
  /** Its clock has reached its time, so that no change of the clock concerns it any more. */
  private isDue = false;

  constructor(process: Process, setting: AlarmSetting, parts: AlarmParts) {
    const { scheduler, decider } = parts;
    this.name = setting.name;
    this.process = process;
    this.parts = parts;
    this.dueMonotonicUs = process.clock.monotonicUs(scheduler.nowUs) + setting.waitUs;
    this.tiedAs = setting.tiedAs ?? setting.name;
    this.tie = decider.tie(this.tiedAs);
    this.action = setting.action;
    this.waiting = decider.timerFaultsOf(setting.name, process.name, scheduler.nowUs);
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
    const lateUs = this.waiting.length === 0 ? 0 : this.strike();
    if (lateUs > 0) this.scheduleAt(this.parts.scheduler.nowUs + lateUs);
    else this.process.acceptTimer(this);
  }

  /** How long the faults that waited for it hold it back. */
  private strike(): number {
    const { recorder, decider, scheduler } = this.parts;
    const { nowUs } = scheduler;
    const struck = decider.strikeTimer(this.waiting, nowUs);
    this.waiting = [];
    for (const { fault, index } of struck) {
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
    return struck.reduce((sumUs, { fault }) => sumUs + fault.byUs, 0);
  }

  cancel(): void {
    this.callOff();
    this.process.alarms.delete(this);
    this.parts.decider.giveBack(this.waiting);
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
