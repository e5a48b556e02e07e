/**
 * Resets the times of a plan. After a removal, the rest often breaks the claim only at other times.
 * One pass therefore removes a piece and resets all times: faults last as long as the bounds allow,
 * one client starts first, and the others start after its lease. Another pass tries the shape of
 * nearly all lock bugs: a section with a fault, and a section of another client that begins during
 * or soon after the first lease. Later passes shorten the times.
 */
import type { Plan } from '../plan/plan.ts';
import {
  asLongAs,
  calmed,
  roundLatency,
  type SectionKey,
  sectionKeys,
  withoutClients,
  withoutFaults,
  withoutSections,
  withoutWork,
  workKeys,
} from './change.ts';
import { clamp } from './round.ts';
import { type Pass, type Search, type Steps, tryingEach } from './search.ts';

/** Maximum number of pieces. Larger plans are left to simpler passes. */
const MAX_PIECES = 32;

export const dropAndRetime: Pass = {
  name: 'drop one piece and set all times again',
  *run(search: Search): Steps<void> {
    const { clients, faults } = search.current;
    const size = clients.length + faults.length + workKeys(search.current).length;
    if (size > MAX_PIECES) return;
    yield* search.attemptFirst(smallerByOne(search.current).flatMap(retimings));
  },
};

export const retime: Pass = tryingEach('set all times again', (plan) =>
  plan.clients.map(({ name }) => ledBy(plan, name, 0)),
);

function smallerByOne(plan: Plan): readonly Plan[] {
  const calm = calmed(plan, roundLatency(plan));
  return [
    ...plan.faults.map((fault) => withoutFaults(plan, [fault])),
    ...plan.clients.map(({ name }) => withoutClients(plan, [name])),
    ...sectionKeys(plan).map((key) => withoutSections(plan, [key])),
    ...workKeys(plan).map((key) => withoutWork(plan, [key])),
    ...(Object.keys(plan.decisions).length > 0 ? [calm] : []),
    ...(plan.order.length > 0 ? [{ ...plan, order: [] }] : []),
  ].filter((smaller) => smaller !== plan);
}

function retimings(plan: Plan): readonly Plan[] {
  const strong = withAllAmounts(plan, Number.POSITIVE_INFINITY);
  const names = plan.clients.map(({ name }) => name);
  const marginUs = Math.floor(Math.max(0, ...plan.clients.map(({ ttlUs }) => ttlUs)) / 10);
  // Try the longest latency too if the plan depends on the exact instants of events.
  const isDelicate = plan.order.length > 0 || Object.keys(plan.decisions).length > 0;
  const latencies = [roundLatency(plan), ...(isDelicate ? [plan.bounds.latency.maxUs] : [])];
  const led = [...new Set(latencies)].flatMap((latencyUs) => {
    const calm = calmed(strong, latencyUs);
    return names.flatMap((name) => [
      ledBy(calm, name, marginUs),
      ...(plan.order.length > 0 ? [tiedWith(ledBy(calm, name, 0), name)] : []),
    ]);
  });
  return [strong, ...led];
}

/** Puts the other clients' first acquires before the leader's events of the same instant. */
function tiedWith(plan: Plan, leader: string): Plan {
  const order = plan.clients.flatMap(({ name, sections: [first] }) =>
    name === leader || first === undefined ? [] : [`${name}/${first.id}/acquire/1/request`],
  );
  return { ...plan, order };
}

function withAllAmounts(plan: Plan, us: number): Plan {
  return { ...plan, faults: plan.faults.map((fault) => asLongAs(us, fault, plan.bounds)) };
}

function ledBy(plan: Plan, leader: string, marginUs: number): Plan {
  const ttlUs = plan.clients.find(({ name }) => name === leader)?.ttlUs ?? 0;
  return followedAfter(plan, leader, ttlUs + marginUs);
}

function followedAfter(plan: Plan, leader: string, waitUs: number): Plan {
  const { think } = plan.bounds;
  const clients = plan.clients.map((client) => {
    const [first, ...rest] = client.sections;
    if (first === undefined) return client;
    const thinkUs = client.name === leader ? think.minUs : clamp(waitUs, think);
    return { ...client, sections: [{ ...first, thinkUs }, ...rest] };
  });
  return { ...plan, clients };
}

/** Maximum number of sections. Larger plans are left to simpler passes. */
const MAX_SECTIONS = 8;

export const keepTwoSections: Pass = {
  name: 'keep two sections',
  *run(search: Search): Steps<void> {
    const keys = sectionKeys(search.current);
    const { faults, decisions } = search.current;
    const isBare = keys.length <= 2 && faults.length <= 1 && Object.keys(decisions).length === 0;
    if (isBare || keys.length > MAX_SECTIONS) return;
    for (const first of keys) {
      for (const second of keys) {
        if (first.client === second.client) continue;
        if (yield* search.attemptFirst(duels(search.current, first, second))) return;
      }
    }
  },
};

/** Returns plans of the two sections alone, with several distances and fault lengths. */
function duels(plan: Plan, first: SectionKey, second: SectionKey): readonly Plan[] {
  const pair = onlySections(plan, [first, second]);
  const latencyUs = roundLatency(pair);
  const ttlUs = pair.clients.find(({ name }) => name === first.client)?.ttlUs ?? 0;
  const waitsUs = [ttlUs + Math.floor(ttlUs / 10), Math.floor(ttlUs / 2), 2 * ttlUs];
  return waitsUs.flatMap((waitUs) => {
    const timed = followedAfter(calmed(pair, latencyUs), first.client, waitUs);
    // Just long enough that a delayed message arrives after the second section's first access.
    const just = Math.max(0, waitUs - latencyUs);
    const alone = timed.faults.map((fault) => ({ ...timed, faults: [fault] }));
    return [timed, ...(alone.length < 2 ? [] : alone)].flatMap((candidate) => [
      withAllAmounts(candidate, Number.POSITIVE_INFINITY),
      withAllAmounts(candidate, just),
    ]);
  });
}

function onlySections(plan: Plan, kept: readonly SectionKey[]): Plan {
  const names = kept.map(({ client }) => client);
  const others = plan.clients.map(({ name }) => name).filter((name) => !names.includes(name));
  const rest = withoutClients(plan, others);
  const gone = sectionKeys(rest).filter(
    (key) => !kept.some(({ client, section }) => client === key.client && section === key.section),
  );
  return withoutSections(rest, gone);
}
