/**
 * Records the draws of a run, and makes a plan that fixes all of them. The plan also orders all
 * events of an instant if they did not happen in scheduling order.
 */
import type { Due } from '../kernel/queue.ts';
import type { Watcher } from '../kernel/scheduler.ts';
import type { Plan } from '../plan/plan.ts';
import { FIRST } from './agenda.ts';
import type { DrawLog } from './choices.ts';

export class Pinning {
  /** The log in which the world records its draws. */
  readonly log: DrawLog = { decisions: new Map(), faults: [] };
  private readonly order: OrderLog = new OrderLog();
  /** The watcher to pass to the world's run. */
  readonly watcher: Watcher = (due, previous) => this.order.see(due, previous);

  /** Returns `plan` without chance, and with all draws of the run. Call it after the run. */
  pinned(plan: Plan): Plan {
    const { log, order } = this;
    return {
      ...plan,
      faults: [...plan.faults, ...log.faults],
      chance: null,
      decisions: { ...plan.decisions, ...Object.fromEntries(log.decisions) },
      order: order.names(),
    };
  }
}

/** Two or more events that happened at one instant. */
interface Instant {
  readonly events: readonly Due[];
  /** True if they did not happen in the order in which they were scheduled. */
  readonly isTurned: boolean;
}

export class OrderLog {
  private readonly instants: Instant[] = [];
  private events: Due[] = [];
  private isTurned = false;

  /** Records an event. Takes the arguments of a `Watcher`. */
  see(due: Due, previous: Due | null): void {
    if (previous !== null && previous.timeUs !== due.timeUs) this.close();
    if (due.tie === FIRST) return;
    const last = this.events.at(-1);
    if (last !== undefined && due.seq < last.seq) this.isTurned = true;
    this.events.push(due);
  }

  private close(): void {
    const { events, isTurned } = this;
    if (events.length > 1) this.instants.push({ events, isTurned });
    this.events = [];
    this.isTurned = false;
  }

  /**
   * Returns the names that the plan must order. Ordered names come before all others, so an instant
   * with one ordered name must be ordered completely.
   */
  names(): readonly string[] {
    this.close();
    const ties = new Map<string, number>();
    let before = -1;
    while (ties.size > before) {
      before = ties.size;
      for (const { events, isTurned } of this.instants) {
        if (!isTurned && !events.some(({ name }) => ties.has(name.text))) continue;
        for (const { name, tie } of events) ties.set(name.text, tie);
      }
    }
    return [...ties].sort(([, a], [, b]) => a - b).map(([name]) => name);
  }
}
