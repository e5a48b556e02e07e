/** Plan → Trace, and what belongs to it: a trace's digest, and the plan that leaves nothing to chance. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Due } from './kernel/queue.ts';
import type { Trace } from './history/trace.ts';
import type { Fault } from './plan/fault.ts';
import type { Plan } from './plan/plan.ts';
import { assemble } from './systems/assemble.ts';
import { World } from './world/world.ts';

/** Runs a plan. Pure: the same plan gives the same trace. Throws `UnknownSystem`. */
export function run(plan: Plan): Trace {
  const world = new World(plan, null);
  assemble(plan, world);
  return world.run(null);
}

/**
 * Runs a plan and writes down all that was drawn: the plan returned has no chance left and gives a
 * trace with the same digest.
 */
export function pin(plan: Plan): Plan {
  const log = { decisions: new Map<string, number>(), faults: new Array<Fault>() };
  const order = new OrderLog();
  const world = new World(plan, log);
  assemble(plan, world);
  world.run((due, previous) => order.see(due, previous));
  return {
    ...plan,
    faults: [...plan.faults, ...log.faults],
    chance: null,
    decisions: { ...plan.decisions, ...Object.fromEntries(log.decisions) },
    order: order.names(),
  };
}

/** Collects the events that happened in another order than the one in which they were scheduled. */
class OrderLog {
  private readonly kept: Set<string> = new Set();
  private instant: string[] = [];
  private isTurned = false;

  see(due: Due, previous: Due | null): void {
    if (previous === null || previous.timeUs !== due.timeUs) this.close();
    else if (due.seq < previous.seq) this.isTurned = true;
    this.instant.push(due.name.text);
  }

  private close(): void {
    if (this.isTurned) for (const name of this.instant) this.kept.add(name);
    this.instant = [];
    this.isTurned = false;
  }

  names(): readonly string[] {
    this.close();
    return [...this.kept];
  }
}

/**
 * `sha256:…` over the trace's events as JSON with sorted keys. Which line of the plan caused a fault is
 * left out, since it is no part of what happened: a pinned plan has the digest of the one it came from.
 */
export function digestOf(trace: Trace): string {
  const text = trace.events.map((event) => canonical(event)).join('\n');
  return `sha256:${bytesToHex(sha256(utf8ToBytes(`${text}\n${trace.ending.kind}`)))}`;
}

/** One event as JSON with sorted keys, without its place in the plan. */
export function canonical(event: object): string {
  return JSON.stringify(event, (key, value: unknown) => {
    if (key === 'index') return undefined;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
