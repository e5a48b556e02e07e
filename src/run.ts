/**
 * Plan → Trace, and what belongs to it: a trace's digest, and the plan that leaves nothing to
 * chance.
 */

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Trace } from './core/history/trace.ts';
import type { ServerPlace } from './core/plan/fault.ts';
import type { Plan } from './core/plan/plan.ts';
import { Pinning } from './core/world/pinning.ts';
import { type RunWatcher, World } from './core/world/world.ts';
import { ownParts } from './parts.ts';
import type { SystemParts } from './systems/assemble.ts';
import { type AsyncHosting, assemble, requirePrepared, UnknownSystem } from './systems/assemble.ts';

/**
 * Runs a plan of a system made of `parts`. Pure: the same plan gives the same trace. Throws
 * `UnknownSystem`, and `UnpreparedSystem` where a store is to be loaded first. A system's code runs
 * on the caller's thread, without a watchdog: a loop in it never returns.
 */
export function run(plan: Plan, parts: SystemParts = ownParts): Trace {
  return runWatched(plan, parts, null);
}

/** The same, with a watcher that is told of each event before it happens; null for nobody. */
export function runWatched(plan: Plan, parts: SystemParts, watcher: RunWatcher | null): Trace {
  return runIn(new World(plan, null), plan, { parts, watcher });
}

function runIn(
  world: World,
  plan: Plan,
  { parts, watcher }: { readonly parts: SystemParts; readonly watcher: RunWatcher | null },
): Trace {
  requirePrepared(plan, parts);
  const close = assemble(plan, world, parts);
  try {
    return world.run(watcher);
  } finally {
    close();
  }
}

/**
 * Why `run` would refuse a plan: it names a system, an option or an option's value that does not
 * exist, or two processes alike. Null when it would run.
 */
export function whyRefused(plan: Plan, parts: SystemParts = ownParts): string | null {
  try {
    assemble(plan, new World(plan, null), parts, NOBODY);
    return null;
  } catch (error) {
    if (error instanceof UnknownSystem) return error.message;
    throw error;
  }
}

/** The servers of a plan that `run` would not refuse; none of one that it would. */
export function serversIn(plan: Plan, parts: SystemParts = ownParts): readonly ServerPlace[] {
  const world = new World(plan, null);
  try {
    assemble(plan, world, parts, NOBODY);
  } catch (error) {
    if (error instanceof UnknownSystem) return [];
    throw error;
  }
  return world.allServers.map(([name, { canFailOver, canForget }]) => {
    return { name, canFailOver, canForget };
  });
}

const NOBODY: AsyncHosting = { openHosts: () => {}, addClient: () => {} };

/**
 * Runs a plan and writes down all that was drawn: the plan returned has no chance left and gives a
 * trace with the same digest. A plan without chance is returned as it is.
 */
export function pin(plan: Plan, parts: SystemParts = ownParts): Plan {
  if (plan.chance === null) return plan;
  const pinning = new Pinning();
  runIn(new World(plan, pinning.log), plan, { parts, watcher: pinning.watcher });
  return pinning.pinned(plan);
}

/**
 * `sha256:…` over the trace's events as JSON with sorted keys. Which line of the plan caused a
 * fault is left out, since it is no part of what happened: a pinned plan has the digest of the one
 * it came from. So is what the recorder of holders adds, which follows from the rest.
 */
export function digestOf(trace: Trace): string {
  const happened = trace.events.filter(({ kind }) => kind !== 'key-change' && kind !== 'grant-end');
  const text = happened.map((event) => canonical(event)).join('\n');
  return `sha256:${bytesToHex(sha256(utf8ToBytes(`${text}\n${trace.ending.kind}`)))}`;
}

/** One event as JSON with sorted keys, without its place in the plan. */
export function canonical(event: object): string {
  return objectOf(Object.entries(event).filter(([key]) => key !== 'index'));
}

function objectOf(fields: [string, unknown][]): string {
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, value]) => `${JSON.stringify(key)}:${jsonOf(value)}`).join()}}`;
}

function jsonOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jsonOf).join()}]`;
  return objectOf(Object.entries(value));
}
