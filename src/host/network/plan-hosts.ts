/**
 * Lets servers listen where a plan says so (`hosts`). One that the lock itself does not add is a
 * Redis node, so that a lock whose code connects by itself needs no line for its server.
 */
import { assert } from '../../core/kernel/assert.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { World } from '../../core/world/world.ts';

let redis: typeof import('./redis-hosts.ts') | null = null;

/** To be awaited before a plan with hosts is run: a Redis is large, and most plans have none. */
export async function loadHosts(): Promise<void> {
  redis ??= await import('./redis-hosts.ts');
}

/** Called once the lock's own servers were added. */
export function openHosts({ system }: Plan, world: World): void {
  for (const [address, name] of Object.entries(system.hosts ?? {})) {
    assert(redis !== null, 'the hosts of a plan were loaded before its run');
    redis.listenAs(name, world, address);
  }
}
