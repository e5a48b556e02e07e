/**
 * Judges `no-orphan`. An *orphan* is a grant of which its client never learnt: the answer to its
 * acquire was lost, or came when the client had stopped waiting. It is left behind if that client
 * neither gives it back, nor is granted the lock again while it lasts, nor crashes; and it does
 * harm when the lock service then turns somebody away because of it, its own client perhaps. That a
 * lease runs out mends it in the end, but until then nobody does the work.
 */
import type { Deny } from '../core/history/server-events.ts';
import type { Return } from '../core/history/trace.ts';
import { type Claim, defineClaim } from './claim.ts';
import { breachShown, causesIn } from './evidence.ts';
import { at, type Contradiction, type Sentences } from './explanation.ts';
import { isHeldAt, isQuorumGrant, serversOf } from './leases.ts';
import {
  type GrantLog,
  type LockLog,
  type Numbered,
  operationOf,
  type TraceIndex,
} from './trace-index.ts';
import { type Breach, type Findings, inAll } from './verdict.ts';

export const noOrphan: Claim = defineClaim({
  name: 'no-orphan',
  about: 'nobody is turned away for a grant that its client never heard of and left behind',
  source: 'a timeout is a third outcome: Waldo et al., A Note on Distributed Computing (1994)',
  hazard: 'orphans, grants that their clients never heard of, left behind or not',
  rules: { 'orphan-denies': orphanDenies },
  judge: (indexed) =>
    inAll(indexed.locks.values(), (lock) =>
      inAll(lock.grants, (grant) => judgeGrant(indexed, lock, grant)),
    ),
});

type Rule = 'orphan-denies';

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

/** How the call ended that this grant answers, if its client never learnt of it. */
export function unansweredCall(indexed: TraceIndex, { event }: GrantLog): Numbered<Return> | null {
  if (isQuorumGrant(event)) return null;
  const operation = indexed.operations.get(operationOf(event.message));
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
  const { client } = grant.event;
  const again = lock.grants.find(
    ({ event, index }) => index > grant.index && event.client === client,
  );
  if (again !== undefined && isHeldAt(grant, { index: again.index, atUs: again.event.atUs })) {
    return false;
  }
  const asked = indexed.operations.get(operationOf(grant.event.message));
  const hasCrashed = indexed.faults.some(
    ({ event, index }) =>
      event.fault === 'crash' &&
      event.processes.includes(client) &&
      index > (asked?.invoke.index ?? 0) &&
      index < denial.index,
  );
  return !hasCrashed && !isGivenBack(indexed, { client, lock: lock.lock, unanswered, again });
}

/** Whether its client sent a release, before it was granted the lock again. */
function isGivenBack(
  indexed: TraceIndex,
  orphan: {
    readonly client: string;
    readonly lock: string;
    readonly unanswered: Numbered<Return>;
    readonly again: GrantLog | undefined;
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

/** The faults that kept the answer from its client struck the request, the reply or their ends. */
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

function orphanDenies(shown: Contradiction): Sentences {
  const grant = shown.need('grant', 'grant');
  const unanswered = shown.need('unanswered', 'return');
  const denial = shown.need('denial', 'deny');
  const letter = shown.letterOf(grant.ordinal);
  const whose = denial.client === grant.client ? 'its own client' : denial.client;
  return {
    headline: `\`${grant.lock}\` kept from ${whose} by a grant that ${grant.client} never heard of`,
    next: `${grant.client} stopped waiting for the answer ${at(unanswered)}, and did not give ${letter} back`,
    however: `${denial.client} was denied \`${denial.lock}\` ${at(denial)} because of ${letter}`,
  };
}
