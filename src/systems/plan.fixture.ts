/** Small plans for tests of the systems: latencies of 1 ms, no `chance`, default settings. */
import type { TraceEvent } from '../core/history/events.ts';
import type { Fault } from '../core/plan/fault.ts';
import {
  CLIENT_DEFAULTS,
  type ClientPlan,
  LIMIT_DEFAULTS,
  type Plan,
  type SectionPlan,
  type Work,
} from '../core/plan/plan.ts';

export const MS = 1000;

/** Returns a client with one section: `work` under the lock `db`. `more` overrides the defaults. */
export function clientOf(
  name: string,
  work: readonly Work[],
  more: Partial<ClientPlan> & { readonly section?: Partial<SectionPlan> } = {},
): ClientPlan {
  const { section, ...settings } = more;
  const sections = [{ id: 1, thinkUs: 0, lock: 'db', work, ...section }];
  return { ...CLIENT_DEFAULTS, name, sections, ...settings };
}

export function writeOf(value: number, more: Partial<Extract<Work, { kind: 'write' }>> = {}): Work {
  return { kind: 'write', id: 1, store: 'store', key: 'x', value, awaits: true, ...more };
}

export interface PlanSetup {
  readonly clients: readonly ClientPlan[];
  readonly faults?: readonly Fault[];
  readonly lock?: string;
  readonly store?: string;
  readonly options?: Plan['system']['options'];
  readonly decisions?: Plan['decisions'];
  readonly probe?: boolean;
  readonly healAtUs?: number;
}

export function planOf(setup: PlanSetup): Plan {
  const { lock = 'lock-service', store = 'fenced', options = {} } = setup;
  const { probe = false, healAtUs = 500 * MS } = setup;
  return {
    fencepost: 1,
    scenario: '',
    system: { name: 'tested', lock, store, options },
    clients: setup.clients,
    network: { link: 'connection', latencyUs: MS },
    faults: setup.faults ?? [],
    chance: null,
    decisions: setup.decisions ?? {},
    order: [],
    limits: { ...LIMIT_DEFAULTS, probe, healAtUs },
    bounds: {
      latency: { minUs: 0, maxUs: MS },
      think: { minUs: 0, maxUs: MS },
      durations: {},
      skewUs: null,
      driftPpm: null,
    },
  };
}

/** Returns the events of one kind, in order. */
export function eventsOf<K extends TraceEvent['kind']>(
  trace: { readonly events: readonly TraceEvent[] },
  kind: K,
): readonly Extract<TraceEvent, { kind: K }>[] {
  const isOfKind = (event: TraceEvent): event is Extract<TraceEvent, { kind: K }> =>
    event.kind === kind;
  return trace.events.filter(isOfKind);
}
