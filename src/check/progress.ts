/**
 * Judges `progress`, which requires the following:
 *
 * 1. After healing, a probe asks for each lock. The lock is granted within 2 × ttl + slack of the
 *    first try, unless the key expires later, or the probe runs user code, which retries at its own
 *    intervals. The probe then sends the write of its section, and its first write to a store is
 *    accepted.
 * 2. A store never refuses the holder of the latest grant while the lock service still holds that
 *    lease. If only clients report the lock, a store may refuse the last client to enter if its
 *    lease had ended, or if a client with a higher token may have acquired the lock later. A store
 *    may also refuse a write that is repeated, comes after a later-issued one of the same grant, or
 *    violates a rule of the table, such as a sale of an item that is out of stock.
 * 3. No cycle of clients remains in which each waits for a lock that the next one holds.
 * 4. Each section ends (`never-ended.ts`).
 */
import type { Deadlock } from '../core/history/events.ts';
import { sectionOf } from '../core/kernel/name.ts';
import { type Claim, defineClaim } from './claim.ts';
import { isCarriedOut } from './contents.ts';
import { accessBreach, breachShown, causesSince } from './evidence.ts';
import { isClientGrant, isQuorumGrant } from './holders.ts';
import { isHeldAt } from './leases.ts';
import { keysKept } from './lock-keys.ts';
import { judgeSections } from './never-ended.ts';
import { staleClientUnder } from './stale-client.ts';
import type { Terms } from './terms.ts';
import type {
  AccessEvent,
  GrantLog,
  LockEvent,
  LockLog,
  LogEntry,
  Numbered,
  OperationLog,
  PlaceLog,
  TraceIndex,
} from './trace-index.ts';
import { type Breach, type Findings, inAll } from './verdict.ts';

const rules = [
  'deadlock',
  'never-ended',
  'probe-not-granted',
  'probe-granted-late',
  'probe-refused',
  'holder-refused',
  'probe-unheard',
  'probe-did-not-write',
] as const;

export const progress: Claim = defineClaim({
  name: 'progress',
  about: 'after healing, sections end, a new client gets the lock, and no holder is refused',
  source: 'deadlock freedom; redis.io, Distributed Locks, liveness A',
  hazard: 'locks that a probe requested, accesses by the current holder, cycles of waiting clients',
  needsNoLock: true,
  rules,
  judge: (indexed, terms) => {
    const atStores = inAll(indexed.places, (place) => judgePlace(indexed, terms, place));
    const findings = [
      judgeDeadlocks(indexed),
      judgeSections(indexed, terms, 'client'),
      judgeProbes(indexed, terms),
      judgeEntries(indexed, terms),
      judgeSections(indexed, terms, 'probe'),
      atStores,
    ];
    return inAll(findings, (found) => found);
  },
});

type Rule = (typeof rules)[number];

function judgeDeadlocks(indexed: TraceIndex): Findings<Rule> {
  let exercised = 0;
  for (const { event, index } of indexed.deadlocks) {
    exercised++;
    const grants = holdersIn(indexed, { event, index });
    if (!indexed.isComplete || !grants.every((grant) => staysHeld(indexed, grant, index))) continue;
    const causes = grants.flatMap((grant) => causesSince(indexed, grant, { index }));
    const parts = { 'holder grant': grants, circle: { index } };
    return { exercised, breach: breachShown('deadlock', parts, causes) };
  }
  return { exercised, breach: null };
}

/**
 * Returns the grants that held the locks when the cycle closed. The event names the holders, since
 * a failover may have lost later grants and releases.
 */
function holdersIn(
  indexed: TraceIndex,
  { event: { waits }, index }: Numbered<Deadlock>,
): readonly (GrantLog | undefined)[] {
  return waits.map(({ lock }, place) => {
    const holder = waits[(place + 1) % waits.length]?.client;
    return indexed.locks
      .get(lock)
      ?.grants.findLast((grant) => grant.index < index && grant.event.client === holder);
  });
}

function staysHeld(
  indexed: TraceIndex,
  grant: GrantLog | undefined,
  closed: number,
): grant is GrantLog {
  if (grant === undefined) return false;
  const grants = indexed.locks.get(grant.event.lock)?.grants ?? [];
  const isLater = grants.some(({ index }) => index > closed);
  const isGivenBack = grant.changes.some(
    ({ event, index }) => event.kind === 'release' && index > closed,
  );
  return !isLater && !isGivenBack;
}

interface Asked {
  readonly operation: OperationLog;
  readonly lock: string;
}

function judgeProbes(indexed: TraceIndex, terms: Terms): Findings<Rule> {
  let exercised = 0;
  let breach: Breach<Rule> | null = null;
  if (indexed.probes.size === 0) return { exercised, breach };
  const seen = new Set<string>();
  const written = resourcesWritten(indexed, 'probe');
  const writable = resourcesWritten(indexed, 'client');
  for (const operation of indexed.operations.values()) {
    const { process, call } = operation.invoke.event;
    if (!indexed.probes.has(process)) continue;
    if (call.verb === 'acquire') {
      if (seen.has(call.lock) || terms.hasGrants === false) continue;
      seen.add(call.lock);
      const asked = { operation, lock: call.lock };
      const { lock, grant } = grantAsked(indexed, asked);
      // A denied key is not necessarily a lock; `judgeEntries` judges the keys of locks.
      if (grant === undefined && indexed.keyChanges.length > 0) continue;
      exercised++;
      breach ??= breachOfWaiting(indexed, terms, { asked, lock, grant });
      // A probe must write only if clients ever write to that resource.
      const isPlanned = terms.probeWrites.has(call.lock) && writable.has(call.lock);
      if (isPlanned && !written.has(call.lock)) breach ??= breachOfNotWriting(indexed, asked);
    } else if (call.verb === 'write') {
      const target = `${call.store}/${call.resource}`;
      if (seen.has(target)) continue;
      breach ??= breachOfFirstWrite(indexed, operation);
      if (terms.hasGrants === false) exercised++;
      seen.add(target);
    }
  }
  return { exercised, breach };
}

function grantAsked(
  indexed: TraceIndex,
  { operation, lock: name }: Asked,
): { readonly lock: LockLog | undefined; readonly grant: GrantLog | undefined } {
  const client = operation.invoke.event.process;
  const isOfClient = ({ event }: GrantLog): boolean => event.client === client;
  // A client that takes a lock itself, as with a quorum, may use another name in its requests.
  const lock =
    indexed.locks.get(name) ??
    [...indexed.locks.values()].find(({ grants }) =>
      grants.some((grant) => isOfClient(grant) && isQuorumGrant(grant.event)),
    );
  return { lock, grant: lock?.grants.find(isOfClient) };
}

function breachOfWaiting(
  indexed: TraceIndex,
  terms: Terms,
  { asked, lock, grant }: { readonly asked: Asked } & ReturnType<typeof grantAsked>,
): Breach<Rule> | null {
  const { event: first, index } = asked.operation.invoke;
  const deadlineUs = first.atUs + 2 * terms.ttlUs + terms.slackUs;
  if (grant !== undefined && (isClientGrant(grant.event) || grant.event.atUs <= deadlineUs)) {
    return null;
  }
  const endUs = indexed.trace.events.at(-1)?.atUs ?? 0;
  if (grant === undefined && !indexed.isComplete && endUs <= deadlineUs) return null;
  const isDenial = ({ event }: LogEntry<LockEvent>): boolean =>
    event.kind === 'deny' && event.client === first.process;
  const denial = lock?.entries.findLast(isDenial);
  const holding =
    denial?.event.kind === 'deny' ? lock?.byNumber.get(denial.event.holderOrdinal) : undefined;
  const renewal = holding?.changes.findLast(
    (change) => change.event.kind === 'renew' && change.index < (denial?.index ?? index),
  );
  return breachShown(
    grant === undefined ? 'probe-not-granted' : 'probe-granted-late',
    { 'first try': { index }, 'holder grant': holding, 'last renewal': renewal, denial, grant },
    holding === undefined ? [] : causesSince(indexed, holding, { index }),
  );
}

/**
 * Judges the sections of probes if servers keep keys. If a section did not enter, the claim breaks
 * if another client still has a key without an end, or a key that it extended since the section
 * began.
 */
function judgeEntries(indexed: TraceIndex, terms: Terms): Findings<Rule> {
  const { trace, probes, isComplete, keyChanges } = indexed;
  if (keyChanges.length === 0 || terms.hasGrants === false) return { exercised: 0 };
  const entered = new Set<string>();
  for (const { event } of [...indexed.locks.values()].flatMap(({ entries }) => entries)) {
    if (event.kind === 'enter') entered.add(event.section);
  }
  const endUs = trace.events.at(-1)?.atUs ?? 0;
  const runs = (trace.sections ?? []).filter(({ process }) => probes.has(process));
  return inAll(runs, ({ section, process, beganUs, end }) => {
    if (entered.has(section)) return { exercised: 1 };
    const isEarly = endUs <= beganUs + 2 * terms.ttlUs + terms.slackUs;
    if (end.kind === 'open' && !isComplete && isEarly) return { exercised: 0 };
    const kept = keysKept(indexed).find(({ event: { client, atUs, untilUs, change } }) => {
      return client !== process && (untilUs === null || (change === 'prolonged' && atUs > beganUs));
    });
    const first = [...indexed.operations.values()].find(
      ({ invoke: { event } }) => sectionOf(event.operation) === section,
    );
    if (kept === undefined || first === undefined) return { exercised: 0 };
    const { index } = first.invoke;
    const [holding] = indexed.byTaking.get(kept.event.taking) ?? [];
    const parts = { 'first try': { index }, 'holder grant': holding, 'key kept': kept };
    const causes = holding === undefined ? [] : causesSince(indexed, holding, { index });
    return { exercised: 1, breach: breachShown<Rule>('probe-not-granted', parts, causes) };
  });
}

/** Returns the resources that were written; each has the name of the lock that guards it. */
function resourcesWritten(indexed: TraceIndex, role: 'client' | 'probe'): ReadonlySet<string> {
  const written = new Set<string>();
  for (const { invoke } of indexed.operations.values()) {
    const { process, call } = invoke.event;
    const isOne = call.verb === 'write' && indexed.probes.has(process) === (role === 'probe');
    if (isOne) written.add(call.resource);
  }
  return written;
}

function breachOfNotWriting(indexed: TraceIndex, asked: Asked): Breach<Rule> | null {
  const { event: first, index } = asked.operation.invoke;
  const grants = indexed.locks.get(asked.lock)?.grants ?? [];
  const grant = grants.findLast(({ event }) => event.client === first.process);
  if (grant === undefined || !indexed.isComplete) return null;
  const refused = indexed.places
    .flatMap(({ accesses }) => accesses)
    .find(({ event }) => event.client === first.process && !event.isAccepted);
  const parts = { 'first try': { index }, grant, 'refused access': refused };
  return breachShown('probe-did-not-write', parts);
}

/** Returns true if the store refused the value itself, which it does for every client. */
function isForbidden({ refusal }: AccessEvent): boolean {
  return refusal?.kind === 'check';
}

function breachOfFirstWrite(indexed: TraceIndex, operation: OperationLog): Breach<Rule> | null {
  const { event: invoke, index } = operation.invoke;
  if (isCarriedOut(indexed, operation)) return null;
  for (const place of indexed.places) {
    for (const access of place.accesses) {
      if (access.event.operation !== invoke.operation) continue;
      if (access.event.isAccepted || isForbidden(access.event)) return null;
      return refusal(indexed, 'probe-refused', { place, refused: access });
    }
  }
  if (!indexed.isComplete) return null;
  return breachShown('probe-unheard', { 'first write': { index } });
}

function judgePlace(indexed: TraceIndex, terms: Terms, place: PlaceLog): Findings<Rule> {
  let exercised = 0;
  let breach: Breach<Rule> | null = null;
  const lastIssue = new Map<number, number>();
  for (const access of place.accesses) {
    const { event, index, latest } = access;
    const isRightful = latest !== null && event.under === latest.event.ordinal;
    if (!isRightful || !isHeldAt(latest, { index, atUs: event.atUs })) continue;
    exercised++;
    const newest = lastIssue.get(event.under) ?? 0;
    if (event.isAccepted) lastIssue.set(event.under, Math.max(newest, event.issue));
    else if (event.issue > newest && !isForbidden(event) && !isLate(indexed, terms, latest)) {
      breach ??= refusal(indexed, 'holder-refused', { place, refused: access });
    }
  }
  return { exercised, breach };
}

/**
 * Returns true if a store may refuse the latest grant: its lease had ended before the entry, or a
 * grant with a higher token may be newer.
 */
function isLate(indexed: TraceIndex, { ttlUs }: Terms, grant: GrantLog): boolean {
  const { event } = grant;
  const isOver = staleClientUnder(indexed, event, new Map([[event.client, ttlUs]])) !== null;
  if (isOver && isClientGrant(event)) return true;
  const grants = indexed.locks.get(event.lock)?.grants ?? [];
  // Look for a grant with a higher token that entered earlier but is not known to be older.
  return grants.some(({ event: other, index, between: [, acquired] }) => {
    const isKnown = index >= grant.index || acquired < grant.between[0];
    return !isKnown && other.token > event.token;
  });
}

function refusal(
  indexed: TraceIndex,
  rule: Rule,
  { place, refused }: { readonly place: PlaceLog; readonly refused: LogEntry<AccessEvent> },
): Breach<Rule> {
  const before = place.accesses.filter(
    ({ event, index }) => index < refused.index && event.isAccepted && event.kind === 'write',
  );
  const highest = before.findLast(({ event }) => event.token >= refused.event.token);
  const earlier = highest ?? before.at(-1);
  return accessBreach(indexed, rule, { 'earlier access': earlier, 'refused access': refused });
}
