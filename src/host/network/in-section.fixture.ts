/** Runs client code that reaches a simulated Redis through sockets. */
import { builtIn, extend } from '../../catalogue.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Limits } from '../../core/plan/plan.ts';
import { defineSystem } from '../../define-system.ts';
import { planOf } from '../../systems/plan.fixture.ts';
import type { AsyncSection } from '../../systems/protocol.ts';
import { alice, write } from '../async/body.fixture.ts';
import { runAsync } from '../async/run-async.ts';

export const HOSTS: Readonly<Record<string, string>> = { 'redis-1:6379': 'lock' };

/** Runs `code` as a section of a client, with a Redis at each of `hosts`. */
export async function inSection(
  code: (section: AsyncSection) => Promise<void>,
  { hosts = HOSTS, limits = {} }: { hosts?: typeof HOSTS; limits?: Partial<Limits> } = {},
): Promise<Trace> {
  const catalogue = extend(
    builtIn,
    defineSystem({ locks: { own: { about: 'a test', buildAsync: () => () => code } } }),
  );
  const plan = planOf({ lock: 'own', store: 'unfenced', clients: [alice(1, [write])] });
  const system = { ...plan.system, hosts };
  return await runAsync({ ...plan, system, limits: { ...plan.limits, ...limits } }, catalogue);
}
