/** Runs a plan, pins a plan, and computes the digest of a trace. */

import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Trace } from './core/history/trace.ts';
import type { ServerPlace } from './core/plan/fault.ts';
import type { Plan } from './core/plan/plan.ts';
import type { Intervention } from './core/world/interventions.ts';
import { Pinning } from './core/world/pinning.ts';
import { type RunWatcher, World } from './core/world/world.ts';
import { builtInParts } from './parts.ts';
import type { SystemParts } from './systems/assemble.ts';
import { type AsyncHosting, assemble, requirePrepared, UnknownSystem } from './systems/assemble.ts';

/**
 * Runs a plan of a system made of `parts`. Pure: equal arguments give equal traces. Throws
 * `UnknownSystem`, or `UnpreparedSystem` if a store must be loaded first. No watchdog: if the
 * system's code never ends, the call never returns.
 */
export function run(
  plan: Plan,
  parts: SystemParts = builtInParts,
  interventions: readonly Intervention[] = [],
): Trace {
  return runIn(new World(plan, null, { interventions }), plan, { parts, watcher: null });
}

/** Runs a plan like `run`, and notifies `watcher` before each event. */
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
 * Returns why `run` would refuse a plan, or null. Examples: an unknown system or option, or two
 * processes with one name.
 */
export function whyRefused(plan: Plan, parts: SystemParts = builtInParts): string | null {
  try {
    assemble(plan, new World(plan, null), parts, NO_HOSTING);
    return null;
  } catch (error) {
    if (error instanceof UnknownSystem) return error.message;
    throw error;
  }
}

/** Returns the servers of a plan, or none if `run` would refuse the plan. */
export function serversIn(plan: Plan, parts: SystemParts = builtInParts): readonly ServerPlace[] {
  const world = new World(plan, null);
  try {
    assemble(plan, world, parts, NO_HOSTING);
  } catch (error) {
    if (error instanceof UnknownSystem) return [];
    throw error;
  }
  return world.allServers.map(([name, { canFailOver, canForget }]) => {
    return { name, canFailOver, canForget };
  });
}

const NO_HOSTING: AsyncHosting = { openHosts: () => {}, addClient: () => {} };

/**
 * Runs a plan and records every draw. The returned plan has no chance, and its trace has the same
 * digest. A plan without chance is returned unchanged.
 */
export function pin(plan: Plan, parts: SystemParts = builtInParts): Plan {
  if (plan.chance === null) return plan;
  const pinning = new Pinning();
  runIn(new World(plan, pinning.log), plan, { parts, watcher: pinning.watcher });
  return pinning.pinned(plan);
}

/**
 * Returns `sha256:…` of the trace's events as JSON with sorted keys. The digest ignores the indexes
 * of faults, so that a pinned plan keeps its digest. It also ignores events that recorders add,
 * since they follow from the other events.
 */
export function digestOf(trace: Trace): string {
  const happened = trace.events.filter(({ kind }) => kind !== 'key-change' && kind !== 'grant-end');
  const text = happened.map((event) => canonical(event)).join('\n');
  return `sha256:${bytesToHex(sha256(utf8ToBytes(`${text}\n${trace.ending.kind}`)))}`;
}

/** Returns one event as JSON with sorted keys, without its index in the plan. */
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
