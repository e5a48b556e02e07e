/** All numbers of a plan that shrinking may change: their values, ranges and setters. */

import type { RangeUs } from '../plan/duration.ts';
import {
  amountField,
  amountOf,
  type Fault,
  type FaultOf,
  instantOf,
  targetOf,
  withAmount,
  withInstant,
} from '../plan/fault.ts';
import { durationsOf } from '../plan/places.ts';
import type { Bounds, Plan, QueuePlan } from '../plan/plan.ts';
import { changeFault, changeQueue, changeSection } from './change.ts';

export type ParameterKind =
  | 'amount'
  | 'rate'
  | 'instant'
  | 'think'
  | 'compute'
  | 'latency'
  | 'decision'
  /** A number of items; not a time. */
  | 'count';

export interface Parameter {
  readonly kind: ParameterKind;
  /** Path in the plan, such as `faults[0].forUs` or `clients[1].sections[0].thinkUs`. */
  readonly path: string;
  /** Description for people, such as `pause of alice`. */
  readonly what: string;
  /** Microseconds, parts per million or a count, never negative. */
  readonly value: number;
  readonly range: RangeUs;
  /** The largest value below each gap in the range, in ascending order. */
  readonly lastBelowGaps?: readonly number[];
  /** Returns a plan with this number replaced. `plan` must have the shape of the original. */
  readonly write: (plan: Plan, value: number) => Plan;
}

/** Returns all parameters of `plan`, faults first. */
export function parametersOf(plan: Plan): readonly Parameter[] {
  return [
    ...faultParameters(plan),
    ...clientParameters(plan),
    ...queueParameters(plan),
    ...networkParameters(plan),
  ];
}

export function parameterAt(plan: Plan, path: string): Parameter | undefined {
  return parametersOf(plan).find((parameter) => parameter.path === path);
}

function faultParameters(plan: Plan): Parameter[] {
  return plan.faults.flatMap((fault, index) => {
    const found: Parameter[] = [];
    const target = targetOf(fault);
    const amount = amountOf(fault);
    if (amount !== null) {
      const ranges = amountRangesOf(fault, plan.bounds);
      const lastBelowGaps = ranges.slice(0, -1).map(({ maxUs }) => maxUs);
      const range = {
        minUs: ranges[0].minUs,
        maxUs: Math.max(...ranges.map(({ maxUs }) => maxUs)),
      };
      found.push({
        kind: 'amount',
        path: `faults[${index}].${amountField(fault.kind)?.name}`,
        what: fault.kind === 'clock' ? `clock step of ${target}` : `${fault.kind} of ${target}`,
        value: amount,
        ...(ranges.length === 1 ? { range } : { range, lastBelowGaps }),
        write: (to, value) => changeFault(to, index, (old) => withAmount(old, value)),
      });
    }
    if (fault.kind === 'clock' && fault.ratePpm !== 0) {
      found.push(rateParameter(fault, index, plan.bounds));
    }
    const instant = instantOf(fault);
    if (instant !== null) {
      found.push({
        kind: 'instant',
        path: `faults[${index}].atUs`,
        what: `instant of the ${fault.kind} of ${target}`,
        value: instant,
        range: { minUs: 0, maxUs: plan.limits.healAtUs },
        write: (to, value) => changeFault(to, index, (old) => withInstant(old, value)),
      });
    }
    return found;
  });
}

/** Returns the allowed ranges of a fault's amount. An unbounded amount may only shrink. */
export function amountRangesOf(fault: Fault, bounds: Bounds): readonly [RangeUs, ...RangeUs[]] {
  const amountUs = amountOf(fault) ?? 0;
  if (fault.kind === 'clock') return [{ minUs: 0, maxUs: bounds.skewUs ?? amountUs }];
  const [first = { minUs: 0, maxUs: amountUs }, ...more] = durationsOf(bounds, fault.kind);
  return [first, ...more];
}

function rateParameter(
  { process, ratePpm: rate }: FaultOf<'clock'>,
  index: number,
  { driftPpm }: Bounds,
): Parameter {
  const value = Math.abs(rate);
  return {
    kind: 'rate',
    path: `faults[${index}].ratePpm`,
    what: `clock rate of ${process}`,
    value,
    range: { minUs: 0, maxUs: driftPpm ?? value },
    write: (to, ppm) =>
      changeFault(to, index, (old) =>
        old.kind === 'clock' ? { ...old, ratePpm: ppm === 0 ? 0 : Math.sign(rate) * ppm } : old,
      ),
  };
}

/** Excludes the visibility time, because clients rely on it as on a ttl. */
function queueParameters({ queue }: Plan): Parameter[] {
  if (queue === undefined) return [];
  const messages = queue.messages.map(({ machine, steps, atUs }, at) => ({
    path: `queue.messages[${at}].atUs`,
    what: `instant of the message for step ${steps} of ${machine}`,
    value: atUs,
    changed: (old: QueuePlan, us: number) => ({
      ...old,
      messages: old.messages.map((message, place) =>
        place === at ? { ...message, atUs: us } : message,
      ),
    }),
  }));
  const copies = queue.copies.map(({ machine, steps, afterUs }, at) => ({
    path: `queue.copies[${at}].afterUs`,
    what: `delay of the copy of step ${steps} of ${machine}`,
    value: afterUs,
    changed: (old: QueuePlan, us: number) => ({
      ...old,
      copies: old.copies.map((copy, place) => (place === at ? { ...copy, afterUs: us } : copy)),
    }),
  }));
  const instants = [...messages, ...copies].map(
    ({ path, what, value, changed }): Parameter => ({
      kind: 'instant',
      path,
      what,
      value,
      range: { minUs: 0, maxUs: value },
      write: (to, us) => changeQueue(to, (old) => changed(old, us)),
    }),
  );
  return [...instants, ...queueCounts(queue)];
}

function queueCounts({ steps, retries, messages, copies }: QueuePlan): Parameter[] {
  const listed = [...messages, ...copies];
  const most = (numbers: readonly number[]): number => Math.max(0, ...numbers);
  return [
    {
      kind: 'count',
      path: 'queue.steps',
      what: 'steps of the queue',
      value: steps,
      range: { minUs: 1 + most(listed.map((entry) => entry.steps)), maxUs: steps },
      write: (to, value) => changeQueue(to, (old) => ({ ...old, steps: value })),
    },
    {
      kind: 'count',
      path: 'queue.retries',
      what: 'retries of the queue',
      value: retries,
      range: { minUs: most(listed.map((entry) => entry.retries)), maxUs: retries },
      write: (to, value) => changeQueue(to, (old) => ({ ...old, retries: value })),
    },
  ];
}

function clientParameters(plan: Plan): Parameter[] {
  return plan.clients.flatMap((client, at) =>
    client.sections.flatMap((section, place) => {
      const key = { client: client.name, section: section.id };
      const path = `clients[${at}].sections[${place}]`;
      const think: Parameter = {
        kind: 'think',
        path: `${path}.thinkUs`,
        what: `think time of ${client.name}/${section.id}`,
        value: section.thinkUs,
        range: plan.bounds.think,
        write: (to, thinkUs) => changeSection(to, key, (old) => ({ ...old, thinkUs })),
      };
      const computes = section.work.flatMap((step, index): Parameter[] => {
        if (step.kind !== 'compute' && step.kind !== 'transition') return [];
        const write = (to: Plan, forUs: number): Plan =>
          changeSection(to, key, (old) => ({
            ...old,
            work: old.work.map((work) =>
              work.kind === step.kind && work.id === step.id ? { ...work, forUs } : work,
            ),
          }));
        const what = `work of ${client.name}/${section.id}`;
        const range = { minUs: 0, maxUs: step.forUs };
        const value = step.forUs;
        return [
          { kind: 'compute', path: `${path}.work[${index}].forUs`, what, value, range, write },
        ];
      });
      return [think, ...computes];
    }),
  );
}

function networkParameters(plan: Plan): Parameter[] {
  const latency: Parameter = {
    kind: 'latency',
    path: 'network.latencyUs',
    what: 'latency',
    value: plan.network.latencyUs,
    range: plan.bounds.latency,
    write: (to, latencyUs) => ({ ...to, network: { ...to.network, latencyUs } }),
  };
  const timed = Object.entries(plan.decisions).filter(([name]) => !isStream(name));
  const decisions = timed.map(
    ([name, value]): Parameter => ({
      kind: 'decision',
      path: `decisions[${JSON.stringify(name)}]`,
      what: isWait(name) ? `wait of ${name}` : `latency of ${name}`,
      value,
      range: isWait(name) ? waitRange(plan, name, value) : plan.bounds.latency,
      write: (to, us) => ({ ...to, decisions: { ...to.decisions, [name]: us } }),
    }),
  );
  return [latency, ...decisions];
}

/** Returns true for the wait between two attempts, false for the latency of a message. */
export function isWait(name: string): boolean {
  return name.includes('/backoff');
}

/** Returns true for a decision that selects a stream of random numbers. */
export function isStream(name: string): boolean {
  return name.endsWith('/random');
}

/** The wait is at least the client's backoff, because jitter only extends a backoff. */
function waitRange(plan: Plan, name: string, value: number): RangeUs {
  const client = plan.clients.find((candidate) => name.startsWith(`${candidate.name}/`));
  return { minUs: Math.min(client?.backoffUs ?? value, value), maxUs: value };
}
