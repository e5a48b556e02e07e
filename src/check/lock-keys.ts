/**
 * Decides which keys of a server are locks, and judges changes of a key that another client had
 * taken. The server reports each key that was taken by a command that can take a lock, including
 * keys of caches and counters (`SET seen NX`). A key is a lock if its name is the name of a lock
 * that some program enters (`db`), or contains that name and a word for locks (`lock:db`,
 * `db.mutex`). A key that matches a pattern configured for its node is also a lock.
 *
 * A client may change its own key, unless one of its sections mistakenly changes the key of another
 * section. A change by another client counts only while the key exists: a client whose key has
 * expired loses nothing.
 */

import type { Grant, KeyChange } from '../core/history/events.ts';
import { sectionName } from '../core/history/trace.ts';
import { operationOf, sectionOf } from '../core/kernel/name.ts';
import { breachShown, causesIn } from './evidence.ts';
import { isKeyOf } from './holders.ts';
import type { GrantLog, Numbered, TraceIndex } from './trace-index.ts';
import { type Breach, type Findings, inAll } from './verdict.ts';

/** Returns the changes of the keys that are locks. */
export function changesOfLocks(indexed: TraceIndex): readonly Numbered<KeyChange>[] {
  const { keyChanges, locks } = indexed;
  if (keyChanges.length === 0) return keyChanges;
  const entered = [...locks.values()].flatMap(({ lock, entries }) =>
    entries.some(({ event }) => event.kind === 'enter') ? [lock] : [],
  );
  return keyChanges.filter(
    ({ event }) => event.isNamed || entered.some((lock) => isKeyOf(event, lock)),
  );
}

/**
 * Returns the last change of each key that is held at the end of the run. Includes keys of locks,
 * and keys that a holder released during the run.
 */
export function keysKept(indexed: TraceIndex): readonly Numbered<KeyChange>[] {
  const { keyChanges, trace } = indexed;
  const endUs = trace.events.at(-1)?.atUs ?? 0;
  const ofLocks = new Set(changesOfLocks(indexed).map(({ event }) => event.key));
  const last = new Map<string, Numbered<KeyChange>>();
  for (const change of keyChanges) {
    const { event } = change;
    if (!event.isDone) continue;
    last.set(`${event.process} ${event.key}`, change);
    if (event.change === 'removed' && event.client === event.holder) ofLocks.add(event.key);
  }
  return [...last.values()].filter(({ event: { change, key, untilUs } }) => {
    const isKept = change === 'taken' || change === 'prolonged' || change === 'overwritten';
    return isKept && ofLocks.has(key) && (untilUs === null || untilUs > endUs);
  });
}

/** Returns true if a client was denied a key that another client had taken. */
export function isDenial({ change, isDone }: KeyChange): boolean {
  return change === 'taken' && !isDone;
}

/**
 * Judges each change whose kind is in `rules`. A change is a hazard if its client had lost the
 * intended key, or if the key had another holder. In the second case, a change that took effect is
 * a breach, unless it is harmless.
 */
export function judgeKeys<Rule extends string>(
  indexed: TraceIndex,
  rules: Partial<Record<KeyChange['change'], Rule>>,
  isHarmless: (change: Numbered<KeyChange>) => boolean = () => false,
): Findings<Rule> {
  return inAll(changesOfLocks(indexed), ({ event, index }) => {
    const rule = rules[event.change];
    if (rule === undefined) return { exercised: 0 };
    const isByOther =
      event.holder === event.client ? isMistaken(indexed, event, index) : event.holder !== '';
    const isLate = event.meant !== '' && event.meant !== event.taking;
    const exercised = isByOther || isLate ? 1 : 0;
    if (!isByOther || !event.isDone || isHarmless({ event, index })) return { exercised };
    return { exercised, breach: keyBreach(indexed, rule, { event, index }) };
  });
}

/**
 * Returns true if a section changed the key of another section of the same client by mistake.
 * This is true if the command was sent before the other section took the key. It is also true if
 * the command's section held the key earlier and the other section has not left yet.
 */
function isMistaken(indexed: TraceIndex, change: KeyChange, index: number): boolean {
  if (takerOf(change) === actorOf(change)) return false;
  const { operations, keyChanges, byTaking } = indexed;
  const sent = operations.get(operationOf(change.message))?.invoke.index;
  const taking = keyChanges.findLast(({ event }) => event.message === change.taking);
  if (sent === undefined || taking === undefined) return false;
  if (sent < taking.index) return true;
  const hadIt = keyChanges.some(({ event }) => {
    const isTaking = event.change === 'taken' && event.isDone && event.key === change.key;
    return isTaking && sectionOf(event.message) === sectionOf(change.message);
  });
  const isInside = ({ enteredAt, leftAt }: GrantLog): boolean =>
    enteredAt < index && (leftAt < 0 || leftAt > index);
  return hadIt && (byTaking.get(change.taking) ?? []).some(isInside);
}

/** Returns the client, or its section if another of its sections had the key. */
export function actorOf({ client, holder, message }: KeyChange): string {
  return client === holder ? actingSection(message) : client;
}

export function takerOf({ client, holder, taking }: KeyChange): string {
  return client === holder ? actingSection(taking) : holder;
}

/** Returns `alice's section 2` for a message that this section sent. */
function actingSection(message: string): string {
  const section = sectionOf(message);
  const process = section.slice(0, section.indexOf('/'));
  return sectionName({ process, section });
}

function keyBreach<Rule extends string>(
  indexed: TraceIndex,
  rule: Rule,
  change: Numbered<KeyChange>,
): Breach<Rule> {
  const { client, process, message, key, taking, meant } = change.event;
  const takingOf = (sent: string): Numbered<KeyChange> | undefined =>
    indexed.keyChanges.findLast(
      ({ event, index }) =>
        index < change.index &&
        event.process === process &&
        event.key === key &&
        event.message === sent &&
        event.isDone,
    );
  const intended = meant === '' || meant === taking ? undefined : takingOf(meant);
  const fromUs = intended?.event.atUs ?? 0;
  const span = { processes: [client, process], message, fromUs, before: change.index };
  const parts = { 'own taking': intended, taking: takingOf(taking), change };
  return breachShown(rule, parts, causesIn(indexed, span));
}

/** The end of a key that a client took. */
export interface FormerKey {
  /** Null if the key has no end. */
  readonly untilUs: number | null;
  /** The change that ended the key, or null if it expired or is still there. */
  readonly ended: KeyChange | null;
}

/** Returns how long a client kept the key that it took, up to event `before`. */
export function keptUntil(
  { keyChanges }: TraceIndex,
  taking: KeyChange,
  before: number,
): FormerKey {
  let { untilUs } = taking;
  let isAfter = false;
  for (const { event, index } of keyChanges) {
    if (index >= before) break;
    if (event === taking) isAfter = true;
    else if (!isAfter || !event.isDone || event.process !== taking.process) continue;
    else if (event.key !== taking.key) continue;
    else if (event.change === 'taken') {
      // The key had expired. The server's clock may have been set ahead.
      return { untilUs: untilUs === null ? null : Math.min(untilUs, event.atUs), ended: null };
    } else if (event.change !== 'prolonged') return { untilUs: event.atUs, ended: event };
    else untilUs = event.untilUs;
  }
  return { untilUs, ended: null };
}

/**
 * Returns how the key of a section had ended that the section takes again after it has entered, as
 * a late renewal does; null for any other change.
 */
export function formerKey(indexed: TraceIndex, change: KeyChange): FormerKey | null {
  const { keyChanges, byTaking, locks } = indexed;
  if (change.change !== 'taken' || !change.isDone || byTaking.has(change.message)) return null;
  const section = sectionOf(change.message);
  const at = keyChanges.findIndex(({ event }) => event === change);
  const index = keyChanges[at]?.index ?? -1;
  const hasEntered = [...locks.values()].some(({ entries }) =>
    entries.some((entry) => {
      return entry.event.kind === 'enter' && entry.event.section === section && entry.index < index;
    }),
  );
  const former = keyChanges.slice(0, Math.max(at, 0)).findLast(({ event }) => {
    const isSame = event.process === change.process && event.key === change.key;
    return (
      isSame && event.change === 'taken' && event.isDone && sectionOf(event.message) === section
    );
  });
  return hasEntered && former !== undefined ? keptUntil(indexed, former.event, index) : null;
}

/** Returns the change by which the client took the key of its grant. Null if there are several. */
export function takingUnder(grant: GrantLog | undefined): Numbered<KeyChange> | null {
  const [taking, another] = grant?.keys?.takings ?? [];
  return another === undefined ? (taking ?? null) : null;
}

/** Returns when the client of a grant removed its only key, or null if not by `lastUs`. */
export function releasedUsOf(
  indexed: TraceIndex,
  { lock, ordinal, client }: Grant,
  lastUs: number,
): number | null {
  const taking = takingUnder(indexed.locks.get(lock)?.byNumber.get(ordinal));
  if (taking === null) return null;
  const { ended } = keptUntil(indexed, taking.event, Number.POSITIVE_INFINITY);
  const isReleased = ended?.change === 'removed' && ended.client === client;
  return isReleased && ended.atUs <= lastUs ? ended.atUs : null;
}
