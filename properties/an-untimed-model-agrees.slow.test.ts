/**
 * What the servers of a small zombie handle, in which order and with which answer, by two
 * searches: ours, over every plan with at most two pauses and one swap of tied events, and that of
 * a model below that shares nothing with the simulator. The model knows no time: a lease may be
 * over at any moment, for whoever asks next and for its holder. So what ours reaches the model must
 * reach; and what the model reaches ours must reach, as a pause can be as long as it has to be.
 * Denials change nothing and are left out, as a client may ask any number of times.
 */
import { describe, expect, test } from 'vitest';
import { builtIn } from '../src/catalogue.ts';
import type { TraceEvent } from '../src/core/history/trace.ts';
import { examineEither } from '../src/host/async/run-async.ts';
import { loadScenario } from '../src/load.ts';
import { countPlans, NumberedPlans } from '../src/search/exhaust/exhaust.ts';
import { narrowed } from '../src/search/exhaust/narrowed.ts';

type Store = 'unfenced' | 'fenced';
const clients = ['alice', 'bob'] as const;

/** Per client, what it does next; who holds the lock; the greatest token that the store saw. */
interface State {
  readonly next: readonly ('take' | 'write' | 'release' | 'end')[];
  readonly tokens: readonly number[];
  readonly granted: number;
  /** Whose lease was granted last and not given back, by its token; 0 where it is nobody's. */
  readonly holder: number;
  readonly highest: number;
  readonly handled: string;
}

function modelled(store: Store): ReadonlySet<string> {
  const first: State = {
    next: ['take', 'take'],
    tokens: [0, 0],
    granted: 0,
    holder: 0,
    highest: 0,
    handled: '',
  };
  const seen = new Map([[JSON.stringify(first), first]]);
  for (const state of seen.values()) {
    for (const to of stepsFrom(state, store)) seen.set(JSON.stringify(to), to);
  }
  const ended = [...seen.values()].filter(({ next }) => next.every((what) => what === 'end'));
  return new Set(ended.map(({ handled }) => handled.trim()));
}

function stepsFrom(state: State, store: Store): readonly State[] {
  const { granted, holder, highest, tokens } = state;
  return clients.flatMap((client, at): readonly State[] => {
    const token = tokens[at] ?? 0;
    const said = (next: State['next'][number], word: string): State => {
      const handled = `${state.handled} ${client}:${word}`;
      return { ...state, next: state.next.with(at, next), handled };
    };
    switch (state.next[at]) {
      case 'take': {
        const taken = { granted: granted + 1, holder: granted + 1 };
        // Whoever holds it, its lease may be over.
        return [{ ...said('write', 'granted'), ...taken, tokens: tokens.with(at, granted + 1) }];
      }
      case 'write': {
        // Whoever finds its lease over does not write, and gives back what it has.
        const skips = { ...state, next: state.next.with(at, 'release' as const) };
        if (store === 'fenced' && token < highest) return [said('release', 'refused'), skips];
        return [{ ...said('release', 'written'), highest: Math.max(highest, token) }, skips];
      }
      case 'release':
        if (holder !== token) return [said('end', 'late')];
        return [{ ...said('end', 'released'), holder: 0 }];
      default:
        return [];
    }
  });
}

async function searched(store: Store): Promise<ReadonlySet<string>> {
  const text = `name: small
systems:
  ${store}: { lock: lock-service, store: ${store}, expect: { holds: [tokens-increase] } }
clients: { count: 2, ttl: 3ms, sections: 1, checksLease: true }
workload: { kind: blind-writes }
network: { latency: 1ms }
faults: [pause: { process: clients, for: 1ms..20ms }]
`;
  const read = loadScenario(text, 'small.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const scope = { faults: 2, ties: 1, clients: null, sections: null };
  const scenario = narrowed(read.scenario, scope);
  const { plans, blocks } = await countPlans(scenario, store, { catalogue: builtIn });
  const numbered = new NumberedPlans(scenario, store, blocks);
  const found = new Set<string>();
  for (let number = 0; number < plans; number += 1) {
    const { trace } = await examineEither(numbered.planOf(number), [], builtIn);
    found.add(trace.events.map(wordOf).filter(Boolean).join(' '));
  }
  return found;
}

function wordOf(event: TraceEvent): string {
  if (event.kind === 'grant') return event.client === 'probe' ? '' : `${event.client}:granted`;
  if (event.kind === 'write') {
    if (event.client === 'probe') return '';
    return `${event.client}:${event.isAccepted ? 'written' : 'refused'}`;
  }
  if (event.kind !== 'release' || event.client === 'probe') return '';
  return `${event.client}:${event.released === 0 ? 'late' : 'released'}`;
}

describe.each<Store>(['unfenced', 'fenced'])('%s', (store) => {
  test('what two pauses reach, the model reaches, and the other way round', {
    timeout: 60_000,
  }, async () => {
    const ours = await searched(store);
    const model = modelled(store);
    expect([...ours].filter((one) => !model.has(one))).toEqual([]);
    expect([...model].filter((one) => !ours.has(one))).toEqual([]);
  });
});
