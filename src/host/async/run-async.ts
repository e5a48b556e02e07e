/**
 * Plan → Trace for every system, whether its clients are generators or real asynchronous code, and
 * the plan that leaves nothing to chance.
 */
import type { Trace } from '../../core/history/trace.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { pin, run } from '../../run.ts';
import { assemble, isAsync, requirePrepared } from '../../systems/assemble.ts';
import { ownParts, type SystemParts } from '../../systems/system-parts.ts';
import { clientProgram } from './client-program.ts';
import { type GlobalsOptions, virtualizeGlobals } from './globals.ts';
import { inRealTurn } from './real.ts';
import { type Fill, pinFilled, runFilled } from './run-filled.ts';

/**
 * Runs a plan of a system made of `parts`: the same plan gives the same trace, as long as the
 * clients share nothing but messages. Rejects with `UnknownSystem`, and with `UnpreparedSystem`
 * where a store is to be loaded first.
 */
export async function runAsync(
  plan: Plan,
  parts: SystemParts = ownParts,
  options?: GlobalsOptions,
): Promise<Trace> {
  if (!isAsync(plan, parts)) return run(plan, parts);
  requirePrepared(plan, parts);
  const restore = virtualizeGlobals(options);
  try {
    return await runFilled(plan, fillOf(parts), options);
  } finally {
    // Most runs are followed by another at once, and to change the globals takes as long as one.
    inRealTurn(restore);
  }
}

/** The plan that leaves nothing to chance and gives a trace with the same digest. */
export async function pinAsync(
  plan: Plan,
  parts: SystemParts = ownParts,
  options?: GlobalsOptions,
): Promise<Plan> {
  if (!isAsync(plan, parts)) return pin(plan, parts);
  requirePrepared(plan, parts);
  return pinFilled(plan, fillOf(parts), options);
}

function fillOf(parts: SystemParts): Fill {
  return (plan, world) =>
    assemble(plan, world.world, parts, (setting) => {
      const { name, pool } = setting.plan;
      world.addClient(name, clientProgram(setting), { pool, role: setting.role });
    });
}
