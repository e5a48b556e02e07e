/** What the world does at an instant of its own accord: by a name, among what else happens then. */
import { type Name, nameOf } from '../kernel/name.ts';
import type { Due } from '../kernel/queue.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { Choices } from './choices.ts';

/** The tie of what happens before all else of its instant, whatever a plan orders. */
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

  /** Does `action` at `timeUs`, among the other events of that instant. */
  at(timeUs: number, text: string, action: () => void): void {
    const name = nameOf(text);
    const tie = this.choices.tie(name);
    this.scheduler.schedule(new Appointment(name, timeUs, tie, action));
  }

  /** The same, ahead of all else that happens at that instant. */
  atOnce(timeUs: number, text: string, action: () => void): void {
    this.scheduler.schedule(new Appointment(nameOf(text), timeUs, FIRST, action));
  }
}
