/**
 * Computes the state of every process after a step of a trace: held and believed locks, pending
 * calls, faults and clock error. A lock service also shows the holders of its locks, and a store
 * its contents. On the page, each process has a card that highlights what the step changed.
 */
import type { Return, TraceEvent, VersionScale } from '../../core/history/events.ts';
import type { Trace } from '../../core/history/trace.ts';
import { entryOf } from '../../core/kernel/entries.ts';
import type { Fault } from '../../core/plan/fault.ts';
import { type Child, element, type Markup } from '../../text/markup.ts';
import { callsOf, type Environment, versionsIn } from '../environment.ts';
import {
  type ClientViewSpan,
  clientViewSpans,
  clockSpans,
  holdingSpans,
  isLiveAt,
  type LeaseSpan,
  lasts,
  leaseSpans,
  offsetAt,
} from '../spans.ts';
import {
  callWaited,
  clockText,
  contentText,
  faultStateText,
  heldBy,
  leaseFact,
  truthText,
  versionText,
  viewFact,
} from '../state-phrases.ts';
import { laneOrder, type Step } from '../steps.ts';
import { list, nameMarkup } from './parts.ts';

/** One fact, such as `holds` → `db, token 1`. */
export interface Fact {
  readonly name: string;
  readonly value: string;
}

export interface ProcessState {
  readonly process: string;
  readonly role: Trace['processes'][number]['role'];
  readonly facts: readonly Fact[];
}

export interface StateOptions {
  readonly faults: readonly Fault[];
  readonly steps: readonly Step[];
  /** True if the store is supposed to remember the highest token. */
  readonly isFenced: boolean;
}

/** Returns the state of every process right after `steps[at]`, or at the start if `at` is −1. */
export function stateAfter(
  trace: Trace,
  at: number,
  { faults, steps, isFenced }: StateOptions,
): readonly ProcessState[] {
  const last = steps.slice(0, at + 1).findLast(({ event }) => event !== null)?.event ?? -1;
  const events = trace.events.slice(0, last + 1);
  const nowUs = steps[at]?.atUs ?? 0;
  const known = { ...trace, events };
  const granted = leaseSpans(known);
  const leases = granted.filter((lease) => isLiveAt(lease, nowUs));
  const holdings = holdingSpans(trace, granted, last + 1).filter((lease) => isLiveAt(lease, nowUs));
  const everHeld = holdingSpans(trace, leaseSpans(trace));
  const held = clientViewSpans(known).filter(({ untilUs }) => untilUs === null);
  const clients = clientsAfter(events, { calls: callsOf(trace), versionsBy: versionsIn(trace) });
  const contents = contentsAfter(events);
  const clocks = clockSpans(known, faults).filter(({ untilUs }) => untilUs === null);
  return laneOrder(trace.processes).map(({ name, role }) => {
    const clock = clocks.find(({ process }) => process === name);
    const offsetUs = clock === undefined ? 0 : offsetAt(clock, nowUs);
    const skew = clock === undefined ? '' : clockText({ ...clock, offsetUs });
    const client = clients.get(name) ?? newClient();
    const facts: Fact[] = [{ name: 'is', value: client.is }];
    if (role === 'store') facts.push(...storeFacts(contents.get(name), isFenced));
    else if (role !== 'lock') {
      const clientLeases = held.filter(({ process }) => process === name);
      facts.push(...clientFacts(client, clientLeases, { leases, nowUs }));
    }
    // If no single server grants a lock, its clients record the grants.
    facts.push(...locksOf(everHeld, name, holdings));
    if (skew !== '') facts.push({ name: 'clock', value: skew });
    return { process: name, role, facts };
  });
}

interface ClientState {
  is: string;
  /** The versioned rows that the client knows, by store, resource and key. */
  readonly rows: Map<string, string>;
  readonly waits: Map<string, string>;
}

function newClient(): ClientState {
  return { is: 'running', rows: new Map(), waits: new Map() };
}

function clientsAfter(
  events: readonly TraceEvent[],
  around: Known,
): ReadonlyMap<string, ClientState> {
  const clients = new Map<string, ClientState>();
  const of = (name: string): ClientState => entryOf(clients, name, newClient);
  for (const event of events) {
    if (event.kind === 'fault') for (const name of event.processes) inject(of(name), event);
    else if (event.kind === 'resume' || event.kind === 'restart' || event.kind === 'heal') {
      for (const name of event.processes) of(name).is = 'running';
    } else if ('process' in event) change(of(event.process), event, around);
  }
  return clients;
}

function inject(client: ClientState, event: Extract<TraceEvent, { kind: 'fault' }>): void {
  const { fault, atUs: fromUs, untilUs } = event;
  if (lasts(fault)) client.is = faultStateText({ kind: fault, fromUs, untilUs });
  if (event.fault !== 'crash') return;
  client.rows.clear();
  client.waits.clear();
}

/** Facts about a run that determine the words for an answer. */
type Known = Pick<Environment, 'calls' | 'versionsBy'>;

/** Records the version of a row in an answer, which the client attaches to its next write. */
function learn(client: ClientState, event: Return, { calls, versionsBy }: Known): void {
  const { answer } = event;
  const call = calls.get(event.operation);
  if (versionsBy === null || call === undefined || !('key' in call)) return;
  if (answer === null || !('version' in answer) || answer.version === undefined) return;
  const value = answer.kind === 'value' ? answer.value : call.value;
  const row = `${call.store}/${call.resource}/${call.key}`;
  if (answer.kind === 'refused') client.rows.delete(row);
  else {
    const { version } = answer;
    const seen = version === null ? 'never written' : versionText(versionsBy, version);
    client.rows.set(row, `${call.key} = ${value}, ${seen}`);
  }
}

function change(client: ClientState, event: TraceEvent, around: Known): void {
  if (event.kind === 'invoke') {
    client.waits.set(event.operation, callWaited(event.call));
  }
  if (event.kind === 'return') {
    client.waits.delete(event.operation);
    learn(client, event, around);
  }
}

function clientFacts(
  { rows, waits }: ClientState,
  held: readonly ClientViewSpan[],
  { leases, nowUs }: { readonly leases: readonly LeaseSpan[]; readonly nowUs: number },
): readonly Fact[] {
  const believed = held.map((view) => viewFact(view, nowUs));
  const truth = held.map((view) => truthText(view, leases));
  return [
    { name: 'believes it holds', value: believed.join('; ') || 'nothing' },
    ...(truth.length === 0 ? [] : [{ name: 'in truth', value: truth.join('; ') }]),
    ...(rows.size === 0 ? [] : [{ name: 'remembers', value: [...rows.values()].join('; ') }]),
    { name: 'waits for', value: [...waits.values()].join('; ') || 'nothing' },
  ];
}

function locksOf(
  everHeld: readonly LeaseSpan[],
  service: string,
  holdings: readonly LeaseSpan[],
): readonly Fact[] {
  const locks = everHeld.flatMap(({ process, lock }) => (process === service ? [lock] : []));
  return [...new Set(locks)].map((lock) => {
    const live = holdings.filter((held) => held.lock === lock && held.process === service);
    const value = live.map(leaseFact).join('; ') || 'no client';
    return { name: heldBy(lock), value };
  });
}

function storeFacts(contents: StoreContents | undefined, isFenced: boolean): readonly Fact[] {
  const values = [...(contents?.values ?? [])].map(([name, value]) => ({ name, value }));
  const highest = isFenced ? String(contents?.highest ?? 0) : 'not kept';
  return [
    ...(values.length === 0 ? [{ name: 'contains', value: 'nothing yet' }] : values),
    ...(contents?.hasTokens === true || isFenced
      ? [{ name: 'highest token', value: highest }]
      : []),
  ];
}

interface StoreContents {
  /** The value of each key and its writer, by key. */
  readonly values: ReadonlyMap<string, string>;
  readonly highest: number;
  readonly hasTokens: boolean;
}

function contentsAfter(events: readonly TraceEvent[]): ReadonlyMap<string, StoreContents> {
  const stores = new Map<string, StoreContents>();
  for (const event of events) {
    if (event.kind !== 'write' && event.kind !== 'recovered') continue;
    const before = stores.get(event.process) ?? EMPTY;
    stores.set(event.process, event.kind === 'write' ? written(before, event) : recovered(event));
  }
  return stores;
}

const COUNTED: VersionScale = { by: 'version' };

const EMPTY: StoreContents = { values: new Map(), highest: 0, hasTokens: false };

function written(
  before: StoreContents,
  event: Extract<TraceEvent, { kind: 'write' }>,
): StoreContents {
  const hasTokens = before.hasTokens || event.token > 0;
  if (!event.isAccepted) return { ...before, hasTokens };
  const values = new Map(before.values);
  const { key, value, token } = event;
  if (value !== null) values.set(key, contentText(event));
  return { values, highest: Math.max(before.highest, event.highest, token), hasTokens };
}

function recovered(event: Extract<TraceEvent, { kind: 'recovered' }>): StoreContents {
  const { values, highest, begins } = event;
  const version = (key: string): string =>
    begins?.key === key ? `, ${versionText(COUNTED, begins.version)}` : '';
  const kept = new Map<string, string>();
  for (const [key, value] of Object.entries(values)) kept.set(key, `${value}${version(key)}`);
  return { values: kept, highest, hasTokens: highest > 0 };
}

/** Renders a card per process. `before` is the previous state, or null if there is none. */
export function renderState(
  now: readonly ProcessState[],
  before: readonly ProcessState[] | null,
): Markup {
  const cards = now.map(({ process, facts }) => {
    const known = before?.find((state) => state.process === process) ?? null;
    const rows = facts.map((fact) => renderFact(fact, known));
    return [element('b', {}, nameMarkup(process)), element('dl', {}, rows)];
  });
  return list('state', cards);
}

function renderFact({ name, value }: Fact, before: ProcessState | null): Child {
  const known = before?.facts.find((fact) => fact.name === name)?.value;
  const isChanged = before !== null && known !== value;
  const mark = isChanged ? element('span', { class: 'mark' }, ' ← changed') : '';
  return [
    element('dt', {}, name),
    element(
      'dd',
      { class: isChanged ? 'changed' : null },
      element('bdi', { class: value.startsWith('✗') ? 'bad' : null }, value),
      mark,
    ),
  ];
}
