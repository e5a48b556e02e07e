/**
 * Law: chance is keyed by identity, so removing a part of a plan changes nothing else. Clients
 * share the lock service's counter, so tokens and ordinals are compared by order of first
 * appearance.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TraceEvent } from '../src/core/history/events.ts';
import type { Trace } from '../src/core/history/trace.ts';
import type { Fault } from '../src/core/plan/fault.ts';
import type { Plan } from '../src/core/plan/plan.ts';
import { digestOf, run } from '../src/run.ts';
import { ALL_KINDS } from './plan-faults.ts';
import { runnablePlans } from './plans.ts';
import { runs } from './runs.ts';

/** Returns true for names of the client or of its own things: `bob/1/write`, `bob-store`. */
function isOf(client: string, name: string): boolean {
  return name === client || name.startsWith(`${client}/`) || name.startsWith(`${client}-`);
}

/** Returns all strings in a value, at any depth. */
function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

function concerns(client: string, value: Fault | TraceEvent): boolean {
  return stringsIn(value).some((name) => isOf(client, name));
}

/** Returns the targets of a fault; the lock service is shared and is not counted. */
function targetsOf(fault: Fault): readonly string[] {
  const { kind } = fault;
  if (kind === 'evict') return [fault.key];
  if (kind === 'partition' || kind === 'reset') return [fault.from, fault.to].flat();
  if ('process' in fault) return [fault.process];
  const { which } = fault;
  if (which.kind === 'message') return [which.message];
  if (which.kind === 'timer') return [which.timer];
  return which.kind === 'process' ? [which.process] : [which.from, which.to];
}

/** Returns true if a fault affects only the client and its own things. */
function affectsOnly(client: string, fault: Fault): boolean {
  const hit = targetsOf(fault).filter((name) => name !== 'lock');
  return hit.length > 0 && hit.every((name) => isOf(client, name));
}

const COUNTED: readonly string[] = [
  'token',
  'highest',
  'ordinal',
  'under',
  'extended',
  'released',
  'holderOrdinal',
];

/** Renders events as text, with tokens and ordinals numbered by first appearance. */
function eventLines(events: readonly TraceEvent[]): readonly string[] {
  const numbers = new Map<string, number>();
  const renumber = (kind: string, value: number): number => {
    if (value === 0) return 0;
    const name = `${kind} ${value}`;
    const number = numbers.get(name) ?? numbers.size + 1;
    numbers.set(name, number);
    return number;
  };
  return events.map((event) =>
    JSON.stringify(event, (key, value: unknown) => {
      if (key === 'index') return undefined;
      if (!COUNTED.includes(key) || typeof value !== 'number') return value;
      return renumber(key === 'token' || key === 'highest' ? 'token' : 'ordinal', value);
    }),
  );
}

function eventsBeside(trace: Trace, client: string): readonly TraceEvent[] {
  return trace.events.filter((event) => !concerns(client, event));
}

// A lagging replica of the lock service counts again from its old position, which depends on all
// clients. So a failover is the one fault that connects clients that share nothing.
const KINDS = ALL_KINDS.filter((kind) => kind !== 'failover');

test('removing a client does not change the events of independent clients', () => {
  let compared = 0;
  const plans = runnablePlans({ areApart: true, probe: false, kinds: KINDS });
  const several = plans.filter(({ clients }) => clients.length > 1);
  fc.assert(
    fc.property(several, fc.nat(3), (plan, choice) => {
      const client = plan.clients[choice % plan.clients.length]?.name ?? '';
      // A fault on another process at a point of this client would connect the two.
      const beside = plan.faults.filter((fault) => !concerns(client, fault));
      const clientFaults = plan.faults.filter((fault) => affectsOnly(client, fault));
      const clients = plan.clients.filter(({ name }) => name !== client);
      const extended: Plan = { ...plan, faults: [...beside, ...clientFaults] };
      const without: Plan = { ...plan, clients, faults: beside };
      const left = eventsBeside(run(without), client);
      expect(eventLines(left)).toEqual(eventLines(eventsBeside(run(extended), client)));
      compared += left.length;
    }),
    { seed: 1, numRuns: runs(300) },
  );
  expect(compared).toBeGreaterThan(runs(10_000));
});

test('removing a fault that did not fire does not change the trace', () => {
  let removed = 0;
  fc.assert(
    fc.property(runnablePlans(), (plan) => {
      const trace = run(plan);
      const fired = new Set(
        trace.events.map((event) => (event.kind === 'fault' ? event.index : null)),
      );
      const faults = plan.faults.filter((_, index) => fired.has(index));
      removed += plan.faults.length - faults.length;
      expect(digestOf(run({ ...plan, faults }))).toBe(digestOf(trace));
    }),
    { seed: 2, numRuns: runs(300) },
  );
  expect(removed).toBeGreaterThan(runs(50));
});
