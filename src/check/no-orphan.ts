/**
 * Judges `no-orphan`. An *orphan* is a grant of which its client never learned: the answer to the
 * acquire was lost, or arrived after the client had stopped waiting. The claim breaks if the lock
 * service denies a client because of an orphan, even the orphan's own client. It does not break if
 * that client releases the orphan, crashes, or is granted the lock again while the orphan lasts.
 * The lease expires eventually, but no work is done until then.
 *
 * A server that keeps keys reports which client took a key, but not which key causes a denial. In
 * this case, a denial counts if its call began and ended while the orphan's key existed. For
 * example, a driver that resends a command after its connection was lost is denied by its own key:
 *
 *     alice SET db NX → taken, the answer is lost │ connects again, SET db NX → nil
 *
 * With several servers, one denial decides nothing, so such runs are left to `progress`.
 */
import type { Deny, Invoke, KeyChange, Return } from '../core/history/events.ts';
import { operationOf } from '../core/kernel/name.ts';
import { type Claim, defineClaim } from './claim.ts';
import { breachShown, causesIn } from './evidence.ts';
import { isQuorumGrant } from './holders.ts';
import { isHeldAt, serversOf } from './leases.ts';
import { changesOfLocks } from './lock-keys.ts';
import type { GrantLog, LockLog, Numbered, TraceIndex } from './trace-index.ts';
import { allOf, type Breach, type Findings, inAll } from './verdict.ts';

export const noOrphan: Claim = defineClaim({
  name: 'no-orphan',
  about: 'no client is denied by an abandoned grant that its own client never learned of',
  source: 'a timeout is a third outcome: Waldo et al., A Note on Distributed Computing (1994)',
  hazard: 'orphans: grants that their clients never learned of, abandoned or not',
  rules: ['orphan-denies', 'orphan-key-denies'],
  judge: (indexed) =>
    allOf(
      inAll(indexed.locks.values(), (lock) =>
        inAll(lock.grants, (grant) => judgeGrant(indexed, lock, grant)),
      ),
      judgeKeys(indexed),
    ),
});

type Rule = 'orphan-denies' | 'orphan-key-denies';

function judgeGrant(indexed: TraceIndex, lock: LockLog, grant: GrantLog): Findings<Rule> {
  const unanswered = unansweredCall(indexed, grant);
  if (unanswered === null) return { exercised: 0 };
  const denial = lock.entries.find(
    ({ event, index }) =>
      event.kind === 'deny' &&
      event.holderOrdinal === grant.event.ordinal &&
      index > unanswered.index,
  );
  if (denial === undefined || denial.event.kind !== 'deny') return { exercised: 1 };
  if (!isLeftBehind(indexed, { lock, grant, unanswered, denial })) return { exercised: 1 };
  const shown = { grant, unanswered, denial: { event: denial.event, index: denial.index } };
  return { exercised: 1, breach: breachAt(indexed, shown) };
}

/** Returns the end of the grant's call if its client never learned of the grant, or else null. */
export function unansweredCall(indexed: TraceIndex, { event }: GrantLog): Numbered<Return> | null {
  if (isQuorumGrant(event)) return null;
  return unansweredMessage(indexed, event.message);
}

function unansweredMessage(indexed: TraceIndex, message: string): Numbered<Return> | null {
  // Most runs have no unknown outcome; this saves parsing a name for each grant.
  if (!indexed.hasUnknown) return null;
  const operation = indexed.operations.get(operationOf(message));
  return operation?.return?.event.outcome === 'info' ? operation.return : null;
}

function isLeftBehind(
  indexed: TraceIndex,
  orphan: {
    readonly lock: LockLog;
    readonly grant: GrantLog;
    readonly unanswered: Numbered<Return>;
    readonly denial: { readonly index: number };
  },
): boolean {
  const { lock, grant, unanswered, denial } = orphan;
  const { client, message } = grant.event;
  const again = lock.grants.find(
    ({ event, index }) => index > grant.index && event.client === client,
  );
  if (again !== undefined && isHeldAt(grant, { index: again.index, atUs: again.event.atUs })) {
    return false;
  }
  if (hasCrashed(indexed, { client, message, before: denial.index })) return false;
  return !isGivenBack(indexed, { client, lock: lock.lock, unanswered, again });
}

function hasCrashed(
  indexed: TraceIndex,
  sent: { readonly client: string; readonly message: string; readonly before: number },
): boolean {
  const asked = indexed.operations.get(operationOf(sent.message));
  return indexed.faults.some(
    ({ event, index }) =>
      event.fault === 'crash' &&
      event.processes.includes(sent.client) &&
      index > (asked?.invoke.index ?? 0) &&
      index < sent.before,
  );
}

function isGivenBack(
  indexed: TraceIndex,
  orphan: {
    readonly client: string;
    readonly lock: string;
    readonly unanswered: Numbered<Return>;
    readonly again: { readonly index: number } | undefined;
  },
): boolean {
  const { client, lock, unanswered, again } = orphan;
  for (const { invoke } of indexed.operations.values()) {
    const { event, index } = invoke;
    if (again !== undefined && index > again.index) return false;
    if (event.process !== client || index < unanswered.index) continue;
    if (event.call.verb === 'release' && event.call.lock === lock) return true;
  }
  return false;
}

interface Shown {
  readonly grant: GrantLog;
  readonly unanswered: Numbered<Return>;
  readonly denial: Numbered<Deny>;
}

function breachAt(indexed: TraceIndex, shown: Shown): Breach<Rule> {
  const { event } = shown.grant;
  const before = shown.unanswered.index;
  const reply = event.message.replace(/request$/, 'reply');
  const causes = [event.message, reply].flatMap((message) => {
    const processes = [event.client, ...serversOf(indexed, event)];
    return causesIn(indexed, { processes, message, fromUs: event.sentAtUs, before });
  });
  return breachShown('orphan-denies', { ...shown }, causes);
}

/** A key that a client took without learning of it. */
interface OrphanKey {
  readonly taking: Numbered<KeyChange>;
  readonly unanswered: Numbered<Return>;
  /** Later changes of that key on that server, done or only attempted. */
  readonly later: readonly Numbered<KeyChange>[];
}

function judgeKeys(indexed: TraceIndex): Findings<Rule> {
  const servers = indexed.trace.processes.filter(({ role }) => role === 'lock');
  const changes = servers.length === 1 ? changesOfLocks(indexed) : [];
  return inAll(changes, (taking) => {
    const { change, isDone, key, process, message } = taking.event;
    const unanswered = change === 'taken' && isDone ? unansweredMessage(indexed, message) : null;
    if (unanswered === null) return { exercised: 0 };
    const later = changes.filter(
      ({ event, index }) => index > taking.index && event.key === key && event.process === process,
    );
    const orphan = { taking, unanswered, later };
    const denial = denialByKey(indexed, orphan);
    if (denial === null || !isKeyLeftBehind(indexed, orphan, denial)) return { exercised: 1 };
    return { exercised: 1, breach: keyBreach(indexed, orphan, denial) };
  });
}

interface Denial {
  readonly asked: Numbered<Invoke>;
  readonly denial: Numbered<Return>;
}

function denialByKey(
  { operations }: TraceIndex,
  { taking, unanswered, later }: OrphanKey,
): Denial | null {
  const end = later.find(({ event }) => event.isDone && event.change !== 'prolonged');
  const untilUs = taking.event.untilUs ?? Number.POSITIVE_INFINITY;
  for (const { invoke, return: denial } of operations.values()) {
    const { call } = invoke.event;
    if (call.verb !== 'acquire' || call.lock !== taking.event.key) continue;
    if (denial?.event.answer?.kind !== 'denied' || invoke.index < unanswered.index) continue;
    if (denial.event.atUs > untilUs || denial.index > (end?.index ?? denial.index)) continue;
    return { asked: invoke, denial };
  }
  return null;
}

function isKeyLeftBehind(
  indexed: TraceIndex,
  { taking, unanswered, later }: OrphanKey,
  denial: Denial,
): boolean {
  const { client, key, message } = taking.event;
  const ofClient = later.filter(({ event }) => event.client === client);
  const again = ofClient.find(({ event }) => event.change === 'taken' && event.isDone);
  const before = again?.index ?? Number.POSITIVE_INFINITY;
  if (ofClient.some(({ event, index }) => event.change !== 'taken' && index < before)) return false;
  if (hasCrashed(indexed, { client, message, before: denial.denial.index })) return false;
  if (entersBy(indexed, { taking, unanswered, later })) return false;
  return !isGivenBack(indexed, { client, lock: key, unanswered, again });
}

/** Returns true if the client entered while the key existed. */
function entersBy({ locks }: TraceIndex, { taking, later }: OrphanKey): boolean {
  const { client, untilUs } = taking.event;
  const end = later.find(({ event }) => event.isDone && event.change !== 'prolonged');
  return [...locks.values()].some(({ entries }) =>
    entries.some(
      ({ event, index }) =>
        event.kind === 'enter' &&
        event.process === client &&
        index > taking.index &&
        index < (end?.index ?? Number.POSITIVE_INFINITY) &&
        event.atUs <= (untilUs ?? Number.POSITIVE_INFINITY),
    ),
  );
}

function keyBreach(
  indexed: TraceIndex,
  { taking, unanswered }: OrphanKey,
  { asked, denial }: Denial,
): Breach<Rule> {
  const { client, process, message, atUs } = taking.event;
  const reply = message.replace(/request$/, 'reply');
  const causes = [message, reply].flatMap((name) => {
    const before = unanswered.index;
    const fromUs = indexed.operations.get(operationOf(message))?.invoke.event.atUs ?? atUs;
    return causesIn(indexed, { processes: [client, process], message: name, fromUs, before });
  });
  return breachShown('orphan-key-denies', { taking, unanswered, asked, denial }, causes);
}
