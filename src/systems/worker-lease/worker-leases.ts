/**
 * The two calls of the published scheme, `acquire_lease` and `release_lease`, over a primary and a
 * secondary back end, usable without the simulator. Times and timeouts are whole seconds.
 */
import type { LeaseAsk, LeaseReturn } from './lease-rules.ts';

/** What keeps leases: `CacheLeases` or `TableLeases`, whose times are in seconds then. */
export interface LeaseKeeper {
  acquire(key: string, ask: LeaseAsk): number | false;
  release(key: string, given: LeaseReturn, now: number): boolean;
}

/** Null stands for a back end that cannot be reached. */
interface LeaseKeepers {
  readonly primary: LeaseKeeper | null;
  readonly secondary: LeaseKeeper | null;
}

/** Which lease of which machine, at which of the two back ends. */
interface Which {
  readonly correlationId: string;
  readonly isPrimary: boolean;
}

export class WorkerLeases {
  private readonly keepers: LeaseKeepers;

  constructor(keepers: LeaseKeepers) {
    this.keepers = keepers;
  }

  /**
   * A positive fence token; false when somebody holds the lease, the asker itself included; 0 on a
   * system error. A lease that timed out is taken over.
   */
  acquireLease({ correlationId, isPrimary, ...ask }: Which & LeaseAsk): number | false {
    return this.keeper(isPrimary)?.acquire(correlationId, ask) ?? 0;
  }

  /** True when it was that very lease; false when it was not; 0 on a system error. */
  releaseLease(given: Which & LeaseReturn & { readonly now: number }): boolean | 0 {
    const { correlationId, isPrimary, now, ...lease } = given;
    return this.keeper(isPrimary)?.release(correlationId, lease, now) ?? 0;
  }

  private keeper(isPrimary: boolean): LeaseKeeper | null {
    return isPrimary ? this.keepers.primary : this.keepers.secondary;
  }
}
