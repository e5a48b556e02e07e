/**
 * Derives plans from another plan by replacing or removing a piece. Faults, decisions and order
 * entries that name a removed piece are also removed, because they would match nothing. Ids are
 * kept, so other names stay valid.
 */

import type { RangeUs } from '../plan/duration.ts';
import { amountOf, type Fault, placeNamed, processesNamed, withAmount } from '../plan/fault.ts';
import { type PlacedSection, sectionPointsOf, timersOf } from '../plan/operation-names.ts';
import { durationsOf, lengthIn } from '../plan/places.ts';
import {
  type Bounds,
  type ClientPlan,
  machinesOf,
  type Plan,
  type QueuePlan,
  type SectionPlan,
  type StepOfMachine,
  type Work,
} from '../plan/plan.ts';
import { clamp, rounderThan } from './round.ts';

/** Identifies a section of a plan. Section ids are unique per client. */
export interface SectionKey {
  readonly client: string;
  readonly section: number;
}

export function changeClient(
  plan: Plan,
  name: string,
  change: (client: ClientPlan) => ClientPlan,
): Plan {
  const clients = plan.clients.map((client) => (client.name === name ? change(client) : client));
  return { ...plan, clients };
}

export function changeSection(
  plan: Plan,
  key: SectionKey,
  change: (section: SectionPlan) => SectionPlan,
): Plan {
  return changeClient(plan, key.client, (client) => ({
    ...client,
    sections: client.sections.map((section) =>
      section.id === key.section ? change(section) : section,
    ),
  }));
}

export function changeWork(plan: Plan, change: (work: Work) => Work): Plan {
  const clients = plan.clients.map((client) => ({
    ...client,
    sections: client.sections.map((section) => ({ ...section, work: section.work.map(change) })),
  }));
  return { ...plan, clients };
}

export function changeFault(plan: Plan, index: number, change: (fault: Fault) => Fault): Plan {
  return {
    ...plan,
    faults: plan.faults.map((fault, at) => (at === index ? change(fault) : fault)),
  };
}

/** Returns the fault with length `us`, as far as the bounds allow. Clock faults have no length. */
export function asLongAs(us: number, fault: Fault, bounds: Bounds): Fault {
  const ranges = fault.kind === 'clock' ? [] : durationsOf(bounds, fault.kind);
  const stays = ranges.length === 0 || amountOf(fault) === null;
  return stays ? fault : withAmount(fault, lengthIn(ranges, us));
}

/** Returns the plan with a latency of `latencyUs` for all messages, and without decisions. */
export function calmed(plan: Plan, latencyUs: number): Plan {
  return { ...plan, network: { ...plan.network, latencyUs }, decisions: {} };
}

/** Returns a round latency within the plan's bounds, near its constant latency. */
export function roundLatency(plan: Plan): number {
  const range: RangeUs = plan.bounds.latency;
  const latencyUs = clamp(plan.network.latencyUs, range);
  return rounderThan(latencyUs, range)[0] ?? latencyUs;
}

export function sectionKeys(plan: Plan): readonly SectionKey[] {
  return plan.clients.flatMap((client) =>
    client.sections.map((section) => ({ client: client.name, section: section.id })),
  );
}

export function workKeys(plan: Plan): readonly WorkKey[] {
  return plan.clients.flatMap((client) =>
    client.sections.flatMap((section) =>
      section.work.map((work) => ({ client: client.name, section: section.id, work: work.id })),
    ),
  );
}

export interface WorkKey extends SectionKey {
  readonly work: number;
}

/** Removes clients, unless none would remain to run. */
export function withoutClients(plan: Plan, names: readonly string[]): Plan {
  const clients = plan.clients.filter((client) => !names.includes(client.name));
  if (clients.length === 0) return plan;
  return withoutNames(withoutUnreceived({ ...plan, clients }), names);
}

/**
 * Removes sections. A client that would lose all its sections keeps one: the first that a fault
 * names, or else its first.
 */
export function withoutSections(plan: Plan, keys: readonly SectionKey[]): Plan {
  const gone: string[] = [];
  const clients = plan.clients.map((client) => {
    const ids = keys.filter((key) => key.client === client.name).map((key) => key.section);
    const rest = client.sections.filter((section) => !ids.includes(section.id));
    const sections = rest.length > 0 ? rest : client.sections.slice(...chosenSection(plan, client));
    for (const { id } of client.sections) {
      if (!sections.some((section) => section.id === id)) gone.push(`${client.name}/${id}`);
    }
    return { ...client, sections };
  });
  return withoutNames(withoutUnreceived({ ...plan, clients }), gone);
}

/** Returns the range, for `slice`, of the one section that a client keeps. */
function chosenSection(plan: Plan, client: ClientPlan): readonly [number, number] {
  const named = client.sections.findIndex(({ id }) =>
    plan.faults.some((fault) => isUnder(placeNamed(fault), `${client.name}/${id}`)),
  );
  const at = Math.max(named, 0);
  return [at, at + 1];
}

/** Removes messages that no section can receive, since their machine's last section is gone. */
function withoutUnreceived(plan: Plan): Plan {
  const machines = machinesOf(plan);
  const isReceived = ({ machine }: StepOfMachine): boolean => machines.has(machine);
  return changeQueue(plan, ({ messages, copies, ...queue }) => ({
    ...queue,
    messages: messages.filter(isReceived),
    copies: copies.filter(isReceived),
  }));
}

/** Removes messages or copies from the queue, identified by reference. */
export function withoutQueued<List extends 'messages' | 'copies'>(
  plan: Plan,
  list: List,
  gone: QueuePlan[List],
): Plan {
  return changeQueue(plan, (queue) => ({
    ...queue,
    [list]: queue[list].filter((entry) => !gone.some((other) => other === entry)),
  }));
}

export function changeQueue(plan: Plan, change: (queue: QueuePlan) => QueuePlan): Plan {
  return plan.queue === undefined ? plan : { ...plan, queue: change(plan.queue) };
}

export function withoutWork(plan: Plan, keys: readonly WorkKey[]): Plan {
  let next = plan;
  const gone: string[] = [];
  for (const key of keys) {
    next = changeClient(next, key.client, (client) => ({
      ...client,
      sections: client.sections.map((section) => {
        if (section.id !== key.section) return section;
        const rest = { ...section, work: section.work.filter((work) => work.id !== key.work) };
        const { store } = plan.system;
        const left = namesOf({ client, section: rest, store });
        const names = namesOf({ client, section, store });
        gone.push(...names.filter((name) => !left.includes(name)));
        return rest;
      }),
    }));
  }
  return withoutNames(next, gone);
}

function namesOf(at: PlacedSection): readonly string[] {
  return [...sectionPointsOf(at).map(({ point }) => point), ...timersOf(at)];
}

export function withoutFaults(plan: Plan, faults: readonly Fault[]): Plan {
  return { ...plan, faults: plan.faults.filter((fault) => !faults.includes(fault)) };
}

export function withoutDecisions(plan: Plan, names: readonly string[]): Plan {
  const gone = new Set(names);
  const kept = Object.entries(plan.decisions).filter(([name]) => !gone.has(name));
  return { ...plan, decisions: Object.fromEntries(kept) };
}

export function withoutOrder(plan: Plan, names: readonly string[]): Plan {
  return { ...plan, order: plan.order.filter((name) => !names.includes(name)) };
}

export function withoutProbe(plan: Plan): Plan {
  return withoutNames({ ...plan, limits: { ...plan.limits, probe: false } }, ['probe']);
}

/** Removes faults, decisions and order entries that name anything in `gone` or below it. */
function withoutNames(plan: Plan, gone: readonly string[]): Plan {
  if (gone.length === 0) return plan;
  const isGone = (name: string): boolean => gone.some((prefix) => isUnder(name, prefix));
  return {
    ...plan,
    faults: plan.faults.flatMap((fault) => withoutProcesses(fault, isGone)),
    decisions: Object.fromEntries(Object.entries(plan.decisions).filter(([name]) => !isGone(name))),
    order: plan.order.filter((name) => !isGone(name)),
  };
}

/** Returns the fault without the processes that are gone, or nothing if it needs one of them. */
function withoutProcesses(fault: Fault, isGone: (name: string) => boolean): readonly Fault[] {
  if (isGone(placeNamed(fault))) return [];
  if (fault.kind !== 'partition') {
    return processesNamed(fault).flat().some(isGone) ? [] : [fault];
  }
  const from = fault.from.filter((name) => !isGone(name));
  const to = fault.to.filter((name) => !isGone(name));
  return from.length > 0 && to.length > 0 ? [{ ...fault, from, to }] : [];
}

function isUnder(name: string, prefix: string): boolean {
  return name === prefix || name.startsWith(`${prefix}/`);
}
