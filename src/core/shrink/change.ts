/** Plans with one piece replaced; everything else is shared with the plan they were made from. */
import type { Fault } from '../plan/fault.ts';
import type { ClientPlan, Plan, RangeUs, SectionPlan, Work } from '../plan/plan.ts';
import { clamp, rounderThan } from './round.ts';

/** A section's place in a plan. Ids are unique among the sections of one client. */
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

/** The plan in which every message takes `latencyUs` one way and nothing is decided by name. */
export function calmed(plan: Plan, latencyUs: number): Plan {
  return { ...plan, network: { ...plan.network, latencyUs }, decisions: {} };
}

/** A round latency inside the plan's bounds, near its constant one. */
export function roundLatency(plan: Plan): number {
  const range: RangeUs = plan.bounds.latency;
  const latencyUs = clamp(plan.network.latencyUs, range);
  return rounderThan(latencyUs, range)[0] ?? latencyUs;
}
