/**
 * Decides which keys of a server are locks, what somebody did to one who had not taken it, and when
 * a client took the key of a lock of which only its own program says that it has it. The server
 * tells of each key that was taken as locks are, which caches and counters may be as well:
 * `SET seen NX`. A lock is a key that is named for a lock that some program enters: like it (`db`),
 * or with its name and a word for locks in it (`lock:db`, `db.mutex`); or one that its node was
 * told of by a pattern. Of a key that several may hold nothing is told: nobody takes it like that.
 *
 * What one client does to a key of its own is its own affair. What another one does counts only
 * while the key is there: whoever had taken it and has it no more has lost nothing.
 *
 * A grant by `guard` is the moment at which a client entered, which may be long after it took the
 * key. Example: carol takes `db` at 3 ms, with token 1, and is paused before she hears of it. Her
 * key runs out, bob takes it at 24 ms, with token 2, and enters at 25 ms; she enters at 26 ms. Her
 * token is lower than his, and yet they rise in the order in which the two took the key: that she
 * comes late is for a fence to notice.
 *
 * Where no server tells of the key, one grant was given after another for certain if the request
 * that brought its token left once the other had been entered. Nobody says which request that was:
 * it is no earlier than the first of the section whose answer had that number in it. So it is if
 * what let it in was the answer to a request that it had made before in the same words: it asked
 * again as it did not have the lock. Of all others nobody knows.
 */
import type { Grant, KeyChange } from '../core/history/server-events.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { sectionOf } from './contention.ts';
import { breachShown, causesIn } from './evidence.ts';
import { at, type Contradiction, type Sentences } from './explanation.ts';
import { isOwnGrant } from './leases.ts';
import { type GrantLog, type Numbered, operationOf, type TraceIndex } from './trace-index.ts';
import { type Breach, type Findings, inAll } from './verdict.ts';

const LOCK_WORD = /(?:^|[^a-z])(?:red)?(?:locks?|mutex(?:es)?|leases?|leaders?)(?:[^a-z]|$)/i;

/** What became of the keys that are locks. */
export function changesOfLocks(indexed: TraceIndex): readonly Numbered<KeyChange>[] {
  const { keyChanges, locks } = indexed;
  if (keyChanges.length === 0) return keyChanges;
  const entered = [...locks.values()].flatMap(({ lock, entries }) =>
    entries.some(({ event }) => event.kind === 'enter') ? [lock] : [],
  );
  return keyChanges.filter(
    ({ event }) => event.isNamed || entered.some((lock) => isNamedFor(event.key, lock)),
  );
}

function isNamedFor(key: string, lock: string): boolean {
  if (key === lock) return true;
  const [before = '', ...after] = key.split(lock);
  return after.length > 0 && LOCK_WORD.test(`${before} ${after.join(' ')}`);
}

/**
 * Each change of one of `kinds` is a hazard where its client had lost the key that it meant, and a
 * breach of `rule` where it was done to the key of another.
 */
export function judgeKeys<Rule extends string>(
  indexed: TraceIndex,
  rules: Partial<Record<KeyChange['change'], Rule>>,
): Findings<Rule> {
  return inAll(changesOfLocks(indexed), ({ event, index }) => {
    const rule = rules[event.change];
    if (rule === undefined) return { exercised: 0 };
    const isForeign = event.holder !== '' && event.holder !== event.client;
    const isLate = event.meant !== '' && event.meant !== event.taking;
    const exercised = isForeign || isLate ? 1 : 0;
    if (!isForeign || !event.isDone) return { exercised };
    return { exercised, breach: keyBreach(indexed, rule, { event, index }) };
  });
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
  const own = meant === '' ? undefined : takingOf(meant);
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
} as const;

/** The words for a breach that `judgeKeys` found. */
export function foreignKeyChange(shown: Contradiction): Sentences {
  const change = shown.need('change', 'key-change');
  const own = shown.find('own taking', 'key-change');
  const taking = shown.find('taking', 'key-change');
  const { client, key, holder, message } = change;
  const [what, done, did] = DEEDS[change.change];
  const who = own === undefined ? client : `${client}, who had it ${spanText(own)},`;
  const taken = taking === undefined ? 'had' : 'took';
  const when = taking === undefined ? '' : ` ${at(taking)}${endText(taking)}`;
  const command = operationOf(message).split('/').at(-1) ?? '';
  return {
    headline: `${what} \`${key}\` ${done} by ${client} while ${holder} held it`,
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

/** A grant, and how its client took the key of the lock; null where that does not count. */
export interface Taken {
  readonly grant: GrantLog;
  readonly taking: Numbered<KeyChange> | null;
}

/**
 * The grants of a lock in the order in which their clients took its key. Where the trace does not
 * show that of each of them, they come as they were given, without takings: of two grants that are
 * placed by different signs nobody knows which one was first.
 */
export function inOrderOfTaking(
  indexed: TraceIndex,
  grants: readonly GrantLog[],
): readonly Taken[] {
  const taken = grants.map((grant) => ({ grant, taking: takingUnder(indexed, grant) }));
  const key = taken[0]?.taking?.event.key;
  return taken.every(({ taking }) => taking !== null && taking.event.key === key)
    ? taken.sort((one, other) => (one.taking?.index ?? 0) - (other.taking?.index ?? 0))
    : grants.map((grant) => ({ grant, taking: null }));
}

/**
 * Number of an event: those of `inOrderOfTaking` before a grant that had been entered by then were
 * given before it for certain. All of them, where their order is known; −1: none.
 */
export function givenAfter(indexed: TraceIndex, { grant, taking }: Taken): number {
  const isKnown = taking !== null || !isOwnGrant(grant.event);
  return isKnown ? Number.POSITIVE_INFINITY : requestOf(indexed, grant);
}

/** Whether one that was entered before a grant, with a higher token, may be the newer one. */
export function mayBeOutrun(indexed: TraceIndex, late: GrantLog): boolean {
  const grants = inOrderOfTaking(indexed, indexed.locks.get(late.event.lock)?.grants ?? []);
  const place = grants.findIndex(({ grant }) => grant === late);
  const mine = grants[place];
  if (mine === undefined) return false;
  const after = givenAfter(indexed, mine);
  return grants.some(({ grant: { event, index } }, at) => {
    if (index >= late.index || event.token <= late.event.token) return false;
    return at > place || index >= after;
  });
}

/** Number of the event by which the request left before which it was not given. */
function requestOf({ trace, operations }: TraceIndex, { event, index }: GrantLog): number {
  const entered = trace.events[index + 1];
  if (entered?.kind !== 'enter') return -1;
  const said = new Set<string>();
  const left = (operation: string): number => operations.get(operation)?.invoke.index ?? -1;
  let [asked, last] = [-1, -1];
  for (const one of trace.events.slice(0, index)) {
    if (one.kind !== 'send' && one.kind !== 'receive') continue;
    const { message } = one;
    if (!message.startsWith(`${entered.section}/`)) continue;
    const operation = operationOf(message);
    if (one.kind === 'receive') {
      if (one.to === event.client) last = said.has(operation) ? left(operation) : -1;
      continue;
    }
    const body = JSON.stringify(one.body);
    if (one.from !== event.client) {
      if (asked < 0 && body.split(/\D+/).includes(`${event.token}`)) asked = left(operation);
    } else if (said.has(body)) said.add(operation);
    else said.add(body);
  }
  return Math.max(asked, last);
}

/**
 * How the client of an own grant took the key of the lock, in the section that it entered under it:
 * the last time before that. Null where it took several, as it does on several servers, or none.
 */
export function takingUnder(
  { trace, keyChanges }: TraceIndex,
  grant: GrantLog | undefined,
): Numbered<KeyChange> | null {
  if (grant === undefined || !isOwnGrant(grant.event)) return null;
  const { client, lock, ordinal } = grant.event;
  const entered = trace.events[grant.index + 1];
  if (entered?.kind !== 'enter' || entered.ordinal !== ordinal) return null;
  let found: Numbered<KeyChange> | null = null;
  for (const change of keyChanges) {
    const { event, index } = change;
    if (index > grant.index || event.change !== 'taken' || !event.isDone) continue;
    if (event.client !== client || sectionOf(event.message) !== entered.section) continue;
    if (!event.isNamed && !isNamedFor(event.key, lock)) continue;
    const isOther = found?.event.key !== event.key || found.event.process !== event.process;
    if (found !== null && isOther) return null;
    found = change;
  }
  return found;
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
