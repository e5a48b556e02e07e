/**
 * Drops what a plan leaves to chance or fixes by name: the probe, latencies, the order of events at
 * one instant. Latencies go all at once under one constant if they can, then group by group.
 */
import type { Plan } from '../plan/plan.ts';
import { calmed, roundLatency } from './change.ts';
import { dropInChunks } from './chunks.ts';
import { clamp, rounderThan } from './round.ts';
import type { Pass, Search, Steps } from './search.ts';
import {
  withoutCopies,
  withoutDecisions,
  withoutMessages,
  withoutOrder,
  withoutProbe,
} from './without.ts';

export const dropChance: Pass = {
  name: 'drop chance',
  *run(search: Search): Steps<void> {
    yield* search.attempt({ ...search.current, chance: null });
  },
};

export const dropProbe: Pass = {
  name: 'drop the probe',
  *run(search: Search): Steps<void> {
    yield* search.attempt(withoutProbe(search.current));
  },
};

export const dropOrder: Pass = {
  name: 'drop order entries',
  *run(search: Search): Steps<void> {
    yield* dropInChunks(search, { list: (plan) => plan.order, without: withoutOrder });
  },
};

export const dropMessages: Pass = {
  name: 'drop messages of the queue',
  *run(search: Search): Steps<void> {
    yield* dropInChunks(search, {
      list: (plan) => plan.queue?.copies ?? [],
      without: withoutCopies,
    });
    yield* dropInChunks(search, {
      list: (plan) => plan.queue?.messages ?? [],
      without: withoutMessages,
    });
  },
};

export const calmLatencies: Pass = {
  name: 'calm latencies',
  *run(search: Search): Steps<void> {
    for (const latencyUs of constantsFor(search.current)) {
      if (yield* search.attempt(calmed(search.current, latencyUs))) return;
    }
  },
};

export const dropDecisions: Pass = {
  name: 'drop decisions',
  *run(search: Search): Steps<void> {
    const without = (plan: Plan, names: readonly string[]): Plan =>
      withLatencyInBounds(withoutDecisions(plan, names));
    yield* dropInChunks(search, { list: (plan) => Object.keys(plan.decisions), without });
  },
};

/** Messages that lose their own latency take the constant one, which nobody may have looked at. */
function withLatencyInBounds(plan: Plan): Plan {
  const latencyUs = clamp(plan.network.latencyUs, plan.bounds.latency);
  if (latencyUs === plan.network.latencyUs) return plan;
  return { ...plan, network: { ...plan.network, latencyUs } };
}

/** One latency for all messages: a round one near the present first, the ends of the range last. */
function constantsFor(plan: Plan): readonly number[] {
  const { latency } = plan.bounds;
  const sorted = Object.values(plan.decisions).sort((a, b) => a - b);
  const medianUs = sorted[Math.floor(sorted.length / 2)] ?? plan.network.latencyUs;
  const inside = clamp(medianUs, latency);
  const roundMedian = rounderThan(inside, latency)[0] ?? inside;
  const present = clamp(plan.network.latencyUs, latency);
  return [...new Set([roundLatency(plan), present, roundMedian, latency.minUs, latency.maxUs])];
}
