/**
 * What a sibling did with the plan that broke another system, in one line:
 * `same plan on fenced: 23 ms ⊘ refused, token 1, has seen 2; grant-order holds`. It says no more
 * than the two traces show: what was refused here and not there, and what the claim came to.
 */

import type { Deny, Grant, Read, Release, Renew, Write } from '../core/history/server-events.ts';
import type { Trace, TraceEvent } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import type { Replay, Sibling } from '../search/corpus/replay.ts';
import { countOf, tokenText } from '../text/prose.ts';
import { refusalReason } from './access-text.ts';
import type { SiblingLine } from './finding.ts';

/** What the claim came to in a run in which all names of the plan found their match. */
type Fate = Exclude<SiblingLine['outcome'], 'diverged' | 'cannot-run'>;

/** `broken` is the run of the same plan that broke the claim. */
export function siblingLine(sibling: Sibling, broken: Trace): SiblingLine {
  const { system, claim, fate } = sibling;
  const line = (outcome: SiblingLine['outcome'], what: string): SiblingLine => ({
    ...{ system, claim, outcome },
    text: `same plan on ${system}: ${what}`,
  });
  if (fate.kind === 'cannot-run') return line('cannot-run', `cannot run, ${fate.why}`);
  const { replay } = fate;
  if (replay.outcome === 'diverged') {
    return line('diverged', `diverged, nothing there is called ${replay.divergedAt ?? ''}`);
  }
  const outcome = fateOf(replay);
  const difference = differenceIn(replay.trace, broken);
  const verdict = `${claim} ${WORDS[outcome]}`;
  if (difference !== null) return line(outcome, `${difference}; ${verdict}`);
  const times = countOf(replay.verdict.exercised, 'time');
  return line(
    outcome,
    `no refusal of its own; ${verdict}${outcome === 'holds' ? `, exercised ${times}` : ''}`,
  );
}

/** What becomes of the claim there. */
const WORDS: Readonly<Record<Fate, string>> = {
  holds: 'holds',
  breaks: 'breaks there too',
  unknown: 'is unknown',
  untested: 'had nothing to test',
};

function fateOf({ outcome, verdict }: Replay): Fate {
  if (outcome === 'reproduced') return 'breaks';
  if (verdict.kind === 'unknown') return 'unknown';
  return outcome === 'fixed' ? 'holds' : 'untested';
}

/** An answer of a server to one request. */
type Handled = Grant | Deny | Renew | Release | Read | Write;

function isHandled(event: TraceEvent): event is Handled & TraceEvent {
  return ['grant', 'deny', 'renew', 'release', 'read', 'write'].includes(event.kind);
}

/** What the sibling's servers refused and the other's did not, with its time; null for nothing. */
function differenceIn(trace: Trace, broken: Trace): string | null {
  const before = new Map(answersIn(broken).map((event) => [event.message, answerTo(event)]));
  const differing = answersIn(trace).filter(
    (event) => (before.get(event.message) ?? 'yes') !== answerTo(event),
  );
  const found = differing.find(isRefused) ?? differing.find((event) => answerTo(event) === 'no');
  if (found !== undefined) return `${proseDuration(found.atUs)} ${refusalText(found)}`;
  return skipIn(trace, broken) ?? missingGrantIn(trace, broken);
}

/** A job that the sibling did not run again. */
function skipIn({ events }: Trace, broken: Trace): string | null {
  const isSkip = (event: TraceEvent): boolean => event.kind === 'job' && event.phase === 'skip';
  const before = new Set(
    broken.events.filter(isSkip).map((event) => ('section' in event ? event.section : '')),
  );
  const skip = events.find(
    (event) => isSkip(event) && 'section' in event && !before.has(event.section),
  );
  if (skip?.kind !== 'job') return null;
  return `${proseDuration(skip.atUs)} ${skip.process} skips job ${skip.tick}`;
}

/** Whom a server of the other granted a lock, and the sibling's never did: he was not asked. */
function missingGrantIn({ events }: Trace, broken: Trace): string | null {
  const givenBy = ({ process, client, lock }: Grant): string =>
    JSON.stringify([process, client, lock]);
  const given = new Set(events.flatMap((one) => (one.kind === 'grant' ? [givenBy(one)] : [])));
  const missing = broken.events.find((one) => one.kind === 'grant' && !given.has(givenBy(one)));
  if (missing?.kind !== 'grant') return null;
  const denied = events.find((one) => one.kind === 'deny' && one.client === missing.client);
  const before =
    denied?.kind === 'deny' ? `${proseDuration(denied.atUs)} ${refusalText(denied)}` : '';
  const never = `${missing.process} never grants ${missing.lock} to ${missing.client}`;
  return before === '' ? never : `${before}; ${never}`;
}

function answersIn({ events }: Trace): readonly Handled[] {
  return events.filter(isHandled);
}

/** Whether the server did what it was asked for. */
function answerTo(event: Handled): 'yes' | 'no' {
  switch (event.kind) {
    case 'grant':
      return 'yes';
    case 'deny':
      return 'no';
    case 'renew':
      return event.extended > 0 ? 'yes' : 'no';
    case 'release':
      return event.released > 0 ? 'yes' : 'no';
    default:
      return event.isAccepted ? 'yes' : 'no';
  }
}

function isRefused(event: Handled): event is Read | Write {
  return (event.kind === 'read' || event.kind === 'write') && !event.isAccepted;
}

function refusalText(event: Handled): string {
  switch (event.kind) {
    case 'write':
      return `⊘ refused${tokenText(event.token)}${reasonText(event)}`;
    case 'read':
      return `⊘ read refused${tokenText(event.token)}${reasonText(event)}`;
    case 'deny':
      return `⊘ ${event.client} denied${event.holder === '' ? '' : `, ${event.holder} holds it`}`;
    case 'renew':
      return `⊘ renew of ${event.client} denied`;
    case 'release':
      return `⊘ release of ${event.client} denied`;
    case 'grant':
      return '';
  }
}

function reasonText(event: Read | Write): string {
  const why = refusalReason(event);
  return why === '' ? '' : `, ${why}`;
}
