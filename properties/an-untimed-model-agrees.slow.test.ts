/**
 * Compares two searches for the orders and answers in which servers handle the calls of two
 * clients: ours, over every plan with at most two pauses and over seeds that draw more, and that of
 * a model below, which shares nothing with the simulator. The model has no time: a lease may end at
 * any moment, for the next client and for its holder. So the model must reach every result that
 * ours reaches. Ours must reach every result of the model, since a pause can be as long as needed,
 * unless a law of time forbids the result; that law is named here. Denials change nothing and are
 * left out, since a client may ask any number of times.
 */
import { expect, test } from 'vitest';
import { builtIn } from '../src/catalogue.ts';
import type { TraceEvent } from '../src/core/history/events.ts';
import type { Plan } from '../src/core/plan/plan.ts';
import { examineEither, watchAsync } from '../src/host/async/run-async.ts';
import { loadScenario } from '../src/load.ts';
import { expand } from '../src/scenario/expand.ts';
import type { Scenario } from '../src/scenario/scenario.ts';
import { countPlans, NumberedPlans } from '../src/search/exhaust/exhaust.ts';
import { narrowed } from '../src/search/exhaust/narrowed.ts';
import { runs } from './runs.ts';

interface Row {
  readonly store: 'unfenced' | 'fenced' | 'fenced-reads';
  readonly workload: 'blind-writes' | 'read-modify-write';
  /** Long enough for a section without faults. */
  readonly ttl: string;
  /** Number of swaps of tied events in the search. */
  readonly ties: number;
}

/** Number of seeds to draw, and the maximum while some results of the model are missing. */
const SEEDS = runs(10_000);
const MOST_SEEDS = 10_000;

const clients = ['alice', 'bob'] as const;

/** The next step of each client, the holder of the lock, and the contents of the store. */
interface State {
  readonly next: readonly ('take' | 'read' | 'write' | 'release' | 'end')[];
  readonly tokens: readonly number[];
  /** The value that each client has read. */
  readonly seen: readonly number[];
  readonly granted: number;
  /** Token of the latest grant that was not released; 0 if there is none. */
  readonly holder: number;
  /** The highest token that the store has seen. */
  readonly highest: number;
  readonly value: number;
  readonly handled: string;
}

function modelled(row: Row): ReadonlySet<string> {
  const first: State = {
    next: ['take', 'take'],
    tokens: [0, 0],
    seen: [0, 0],
    granted: 0,
    holder: 0,
    highest: 0,
    value: 0,
    handled: '',
  };
  const seen = new Map([[JSON.stringify(first), first]]);
  for (const state of seen.values()) {
    for (const to of stepsFrom(state, row)) seen.set(JSON.stringify(to), to);
  }
  const ended = [...seen.values()].filter(({ next }) => next.every((what) => what === 'end'));
  return new Set(ended.map(({ handled }) => handled.trim()));
}

function stepsFrom(state: State, { store, workload }: Row): readonly State[] {
  const { granted, holder, highest, tokens } = state;
  const counts = workload === 'read-modify-write';
  return clients.flatMap((client, at): readonly State[] => {
    const token = tokens[at] ?? 0;
    const isLate = store !== 'unfenced' && token < highest;
    const said = (next: State['next'][number], word: string): State => {
      const handled = `${state.handled} ${client}:${word}`;
      return { ...state, next: state.next.with(at, next), handled };
    };
    switch (state.next[at]) {
      case 'take': {
        const taken = { granted: granted + 1, holder: granted + 1 };
        const next = counts ? 'read' : 'write';
        // The lease of the current holder, if any, may be over.
        return [{ ...said(next, 'granted'), ...taken, tokens: tokens.with(at, granted + 1) }];
      }
      case 'read': {
        const registers = store === 'fenced-reads';
        if (registers && isLate) return [said('release', 'refused')];
        const served = said('write', `read-${state.value}`);
        const seen = state.seen.with(at, state.value);
        return [{ ...served, seen, highest: registers ? Math.max(highest, token) : highest }];
      }
      case 'write': {
        // A client that finds its lease over does not write, and releases the lock.
        const skips = { ...state, next: state.next.with(at, 'release' as const) };
        if (isLate) return [said('release', 'refused'), skips];
        const value = counts ? (state.seen[at] ?? 0) + 1 : 0;
        const written = said('release', counts ? `written-${value}` : 'written');
        return [{ ...written, value, highest: Math.max(highest, token) }, skips];
      }
      case 'release':
        if (holder !== token) return [said('end', 'late')];
        return [{ ...said('end', 'released'), holder: 0 }];
      default:
        return [];
    }
  });
}

/** The points of each client that a pause may precede, besides any other time. */
const POINTS = {
  'blind-writes': ['write', 'release'],
  'read-modify-write': ['read', 'write', 'release'],
} as const;

function scenarioOf({ store, workload, ttl }: Row, setting: string): Scenario {
  const text = `name: small
systems:
  ${store}: { lock: lock-service, store: ${store}, expect: { holds: [tokens-increase] } }
clients: { count: 2, ttl: ${ttl}, sections: 1, checksLease: true }
workload: { kind: ${workload} }
network: { latency: 1ms }
faults:
${setting}`;
  const read = loadScenario(text, 'small.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

async function searched(row: Row): Promise<Set<string>> {
  const scope = { faults: 2, ties: row.ties, clients: null, sections: null };
  const all = scenarioOf(row, '  - pause: { process: clients, for: 1ms..20ms }\n');
  const scenario = narrowed(all, scope);
  const { plans, blocks } = await countPlans(scenario, row.store, {
    catalogue: builtIn,
    watch: watchAsync,
  });
  const numbered = new NumberedPlans(scenario, row.store, blocks);
  const found = new Set<string>();
  for (let number = 0; number < plans; number += 1) {
    found.add(await classOf(numbered.planOf(number), row));
  }
  return found;
}

/** Adds the results of more pauses than the search can try: up to one at each point of a client. */
async function draw(row: Row, found: Set<string>, isComplete: () => boolean): Promise<void> {
  const points = POINTS[row.workload].map((point) => `before: ${point}, chance: 1/2`);
  const pauses = [...points, 'at: 0ms..30ms, chance: 1/4'].map(
    (where) => `  - pause: { process: clients, for: 1ms..20ms, ${where} }\n`,
  );
  const scenario = scenarioOf(row, pauses.join(''));
  for (let seed = 0; seed < SEEDS || (seed < MOST_SEEDS && !isComplete()); seed += 1) {
    found.add(await classOf(expand(scenario, row.store, seed), row));
  }
}

async function classOf(plan: Plan, { workload }: Row): Promise<string> {
  const { trace } = await examineEither(plan, [], builtIn);
  const words = trace.events.map((event) => wordOf(event, workload));
  return words.filter((word) => word !== '').join(' ');
}

/** Returns '' for an event that belongs to no class. */
function wordOf(event: TraceEvent, workload: Row['workload']): string {
  if (!('client' in event) || event.client === 'probe') return '';
  const said = (word: string): string => `${event.client}:${word}`;
  const valued = (word: string, value: unknown): string =>
    said(workload === 'blind-writes' ? word : `${word}-${value}`);
  if (event.kind === 'grant') return said('granted');
  if (event.kind === 'release') return said(event.released === 0 ? 'late' : 'released');
  if (event.kind !== 'read' && event.kind !== 'write') return '';
  if (!event.isAccepted) return said('refused');
  return valued(event.kind === 'read' ? 'read' : 'written', event.value);
}

/**
 * Returns true if a client writes although it read after the other one was granted the lock. Such a
 * client finds its lease over by its clock, which is exact and which it checks after the read, so
 * it does not write. The model has no clock.
 */
function testsInVain(handled: string): boolean {
  const words = handled.split(' ');
  return clients.some((client, at) => {
    const asked = words.findIndex((word) => word.startsWith(`${client}:read`));
    const grantedAt = words.indexOf(`${client}:granted`);
    const others = words.indexOf(`${clients[1 - at]}:granted`);
    const writes = words.some(
      (word, index) => index > asked && new RegExp(`^${client}:(?:written|refused)`).test(word),
    );
    return asked >= 0 && grantedAt < others && others < asked && writes;
  });
}

const rows: readonly Row[] = [
  { store: 'unfenced', workload: 'blind-writes', ttl: '3ms', ties: 1 },
  { store: 'fenced', workload: 'blind-writes', ttl: '3ms', ties: 1 },
  { store: 'fenced', workload: 'read-modify-write', ttl: '5ms', ties: 0 },
  { store: 'fenced-reads', workload: 'read-modify-write', ttl: '5ms', ties: 0 },
];

test.each(rows)(
  '$store, $workload: both searches reach the same results',
  { timeout: 240_000 },
  async (row) => {
    const model = modelled(row);
    const ours = await searched(row);
    const missing = (): readonly string[] =>
      [...model].filter((one) => !ours.has(one) && !testsInVain(one));
    await draw(row, ours, () => missing().length === 0);
    expect([...ours].filter((one) => !model.has(one))).toEqual([]);
    expect(missing()).toEqual([]);
    expect([...ours].filter(testsInVain)).toEqual([]);
  },
);
