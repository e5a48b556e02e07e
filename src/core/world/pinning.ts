/**
 * What a run drew, written down as it happens, and the plan that says all of it. Which events such
 * a plan must order is found on the way: those of the instants at which events happened in another
 * order than the one in which they were scheduled.
 */
import type { Due } from '../kernel/queue.ts';
import type { Watcher } from '../kernel/scheduler.ts';
import type { Plan } from '../plan/plan.ts';
import { FIRST } from './agenda.ts';
import type { DrawLog } from './choices.ts';

export class Pinning {
  /** For the world that is to be watched. */
  readonly log: DrawLog = { decisions: new Map(), faults: [] };
  private readonly order: OrderLog = new OrderLog();
  /** For its run. */
  readonly watcher: Watcher = (due, previous) => this.order.see(due, previous);

  /** `plan` without chance, once it has run. */
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
  /** Whether they happened in another order than they were scheduled in. */
  readonly isTurned: boolean;
}

export class OrderLog {
  private readonly instants: Instant[] = [];
  private events: Due[] = [];
  private isTurned = false;

  /** Told of each event, as a `Watcher`. */
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
   * The names in the order of their ties, which is the same at every instant. A name that is
   * ordered comes before all that are not, so an instant at which one of them happens again is
   * ordered whole.
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
