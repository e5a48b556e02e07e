/** Schedules the actions of the world itself, such as faults. */
import { type Name, nameOf } from '../kernel/name.ts';
import type { Due } from '../kernel/queue.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { Choices } from './choices.ts';

/** Tie of an event that comes first at its instant, even before events that the plan orders. */
export const FIRST: number = Number.MIN_SAFE_INTEGER;

class Appointment implements Due {
  readonly name: Name;
  readonly timeUs: number;
  readonly tie: number;
  readonly isCancelled = false;
  seq = 0;
  private readonly action: () => void;

  constructor(name: Name, timeUs: number, tie: number, action: () => void) {
    this.name = name;
    this.timeUs = timeUs;
    this.tie = tie;
    this.action = action;
  }

  fire(): void {
    this.action();
  }
}

export class Agenda {
  private readonly scheduler: Scheduler;
  private readonly choices: Choices;

  constructor(scheduler: Scheduler, choices: Choices) {
    this.scheduler = scheduler;
    this.choices = choices;
  }

  get nowUs(): number {
    return this.scheduler.nowUs;
  }

  /** Schedules `action` at `timeUs`. The name determines the order of simultaneous events. */
  at(timeUs: number, text: string, action: () => void): void {
    const name = nameOf(text);
    const tie = this.choices.tie(name);
    this.scheduler.schedule(new Appointment(name, timeUs, tie, action));
  }

  /** Schedules `action` at `timeUs`, before all other events of that instant. */
  atOnce(timeUs: number, text: string, action: () => void): void {
    this.scheduler.schedule(new Appointment(nameOf(text), timeUs, FIRST, action));
  }
}
