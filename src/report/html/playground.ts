/**
 * The playground: a reader changes the numbers of a plan on the page, and the page runs the plan
 * again. This file defines the knobs (the amount of each fault, the ttl, the latency, the delay of
 * one message, and the store) and applies them. `playground-controls.ts` renders the controls, and
 * is not part of a report's script.
 */
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan, Plan } from '../../core/plan/plan.ts';
import { parametersOf } from '../../core/shrink/parameter.ts';
import { element, type Markup } from '../../text/markup.ts';

/** A duration that can be changed. */
export interface Knob {
  /** Unique among the knobs of a plan. */
  readonly id: string;
  /** A description such as `pause of bob`. */
  readonly what: string;
  readonly valueUs: number;
  readonly write: (plan: Plan, us: number) => Plan;
}

/** The choices of a reader. */
export interface Turned {
  /** In microseconds, by id of the knob. Absent knobs keep their values. */
  readonly durations: ReadonlyMap<string, number>;
  readonly store: string;
  /** The name of a message to delay, or '' for none. `lateUs` is the delay. */
  readonly message: string;
  readonly lateUs: number;
}

const MOST_FAULTS = 4;
const MOST_TTLS = 3;

/** Returns the knobs of a plan. The knobs for its faults come first. */
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

/** A renewal for the original ttl changes, too. */
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

/** Applies a reader's choices to a plan. The new plan was never judged, so it expects nothing. */
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

/** Renders the text that replaces the controls. `why` is a clause. */
export function renderNoTry(why: string): Markup {
  const text = `This run cannot be tried with other numbers on this page: ${why}.`;
  return element('p', { class: 'faint', 'data-no-try': '' }, text);
}
