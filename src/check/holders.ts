/**
 * Determines the holders of a lock: the keys that each client took, how long the servers kept them,
 * and the order of the acquisitions. `indexTrace` uses this module for grants that a program
 * reports itself (with `guard`). Grants that a lock service reports do not need it.
 *
 * **Until when.** A key is held from the command that created it until its server lets it expire,
 * or until it is removed, overwritten or lost. If a lock is a key on several servers, an
 * acquisition holds the lock while a majority of these servers keep the key, as in Redlock:
 *
 *     redis-1  taken 1 ms, expires 21 ms ─┐
 *     redis-2  taken 2 ms, expires 22 ms  ├─ acquired at 2 ms (2 of 3), held until 21 ms
 *     redis-3  (request lost)            ─┘
 *
 * **In which order.** An acquisition with known keys happened when its client took them. Any other
 * acquisition happened between the request that may have won the lock and the entry of its section.
 * If one of these intervals ends before another begins, their order is certain. If two intervals
 * overlap, the acquisition with the lower fencing token came first, provided that the tokens of the
 * run rise wherever the order is certain. Otherwise, the acquisition whose section entered first
 * came first. Entries can contradict these rules: alice took the key before bob but entered after
 * him, and carol, about whom no server reports anything, entered in between. Then a claim breaks
 * only if it breaks in every order of these grants that the rules allow.
 */
import type { Grant, KeyChange, Receive, Send, TraceEvent } from '../core/history/events.ts';
import { addTo, entryOf } from '../core/kernel/entries.ts';
import { operationOf, sectionOf } from '../core/kernel/name.ts';

interface Indexed<E> {
  readonly index: number;
  readonly event: E;
}

type Change = Indexed<KeyChange>;

/** The end of a hold, as known from event `index` on. */
export interface HoldEnd {
  readonly index: number;
  /** True time; infinite if the hold never ends. */
  readonly untilUs: number;
  /** The key event that set this end. */
  readonly change: Change;
}

/** The keys of one acquisition, as their servers kept them. */
export interface KeyHold {
  /** The key changes by which the client took the key, one per server. */
  readonly takings: readonly Change[];
  /** The change that completed the majority. */
  readonly acquired: Change;
  /** True if an earlier section of the client took the keys. */
  readonly isReused: boolean;
  /** The end of the hold as each key event sets it: the time at which the majority is lost. */
  readonly ends: readonly HoldEnd[];
  /** Like `ends`, without the effects of other clients: the lease promised to the client. */
  readonly promises: readonly HoldEnd[];
}

export interface Acquisition extends Indexed<Grant> {
  /** The earliest and the latest event at which the acquisition can have happened. */
  readonly between: readonly [earliest: number, latest: number];
}

/**
 * Returns true if no single server issued the grant: its client inferred the grant from answers.
 */
export function isQuorumGrant({ process, client }: Grant): boolean {
  return process === client;
}

/** Returns true if only the program reports the grant, with `guard`, as it enters. */
export function isClientGrant(grant: Grant): boolean {
  return isQuorumGrant(grant) && grant.sentAtUs === grant.atUs;
}

/** Returns true if a run without faults let one client in while another one was inside. */
export function wereInsideAtOnce(
  events: readonly TraceEvent[],
  inside: Grant,
  next: Grant,
): boolean {
  if (!isQuorumGrant(inside) || !isQuorumGrant(next)) return false;
  const hasLeft = events.some(
    (event) => event.kind === 'leave' && event.ordinal === inside.ordinal && event.atUs < next.atUs,
  );
  return !hasLeft && events.every(({ kind }) => kind !== 'fault');
}

const LOCK_WORD = /(?:^|[^a-z])(?:red)?(?:locks?|mutex(?:es)?|leases?|leaders?)(?:[^a-z]|$)/i;

/** Returns true if a key is named for a lock: `db`, `lock:db`, `db-mutex`. */
export function isNamedFor(key: string, lock: string): boolean {
  if (key === lock) return true;
  const [before = '', ...after] = key.split(lock);
  return after.length > 0 && LOCK_WORD.test(`${before} ${after.join(' ')}`);
}

/**
 * Returns the true time of a hold's end, as known before event `before`, or −∞ if it has not begun.
 */
export function untilUsBefore(ends: readonly HoldEnd[], before: number): number {
  return ends.findLast(({ index }) => index < before)?.untilUs ?? Number.NEGATIVE_INFINITY;
}

/** Returns the messages between the client of a section and its servers, in trace order. */
export type MessagesOf = (section: string) => readonly Indexed<Send | Receive>[];

export function messagesBySection(events: readonly TraceEvent[]): MessagesOf {
  const bySection = new Map<string, Indexed<Send | Receive>[]>();
  for (const [index, event] of events.entries()) {
    if (event.kind === 'send' || event.kind === 'receive') {
      addTo(bySection, sectionOf(event.message), { index, event });
    }
  }
  return (section) => bySection.get(section) ?? [];
}

/** Finds the keys of acquisitions. Each taken key belongs to at most one section. */
export class KeyHolds {
  private readonly messagesOf: MessagesOf;
  private readonly claimed: Set<Change> = new Set();
  private readonly byPlace: Map<string, Change[]> = new Map();
  private readonly positions: Map<Change, number> = new Map();
  private readonly bySection: Map<string, Change[]> = new Map();
  private readonly byClient: Map<string, Change[]> = new Map();
  /** The servers on which each key was ever taken. */
  private readonly servers: Map<string, Set<string>> = new Map();

  constructor(changes: readonly Change[], messagesOf: MessagesOf = () => []) {
    this.messagesOf = messagesOf;
    for (const change of changes) {
      const { event } = change;
      if (!event.isDone) continue;
      addTo(this.byPlace, placeOf(event), change);
      this.positions.set(change, (this.byPlace.get(placeOf(event))?.length ?? 0) - 1);
      if (event.change !== 'taken') continue;
      addTo(this.bySection, sectionOf(event.message), change);
      addTo(this.byClient, event.client, change);
      entryOf(this.servers, event.key, () => new Set()).add(event.process);
    }
  }

  /**
   * Returns the keys that a client took in `section` before it entered under `grant`. If there are
   * none, returns the key that the client took earlier and still has. Returns null if the client
   * has no key, several keys or no majority of the asked servers, or if the key cannot be tracked.
   */
  of(grant: Indexed<Grant>, section: string, leftAt: number): KeyHold | null {
    const takings = this.takingsIn(section, grant);
    const [first] = takings;
    if (first === undefined) return this.keptOver(grant, leftAt);
    const { key } = first.event;
    if (takings.some(({ event }) => event.key !== key)) return null;
    const asked = new Set(this.messagesOf(section).map(({ event }) => event.to));
    const servers = [...(this.servers.get(key) ?? [])];
    const size = servers.filter((server) => asked.has(server)).length || servers.length;
    const needed = Math.floor(size / 2) + 1;
    const acquired = takings[needed - 1];
    if (acquired === undefined) return null;
    for (const taking of takings) this.claimed.add(taking);
    return this.holdOf({ takings, acquired, needed, isReused: false }, leftAt);
  }

  private takingsIn(section: string, { event: grant, index }: Indexed<Grant>): Change[] {
    const byPlace = new Map<string, Change>();
    for (const change of this.bySection.get(section) ?? []) {
      const { event } = change;
      if (change.index > index) break;
      if (event.client !== grant.client || this.claimed.has(change)) continue;
      if (!isKeyOf(event, grant.lock)) continue;
      byPlace.set(placeOf(event), change);
    }
    return [...byPlace.values()].sort((one, other) => one.index - other.index);
  }

  /** Returns the key that the client took last, or null if its server no longer keeps it. */
  private keptOver(
    { event: { client, lock, atUs }, index }: Indexed<Grant>,
    leftAt: number,
  ): KeyHold | null {
    const taking = this.byClient
      .get(client)
      ?.findLast((change) => change.index < index && isKeyOf(change.event, lock));
    if (taking === undefined) return null;
    const taken = { takings: [taking], acquired: taking, needed: 1, isReused: true };
    const hold = this.holdOf(taken, leftAt);
    return hold !== null && untilUsBefore(hold.ends, index) > atUs ? hold : null;
  }

  private holdOf(
    taken: Omit<KeyHold, 'ends' | 'promises'> & { readonly needed: number },
    leftAt: number,
  ): KeyHold | null {
    const { needed, ...keys } = taken;
    const later = keys.takings.map((taking) => this.changesFrom(taking, leftAt));
    if (later.some((changes) => changes.some(isUntracked))) return null;
    const firstChanges = later.map((changes) =>
      changes.filter(({ event }) => event.client === changes[0]?.event.client),
    );
    return { ...keys, ends: endsOf(later, needed), promises: endsOf(firstChanges, needed) };
  }

  /**
   * Returns a taking and the later changes of its key until the hold ended. Continues if the same
   * section took the key again before it left.
   */
  private changesFrom(taking: Change, leftAt: number): readonly Change[] {
    const changes = this.byPlace.get(placeOf(taking.event)) ?? [];
    const first = this.positions.get(taking) ?? 0;
    let last = first + 1;
    while (changes[last]?.event.change === 'prolonged') last += 1;
    const found = changes.slice(first, last + 1);
    const again = this.bySection
      .get(sectionOf(taking.event.message))
      ?.find(
        ({ event, index }) => index > taking.index && placeOf(event) === placeOf(taking.event),
      );
    if (again === undefined || again.index > leftAt) return found;
    return [...found.filter((change) => change !== again), ...this.changesFrom(again, leftAt)];
  }
}

function isUntracked({ event }: Change): boolean {
  return event.change === 'untracked';
}

function placeOf({ process, key }: KeyChange): string {
  return `${process} ${key}`;
}

export function isKeyOf({ key, isNamed }: KeyChange, lock: string): boolean {
  return isNamed || isNamedFor(key, lock);
}

/** Returns the time at which fewer than `needed` servers keep a key, after each change. */
function endsOf(servers: readonly (readonly Change[])[], needed: number): readonly HoldEnd[] {
  const untilUs = servers.map(() => Number.NEGATIVE_INFINITY);
  const all = servers.flatMap((changes, server) => changes.map((change) => ({ change, server })));
  all.sort((one, other) => one.change.index - other.change.index);
  const ends: HoldEnd[] = [];
  for (const { change, server } of all) {
    const { event, index } = change;
    const isRetaken =
      event.change === 'taken' && event.client === servers[server]?.[0]?.event.client;
    const isKept = event.change === 'prolonged' || isRetaken;
    const keyUntilUs = event.untilUs ?? Number.POSITIVE_INFINITY;
    untilUs[server] = isKept ? keyUntilUs : Math.min(event.atUs, untilUs[server] ?? event.atUs);
    const held = [...untilUs].sort((one, other) => other - one)[needed - 1];
    if (held === undefined || held === Number.NEGATIVE_INFINITY) continue;
    ends.push({ index, untilUs: held, change });
  }
  return ends;
}

/**
 * Returns the first event at which a section may have acquired a lock whose server reports nothing.
 * This is the first request whose answer contained the token. A client repeats a request only if it
 * has no lock yet. So if the last request is a repeated one, the result is not earlier.
 */
export function earliestRequest(
  grant: Indexed<Grant>,
  messages: readonly Indexed<Send | Receive>[],
  invokedAt: (operation: string) => number,
): number {
  const { client, token } = grant.event;
  const sent = new Set<string>();
  let [asked, last] = [-1, -1];
  for (const { event, index } of messages) {
    if (index > grant.index) break;
    const operation = operationOf(event.message);
    if (event.kind === 'receive') {
      if (event.to === client) last = sent.has(operation) ? invokedAt(operation) : -1;
      continue;
    }
    const body = JSON.stringify(event.body);
    if (event.from === client) sent.add(sent.has(body) ? operation : body);
    else if (token !== 0 && asked < 0 && body.split(/\D+/).includes(`${token}`)) {
      asked = invokedAt(operation);
    }
  }
  return Math.max(asked, last);
}

/** A possible order of the acquisitions of one lock: maps the number of a grant to its place. */
export type AcquisitionOrder = (ordinal: number) => number;

/** The order in which a lock service reports its grants. */
export const REPORTED_ORDER: AcquisitionOrder = (ordinal) => ordinal;

/** Maximum size of a group of contradictory grants that is tried in all orders. */
const MOST_CONCURRENT = 8;

/** The possible orders of the acquisitions of one lock. */
export interface AcquisitionOrders {
  readonly likeliest: AcquisitionOrder;
  /** Yields all possible orders, the likeliest first. */
  all(): Iterable<AcquisitionOrder>;
}

/** Returns the possible orders, or null if too many grants contradict one another. */
export function ordersOf(acquisitions: readonly Acquisition[]): AcquisitionOrders | null {
  const inOrder = [...acquisitions].sort(
    ({ between: [, one], event: a }, { between: [, other], event: b }) =>
      one - other || a.ordinal - b.ordinal,
  );
  const isKnown = inOrder.every(({ between: [start, end] }) => start === end);
  const hasTokens = !isKnown && tokensAgree(inOrder);
  const isBefore = (one: Acquisition, other: Acquisition): boolean => {
    if (isCertain(one, other)) return true;
    if (!hasTokens || isCertain(other, one)) return false;
    const [token, next] = [one.event.token, other.event.token];
    return token !== 0 && next !== 0 && token < next;
  };
  const groups = isKnown ? [inOrder] : groupsOf(inOrder, isBefore);
  const places = new Map<number, number>();
  const tangled: { readonly first: number; readonly group: readonly Acquisition[] }[] = [];
  for (const group of groups) {
    if (!isKnown && group.length > MOST_CONCURRENT) return null;
    const first = places.size + 1;
    if (!isKnown && group.length > 1) tangled.push({ first, group });
    const [way = group] = isKnown ? [group] : extensionsOf(group, isBefore);
    for (const { event } of way) places.set(event.ordinal, places.size + 1);
  }
  const likeliest: AcquisitionOrder = (ordinal) => places.get(ordinal) ?? 0;
  function* ordersFrom(
    at: number,
    moved: ReadonlyMap<number, number>,
  ): Generator<AcquisitionOrder> {
    const next = tangled[at];
    if (next === undefined) {
      yield (ordinal) => moved.get(ordinal) ?? likeliest(ordinal);
      return;
    }
    for (const way of extensionsOf(next.group, isBefore)) {
      const here = way.map(({ event }, place) => [event.ordinal, next.first + place] as const);
      yield* ordersFrom(at + 1, new Map([...moved, ...here]));
    }
  }
  return { likeliest, all: () => ordersFrom(0, new Map()) };
}

function isCertain({ between: [, end] }: Acquisition, { between: [start] }: Acquisition): boolean {
  return end < start;
}

/** Returns true if tokens rise wherever the order of two acquisitions is certain. */
function tokensAgree(inOrder: readonly Acquisition[]): boolean {
  const starts = inOrder
    .filter(({ event }) => event.token !== 0)
    .sort(({ between: [one] }, { between: [other] }) => one - other);
  let highest = 0;
  let next = 0;
  for (const later of starts) {
    for (let earlier = inOrder[next]; earlier !== undefined; earlier = inOrder[next]) {
      if (!isCertain(earlier, later)) break;
      highest = Math.max(highest, earlier.event.token);
      next += 1;
    }
    if (later.event.token <= highest) return false;
  }
  return true;
}

type IsBefore = (one: Acquisition, other: Acquisition) => boolean;

/**
 * Divides acquisitions into groups, each entirely before the next. A group has several members only
 * if `isBefore` contradicts the order of entries. The groups are the strong components of a
 * tournament: of any two acquisitions, `isBefore` or else the entry decides which comes first.
 * Ranked by their number of predecessors, the first k acquisitions complete a component if they
 * have k(k − 1)/2 predecessors in total (Landau, 1953).
 */
function groupsOf(
  inOrder: readonly Acquisition[],
  isBefore: IsBefore,
): readonly (readonly Acquisition[])[] {
  const ranked = inOrder.map((one, place) => {
    const isFirst = (other: Acquisition, at: number): boolean =>
      isBefore(other, one) || (at < place && !isBefore(one, other));
    return { one, place, before: inOrder.filter((other, at) => isFirst(other, at)).length };
  });
  ranked.sort((one, other) => one.before - other.before || one.place - other.place);
  const groups: Acquisition[][] = [];
  let group: Acquisition[] = [];
  let predecessors = 0;
  for (const [place, { one, before }] of ranked.entries()) {
    group.push(one);
    predecessors += before;
    if (predecessors > (place * (place + 1)) / 2) continue;
    groups.push(group);
    group = [];
  }
  return groups;
}

/** Yields the orders of a group that `isBefore` allows. */
function* extensionsOf(
  group: readonly Acquisition[],
  isBefore: IsBefore,
): Generator<readonly Acquisition[]> {
  if (group.length === 0) yield [];
  for (const first of group) {
    if (group.some((other) => isBefore(other, first))) continue;
    const rest = group.filter((other) => other !== first);
    for (const order of extensionsOf(rest, isBefore)) yield [first, ...order];
  }
}
