/**
 * The passes that remove pieces, mostly in chunks: all items of a list, then halves, and so on down
 * to single items (the sizes of Zeller's delta debugging). A removal can change when the rest runs.
 * Some passes therefore also make the latencies constant, or delay the next section. One fault,
 * made stronger, may replace several.
 */
import { amountOf, type Fault } from '../plan/fault.ts';
import type { Plan } from '../plan/plan.ts';
import {
  asLongAs,
  calmed,
  changeSection,
  roundLatency,
  type SectionKey,
  sectionKeys,
  withoutClients,
  withoutDecisions,
  withoutFaults,
  withoutOrder,
  withoutProbe,
  withoutQueued,
  withoutSections,
  withoutWork,
  workKeys,
} from './change.ts';
import { clamp, rounderThan } from './round.ts';
import { type Pass, type Search, type Steps, tryingEach } from './search.ts';

interface Droppable<Item> {
  readonly list: (plan: Plan) => readonly Item[];
  /** Returns `plan` without `items`, or an equal plan if they cannot be removed. */
  readonly without: (plan: Plan, items: readonly Item[]) => Plan;
}

function dropping<Item>(name: string, droppable: Droppable<Item>): Pass {
  return { name, run: (search) => dropInChunks(search, droppable) };
}

/** If this accepts no candidate, no single item of the current plan can be removed. */
function* dropInChunks<Item>(search: Search, { list, without }: Droppable<Item>): Steps<void> {
  for (let size = list(search.current).length; size >= 1; size = Math.floor(size / 2)) {
    let start = 0;
    for (;;) {
      const chunk = list(search.current).slice(start, start + size);
      if (chunk.length === 0) break;
      // The next items have moved up, so `start` stays.
      if (!(yield* search.attempt(without(search.current, chunk)))) start += size;
    }
  }
}

/** Removing a client makes the others run earlier, so constant latencies are tried as well. */
export const dropClients: Pass = {
  name: 'drop clients',
  *run(search: Search): Steps<void> {
    const names = (): readonly string[] => search.current.clients.map((client) => client.name);
    yield* dropInChunks(search, { list: names, without: withoutClients });
    for (const name of names()) {
      const rest = withoutClients(search.current, [name]);
      if (rest === search.current) continue;
      yield* search.attempt(calmed(rest, roundLatency(rest)));
    }
  },
};

/** Maximum number of other faults that are also removed one by one. */
const MAX_PAIRED = 5;

export const dropFaults: Pass = dropping('drop faults', {
  list: (plan) => plan.faults,
  without: withoutFaults,
});

export const mergeFaults: Pass = {
  name: 'replace faults by one of them',
  *run(search: Search): Steps<void> {
    for (const fault of search.current.faults) {
      if (search.current.faults.length < 2) return;
      const others = search.current.faults.filter((other) => other !== fault);
      const groups =
        others.length > MAX_PAIRED ? [others] : [others, ...others.map((other) => [other])];
      for (const gone of groups) {
        if (!search.current.faults.includes(fault)) break;
        yield* search.attempt(strengthened(withoutFaults(search.current, gone), fault));
      }
    }
  },
};

function strengthened(plan: Plan, fault: Fault): Plan {
  const stronger = asLongAs(Number.POSITIVE_INFINITY, fault, plan.bounds);
  if ((amountOf(stronger) ?? 0) <= (amountOf(fault) ?? 0)) return plan;
  return { ...plan, faults: plan.faults.map((other) => (other === fault ? stronger : other)) };
}

export const narrowPartitions: Pass = dropping('narrow partitions', {
  list: partitionMembers,
  without: withoutMembers,
});

interface Member {
  readonly fault: number;
  readonly side: 'from' | 'to';
  readonly process: string;
}

function partitionMembers(plan: Plan): readonly Member[] {
  return plan.faults.flatMap((fault, index): Member[] => {
    if (fault.kind !== 'partition') return [];
    const from = fault.from.map((process) => ({ fault: index, side: 'from' as const, process }));
    const to = fault.to.map((process) => ({ fault: index, side: 'to' as const, process }));
    return [...from, ...to];
  });
}

/** Never empties a side: `dropFaults` removes the partition itself. */
function withoutMembers(plan: Plan, members: readonly Member[]): Plan {
  const faults = plan.faults.map((fault, index) => {
    if (fault.kind !== 'partition') return fault;
    const keep = (side: 'from' | 'to'): readonly string[] => {
      const gone = members.filter((member) => member.fault === index && member.side === side);
      const left = fault[side].filter((name) => !gone.some(({ process }) => process === name));
      return left.length > 0 ? left : fault[side];
    };
    return { ...fault, from: keep('from'), to: keep('to') };
  });
  return { ...plan, faults };
}

export const dropSections: Pass = {
  name: 'drop sections',
  *run(search: Search): Steps<void> {
    yield* dropInChunks(search, { list: sectionKeys, without: withoutSections });
    for (const key of sectionKeys(search.current)) {
      const rest = withoutSections(search.current, [key]);
      yield* search.attemptFirst(withLaterNext(search.current, rest, key));
    }
  },
};

export const dropWork: Pass = dropping('drop steps of work', {
  list: workKeys,
  without: withoutWork,
});

/** Returns variants of `rest`, which is `plan` without section `key`. */
function withLaterNext(plan: Plan, rest: Plan, key: SectionKey): readonly Plan[] {
  const client = plan.clients.find(({ name }) => name === key.client);
  const at = client?.sections.findIndex(({ id }) => id === key.section) ?? -1;
  const gone = client?.sections[at];
  const next = client?.sections[at + 1];
  if (client === undefined || gone === undefined) return [];
  const calm = calmed(rest, roundLatency(rest));
  if (next === undefined) return [calm];
  const { think } = plan.bounds;
  const later = [gone.thinkUs + next.thinkUs, gone.thinkUs + next.thinkUs + client.ttlUs];
  const thinks = new Set([...later, think.maxUs].map((us) => clamp(us, think)));
  const nextKey = { client: key.client, section: next.id };
  const delayed = [...thinks].map((thinkUs) =>
    changeSection(rest, nextKey, (section) => ({ ...section, thinkUs })),
  );
  return [...delayed, calm];
}

export const dropChance: Pass = tryingEach('drop chance', (plan) => [{ ...plan, chance: null }]);

export const dropProbe: Pass = tryingEach('drop the probe', (plan) => [withoutProbe(plan)]);

export const dropOrder: Pass = dropping('drop order entries', {
  list: (plan) => plan.order,
  without: withoutOrder,
});

export const dropMessages: Pass = {
  name: 'drop messages of the queue',
  *run(search: Search): Steps<void> {
    yield* dropInChunks(search, {
      list: ({ queue }) => queue?.copies ?? [],
      without: (plan, gone) => withoutQueued(plan, 'copies', gone),
    });
    yield* dropInChunks(search, {
      list: ({ queue }) => queue?.messages ?? [],
      without: (plan, gone) => withoutQueued(plan, 'messages', gone),
    });
  },
};

export const calmLatencies: Pass = tryingEach('calm latencies', (plan) =>
  constantsFor(plan).map((latencyUs) => calmed(plan, latencyUs)),
);

export const dropDecisions: Pass = dropping('drop decisions', {
  list: (plan) => Object.keys(plan.decisions),
  without: (plan, names) => withLatencyInBounds(withoutDecisions(plan, names)),
});

/** Messages without a decision use the constant latency, which may be out of bounds. */
function withLatencyInBounds(plan: Plan): Plan {
  const latencyUs = clamp(plan.network.latencyUs, plan.bounds.latency);
  if (latencyUs === plan.network.latencyUs) return plan;
  return { ...plan, network: { ...plan.network, latencyUs } };
}

function constantsFor(plan: Plan): readonly number[] {
  const { latency } = plan.bounds;
  const sorted = Object.values(plan.decisions).sort((a, b) => a - b);
  const medianUs = sorted[Math.floor(sorted.length / 2)] ?? plan.network.latencyUs;
  const inside = clamp(medianUs, latency);
  const roundMedian = rounderThan(inside, latency)[0] ?? inside;
  const present = clamp(plan.network.latencyUs, latency);
  return [...new Set([roundLatency(plan), present, roundMedian, latency.minUs, latency.maxUs])];
}
