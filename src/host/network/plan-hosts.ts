/**
 * Lets servers listen where a plan says so (`hosts`). One that the lock itself does not add is a
 * Redis node, so that a lock whose code connects by itself needs no line for its server.
 */
import type { Plan } from '../../core/plan/plan.ts';
import type { World } from '../../core/world/world.ts';

/** Opens what a plan names in `hosts`: a Redis is large, and loaded only where a plan has some. */
export async function hostsOpener({ system }: Plan): Promise<(world: World) => void> {
  const { hosts } = system;
  if (hosts === undefined) return () => {};
  const { listenAs } = await import('./redis-hosts.ts');
  const named = Object.entries(hosts).sort(([a], [b]) => (a < b ? -1 : 1));
  return (world) => {
    for (const [address, name] of named) listenAs(name, world, address);
  };
}
