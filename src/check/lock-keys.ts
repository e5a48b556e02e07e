/**
 * Decides which keys of a server are locks, what somebody did to one who had not taken it, and when
 * a client took the key of a lock of which only its own program says that it has it. The server
 * tells of each key that was taken as locks are, which caches and counters may be as well:
 * `SET seen NX`. A lock is a key that is named for a lock that some program enters: like it (`db`),
 * or with its name and a word for locks in it (`lock:db`, `db.mutex`); or one that its node was
 * told of by a pattern. Of a key that several may hold nothing is told: nobody takes it like that.
 *
 * What one client does to a key of its own is its own affair, except for what one of its sections
 * does by mistake to the key of another. What another client does counts only while the key is
 * there: a client that had taken it and no longer has it loses nothing.
 */

import type { Grant, KeyChange } from '../core/history/events.ts';
import { sectionName } from '../core/history/trace.ts';
import { operationOf, sectionOf } from '../core/kernel/name.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { breachShown, causesIn } from './evidence.ts';
import { at, type Contradiction, type Sentences } from './explanation.ts';
import { isKeyOf, isOwnGrant } from './holders.ts';
import type { GrantLog, Numbered, TraceIndex } from './trace-index.ts';
import { type Breach, type Findings, inAll } from './verdict.ts';

/** What became of the keys that are locks. */
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
 * The keys that are held as the run ends, by the last change of each: those of locks, and those
 * that some client took and gave back.
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

/** Whether a client was denied a key that another had taken. */
export function isDenial({ change, isDone }: KeyChange): boolean {
  return change === 'taken' && !isDone;
}

/**
 * Each change of one of `kinds` is a hazard where its client had lost the key that it meant, and a
 * breach of `rule` where it was done to the key of another, unless it is harmless.
 */
export function judgeKeys<Rule extends string>(
  indexed: TraceIndex,
  rules: Partial<Record<KeyChange['change'], Rule>>,
  isHarmless: (change: Numbered<KeyChange>) => boolean = () => false,
): Findings<Rule> {
  return inAll(changesOfLocks(indexed), ({ event, index }) => {
    const rule = rules[event.change];
    if (rule === undefined) return { exercised: 0 };
    const isForeign =
      event.holder === event.client ? isMistaken(indexed, event, index) : event.holder !== '';
    const isLate = event.meant !== '' && event.meant !== event.taking;
    const exercised = isForeign || isLate ? 1 : 0;
    if (!isForeign || !event.isDone || isHarmless({ event, index })) return { exercised };
    return { exercised, breach: keyBreach(indexed, rule, { event, index }) };
  });
}

/**
 * Whether a command of a section met the key of another of its client, as it did not mean to: it
 * was sent before that one took the key, or by a section that had the key before, while that one is
 * inside.
 */
function isMistaken(indexed: TraceIndex, change: KeyChange, index: number): boolean {
  if (holderOf(change) === doerOf(change)) return false;
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

/** Who did it: a client; one of its sections, if another one of them had the key. */
function doerOf({ client, holder, message }: KeyChange): string {
  return client === holder ? actingSection(message) : client;
}

function holderOf({ client, holder, taking }: KeyChange): string {
  return client === holder ? actingSection(taking) : holder;
}

/** `alice's section 2`, of a message that it sent. */
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
  const own = meant === '' || meant === taking ? undefined : takingOf(meant);
  const fromUs = own?.event.atUs ?? 0;
  const span = { processes: [client, process], message, fromUs, before: change.index };
  const parts = { 'own taking': own, taking: takingOf(taking), change };
  return breachShown(rule, parts, causesIn(indexed, span));
}

const DEEDS = {
  taken: ['Lock', 'taken', 'took'],
  removed: ['Lock', 'released', 'removed'],
  prolonged: ['Lease of', 'extended', 'prolonged'],
  overwritten: ['Lock', 'overwritten', 'overwrote'],
  lost: ['Lock', 'lost', 'lost'],
  untracked: ['Lock', 'rewritten', 'rewrote'],
} as const;

/** The words for a breach that `judgeKeys` found. */
export function foreignKeyChange(shown: Contradiction): Sentences {
  const change = shown.need('change', 'key-change');
  const own = shown.find('own taking', 'key-change');
  const taking = shown.find('taking', 'key-change');
  const { key, message } = change;
  const [doer, holder] = [doerOf(change), holderOf(change)];
  const [what, done, did] = DEEDS[change.change];
  const who = own === undefined ? doer : `${doer}, who had it ${spanText(own)},`;
  const taken = taking === undefined ? 'had' : 'took';
  const when = taking === undefined ? '' : ` ${at(taking)}${endText(taking)}`;
  const command = operationOf(message).split('/').at(-1) ?? '';
  return {
    headline: `${what} \`${key}\` ${done} by ${doer} while ${holder} held it`,
    next: `${holder} ${taken} \`${key}\`${when}`,
    however: `${who} ${did} it ${at(change)} by \`${command}\``,
  };
}

function spanText({ atUs, untilUs }: KeyChange): string {
  const from = `from ${proseDuration(atUs)}`;
  return untilUs === null ? from : `${from} until ${proseDuration(untilUs)} at most`;
}

function endText({ untilUs }: KeyChange): string {
  return untilUs === null ? '' : `, until ${proseDuration(untilUs)}`;
}

/** How the client of an own grant took its key; null if that was on several servers, or unknown. */
export function takingUnder(grant: GrantLog | undefined): Numbered<KeyChange> | null {
  const [taking, another] = grant?.keys?.takings ?? [];
  return another === undefined ? (taking ?? null) : null;
}

/**
 * `carol, who took `db` at 3 ms, entered under B` of an own grant, with its taking where that is
 * shown; null of any other grant.
 */
export function entryPhrase(shown: Contradiction, grant: Grant): string | null {
  if (!isOwnGrant(grant)) return null;
  let who = grant.client;
  for (const { event } of shown.parts) {
    if (event.kind !== 'key-change' || event.change !== 'taken') continue;
    if (event.client === grant.client)
      who = `${event.client}, who took \`${event.key}\` ${at(event)},`;
  }
  return `${who} entered under ${shown.letterOf(grant.ordinal)}`;
}

/** The same, or `bob was granted B`. */
export function granteePhrase(shown: Contradiction, grant: Grant): string {
  const granted = `${grant.client} was granted ${shown.letterOf(grant.ordinal)}`;
  return entryPhrase(shown, grant) ?? granted;
}
