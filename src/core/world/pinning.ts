/** What a run drew, written down as it happens, and the plan that says all of it. */
import type { Watcher } from '../kernel/scheduler.ts';
import type { Plan } from '../plan/plan.ts';
import type { DrawLog } from './decider.ts';
import { OrderLog } from './order-log.ts';

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
