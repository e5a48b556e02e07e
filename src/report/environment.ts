/** Collects the facts about a run that determine the words for its events. */
import { type FormerKey, formerKey } from '../check/lock-keys.ts';
import { indexTrace } from '../check/trace-index.ts';
import type { Call } from '../core/history/call.ts';
import type { TraceEvent, VersionScale } from '../core/history/events.ts';
import { hasTokens, type Trace } from '../core/history/trace.ts';
import type { Json } from '../core/kernel/json.ts';
import { QUEUE } from '../core/plan/operation-names.ts';
import { isReply, operationName } from './spans.ts';
import { bodyField, deedOf, denialReason } from './state-phrases.ts';

export interface Environment {
  readonly calls: ReadonlyMap<string, Call>;
  readonly tokens: ReadonlyMap<number, number>;
  /** False if no event of the run has a token. In that case, tokens are not mentioned. */
  readonly hasTokens: boolean;
  /** Names of locks are mentioned only if there are several. */
  readonly hasSeveralLocks: boolean;
  readonly hasQueue: boolean;
  readonly hasSeveralResources: boolean;
  /** Maps operations or messages to their server or replica, if there are several. */
  readonly servers: ReadonlyMap<string, string>;
  /** Processes that are not clients. Their logs are shown without a topic. */
  readonly services: ReadonlySet<string>;
  /** The kind of versions in the stores of this run, or null if they have none. */
  readonly versionsBy: VersionScale | null;
  /** Maps the `send` event of an access with an outdated token to the lock's current token. */
  readonly outdated: ReadonlyMap<TraceEvent, number>;
  /** Lease tests that do not change the believed end of the lease. */
  readonly repeated: ReadonlySet<TraceEvent>;
  /** Maps a denied renew or release to the reason, or to '' if the trace does not show it. */
  readonly denials: ReadonlyMap<TraceEvent, string>;
  /** Maps a key change that re-creates a key to how the key had ended. */
  readonly recreations: ReadonlyMap<TraceEvent, FormerKey>;
  /** Maps the `send` event of a quorum node's answer to the action of the node. */
  readonly nodes: ReadonlyMap<TraceEvent, NodeDeed>;
  /** Times at which messages were sent, by message. */
  readonly sentAtUs: ReadonlyMap<string, number>;
}

/** Collects the facts about a run. */
export function environmentOf(trace: Trace): Environment {
  const tokens = new Map<number, number>();
  const locks = new Set<string>();
  const resources = new Set<string>();
  for (const event of trace.events) {
    if (event.kind === 'grant') {
      tokens.set(event.ordinal, event.token);
      locks.add(event.lock);
    }
    if (event.kind === 'write' || event.kind === 'read') {
      resources.add(`${event.store ?? event.process}/${event.resource}`);
    }
  }
  const services = trace.processes.filter(({ role }) => role === 'lock' || role === 'store');
  const calls = callsOf(trace);
  return {
    calls,
    tokens,
    versionsBy: versionsIn(trace),
    outdated: outdatedTokens(trace, calls),
    hasTokens: hasTokens(trace),
    hasSeveralLocks: locks.size > 1,
    hasQueue: trace.processes.some(({ name }) => name === QUEUE),
    hasSeveralResources: resources.size > 1,
    servers: serversOf(trace),
    services: new Set(services.map(({ name }) => name)),
    repeated: repeatedTests(trace),
    denials: denialsIn(trace),
    recreations: recreationsIn(trace),
    nodes: nodeDeeds(trace),
    sentAtUs: new Map(
      trace.events.flatMap((event) => (event.kind === 'send' ? [[event.message, event.atUs]] : [])),
    ),
  };
}

/** Returns how the stores of a run distinguish versions, or null if they have no versions. */
export function versionsIn({ events }: Trace): Environment['versionsBy'] {
  for (const event of events) {
    if (event.kind !== 'write' && event.kind !== 'read') continue;
    if (event.version !== undefined) return event.version;
  }
  return null;
}

/** The client itself cannot know that its token is outdated. */
function outdatedTokens(
  { events }: Trace,
  calls: ReadonlyMap<string, Call>,
): ReadonlyMap<TraceEvent, number> {
  const latest = new Map<string, number>();
  const outdated = new Map<TraceEvent, number>();
  for (const event of events) {
    if (event.kind === 'grant') latest.set(event.lock, event.token);
    if (event.kind !== 'send' || isReply(event.message)) continue;
    const call = calls.get(operationName(event.message));
    if (call === undefined || 'lock' in call || call.token === 0) continue;
    const token = latest.get(call.resource) ?? call.token;
    if (token !== call.token) outdated.set(event, token);
  }
  return outdated;
}

function denialsIn({ events }: Trace): ReadonlyMap<TraceEvent, string> {
  const denials = new Map<TraceEvent, string>();
  for (const event of events) {
    const isDenied =
      (event.kind === 'renew' && event.extended === 0) ||
      (event.kind === 'release' && event.released === 0);
    if (isDenied) denials.set(event, denialReason(event, events));
  }
  return denials;
}

function recreationsIn(trace: Trace): Environment['recreations'] {
  const indexed = indexTrace(trace);
  const recreations = new Map<TraceEvent, FormerKey>();
  for (const { event } of indexed.keyChanges) {
    const former = formerKey(indexed, event);
    if (former !== null) recreations.set(event, former);
  }
  return recreations;
}

function serversOf(trace: Trace): ReadonlyMap<string, string> {
  const locks = trace.processes.filter(({ role }) => role === 'lock').map(({ name }) => name);
  const servers = new Map<string, string>();
  const replicas = replicasIn(trace);
  for (const event of trace.events) {
    if (event.kind === 'send' && replicas.has(event.to)) servers.set(event.message, event.to);
    if (event.kind === 'send' && replicas.has(event.from)) servers.set(event.message, event.from);
  }
  if (locks.length < 2) return servers;
  for (const event of trace.events) {
    if (event.kind !== 'send' || !locks.includes(event.to)) continue;
    servers.set(operationName(event.message), event.to);
  }
  return servers;
}

function replicasIn({ events, processes }: Trace): ReadonlySet<string> {
  const stores = new Set<string>();
  for (const event of events) {
    if ((event.kind === 'write' || event.kind === 'read') && event.store !== undefined) {
      stores.add(`${event.store}-`);
    }
  }
  const isReplica = (name: string): boolean => [...stores].some((store) => name.startsWith(store));
  return new Set(processes.map(({ name }) => name).filter(isReplica));
}

function repeatedTests(trace: Trace): ReadonlySet<TraceEvent> {
  const believed = new Map<string, number>();
  const repeated = new Set<TraceEvent>();
  for (const event of trace.events) {
    if (event.kind !== 'enter' && event.kind !== 'lease-test') continue;
    const holder = `${event.process}/${event.lock}/${event.ordinal}`;
    const isKnown = believed.get(holder) === event.believedUntilUs;
    if (isKnown && event.kind === 'lease-test') repeated.add(event);
    believed.set(holder, event.believedUntilUs);
  }
  return repeated;
}

/** The action of a quorum node, and whether it changed anything. */
export interface NodeDeed {
  readonly text: string;
  readonly isChange: boolean;
}

/**
 * Maps the `send` events of quorum nodes' answers to the nodes' actions, such as
 * `sets db for alice, ttl 10 ms`. Infers the actions from messages, since a single node records no
 * grant. Empty if no quorum makes grants.
 */
function nodeDeeds(trace: Trace): ReadonlyMap<TraceEvent, NodeDeed> {
  const deeds = new Map<TraceEvent, NodeDeed>();
  const locks = trace.processes.filter(({ role }) => role === 'lock').map(({ name }) => name);
  const grants = trace.events.filter(({ kind }) => kind === 'grant');
  const isByQuorum = grants.every((event) => 'process' in event && !locks.includes(event.process));
  if (grants.length === 0 || !isByQuorum) return deeds;
  const asked = new Map<string, Json>();
  for (const event of trace.events) {
    if (event.kind !== 'send') continue;
    if (locks.includes(event.to)) asked.set(event.message, event.body);
    if (!locks.includes(event.from)) continue;
    const request = asked.get(event.message.replace(/reply$/, 'request')) ?? null;
    const text = deedOf(request, event.body, event.to);
    if (text === null) continue;
    deeds.set(event, { text, isChange: bodyField(event.body, 'kind') === 'done' });
  }
  return deeds;
}

/** Returns the calls of a trace by operation name. */
export function callsOf(trace: Trace): ReadonlyMap<string, Call> {
  const calls = new Map<string, Call>();
  for (const event of trace.events) {
    if (event.kind === 'invoke') calls.set(event.operation, event.call);
  }
  return calls;
}
