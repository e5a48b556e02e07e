/**
 * The numbers of a plan that a reader may turn on the page, and how a plan looks with them turned:
 * how much of each fault, the ttl, the latency, one message's delay, and the store.
 */
import type { Fault } from '../core/plan/fault.ts';
import type { ClientPlan, Plan } from '../core/plan/plan.ts';
import { parametersOf } from '../core/shrink/parameter.ts';

/** One duration that can be turned. */
export interface Knob {
  /** Tells it from the other knobs of its plan. */
  readonly id: string;
  /** For people, e.g. `pause of bob`. */
  readonly what: string;
  readonly valueUs: number;
  readonly write: (plan: Plan, us: number) => Plan;
}

/** What a reader chose. */
export interface Turned {
  /** By the knob's id, in microseconds; one that is absent stays. */
  readonly durations: ReadonlyMap<string, number>;
  readonly store: string;
  /** A message's name and how much later it arrives; '' for none. */
  readonly message: string;
  readonly lateUs: number;
}

const MOST_FAULTS = 4;
const MOST_TTLS = 3;

/** The knobs of a plan, those of its faults first. */
export function knobsOf(plan: Plan): readonly Knob[] {
  const amounts = parametersOf(plan)
    .filter(({ kind }) => kind === 'amount')
    .slice(0, MOST_FAULTS)
    .map(({ path, what, value, write }) => ({ id: path, what, valueUs: value, write }));
  return [...amounts, ...ttlKnobs(plan), latencyKnob(plan)];
}

function ttlKnobs(plan: Plan): readonly Knob[] {
  const ttls = [...new Set(plan.clients.map(({ ttlUs }) => ttlUs))];
  return ttls.slice(0, MOST_TTLS).map((valueUs) => {
    const names = plan.clients.filter(({ ttlUs }) => ttlUs === valueUs).map(({ name }) => name);
    const write = (to: Plan, us: number): Plan => ({
      ...to,
      clients: to.clients.map((client) =>
        names.includes(client.name) ? withTtl(client, valueUs, us) : client,
      ),
    });
    return { id: `ttl ${names.join(' ')}`, what: `ttl of ${names.join(', ')}`, valueUs, write };
  });
}

/** A lease that is renewed for as long as it was taken stays so. */
function withTtl(client: ClientPlan, fromUs: number, us: number): ClientPlan {
  const ttlUs = Math.max(1, us);
  const sections = client.sections.map((section) => ({
    ...section,
    work: section.work.map((step) =>
      step.kind === 'renew' && step.ttlUs === fromUs ? { ...step, ttlUs } : step,
    ),
  }));
  return { ...client, ttlUs, sections };
}

function latencyKnob({ network }: Plan): Knob {
  return {
    id: 'latency',
    what: 'latency of every message',
    valueUs: network.latencyUs,
    write: (to, latencyUs) => ({ ...to, network: { ...to.network, latencyUs } }),
  };
}

/** The plan as a reader turned it. It expects nothing, since nobody has judged it. */
export function turn(plan: Plan, { durations, store, message, lateUs }: Turned): Plan {
  let turned = plan;
  for (const { id, write } of knobsOf(plan)) {
    const us = durations.get(id);
    if (us !== undefined) turned = write(turned, us);
  }
  const delay: Fault = { kind: 'delay', which: { kind: 'message', message }, byUs: lateUs };
  const faults = message === '' || lateUs === 0 ? turned.faults : [...turned.faults, delay];
  const { expect: _, ...rest } = turned;
  return { ...rest, faults, system: { ...turned.system, store } };
}
