/**
 * Drops faults; and where two are needed as they are, tries whether one of them, as strong as its
 * bounds allow, does the work of both. Its amount is lowered again by a later pass.
 */
import type { Fault } from '../plan/fault.ts';
import type { Plan } from '../plan/plan.ts';
import { dropInChunks } from './chunks.ts';
import { amountOf, withAmount } from './fault-number.ts';
import type { Pass, Search, Steps } from './search.ts';
import { withoutFaults } from './without.ts';

/** With more faults than this, not every pair is tried. */
const MAX_PAIRED = 5;

export const dropFaults: Pass = {
  name: 'drop faults',
  *run(search: Search): Steps<void> {
    yield* dropInChunks(search, { list: (plan) => plan.faults, without: withoutFaults });
  },
};

export const mergeFaults: Pass = {
  name: 'replace faults by one of them',
  *run(search: Search): Steps<void> {
    for (const fault of search.current.faults) {
      if (search.current.faults.length < 2) return;
      const others = search.current.faults.filter((other) => other !== fault);
      const groups =
        others.length > MAX_PAIRED ? [others] : [others, ...others.map((one) => [one])];
      for (const gone of groups) {
        if (!search.current.faults.includes(fault)) break;
        yield* search.attempt(strengthened(withoutFaults(search.current, gone), fault));
      }
    }
  },
};

function strengthened(plan: Plan, fault: Fault): Plan {
  const amountUs = amountOf(fault);
  const range = fault.kind === 'clock' ? undefined : plan.bounds.durations[fault.kind];
  if (amountUs === null || range === undefined || amountUs >= range.maxUs) return plan;
  const stronger = withAmount(fault, range.maxUs);
  return { ...plan, faults: plan.faults.map((one) => (one === fault ? stronger : one)) };
}

export const narrowPartitions: Pass = {
  name: 'narrow partitions',
  *run(search: Search): Steps<void> {
    yield* dropInChunks(search, { list: partitionMembers, without: withoutMembers });
  },
};

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

/** A group that would be empty stays as it is: dropping the fault is another pass's business. */
function withoutMembers(plan: Plan, members: readonly Member[]): Plan {
  const faults = plan.faults.map((fault, index) => {
    if (fault.kind !== 'partition') return fault;
    const keep = (side: 'from' | 'to'): readonly string[] => {
      const gone = members.filter((one) => one.fault === index && one.side === side);
      const left = fault[side].filter((name) => !gone.some(({ process }) => process === name));
      return left.length > 0 ? left : fault[side];
    };
    return { ...fault, from: keep('from'), to: keep('to') };
  });
  return { ...plan, faults };
}
