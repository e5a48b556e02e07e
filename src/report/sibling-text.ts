/**
 * Describes, in one line, how a twin behaves with the plan that broke another system: `same plan on
 * twin fenced: 23 ms ⊘ refused, token 1, highest seen 2; grant-order holds`.
 */
import type {
  Deny,
  Grant,
  Job,
  Read,
  Release,
  Renew,
  TraceEvent,
  Write,
} from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import type { SiblingLine } from '../search/campaign/result.ts';
import type { Replay, Sibling } from '../search/corpus/replay.ts';
import { countOf, tokenText } from '../text/prose.ts';
import { refusalReason } from './state-phrases.ts';

type Fate = Exclude<SiblingLine['outcome'], 'diverged' | 'cannot-run'>;

/** Returns the line for a twin. `broken` is the trace of the system that broke the claim. */
export function siblingLine(sibling: Sibling, broken: Trace): SiblingLine {
  const { system, claim, fate } = sibling;
  const line = (outcome: SiblingLine['outcome'], description: string): SiblingLine => ({
    system,
    claim,
    outcome,
    text: `same plan on twin ${system}: ${description}`,
  });
  if (fate.kind === 'cannot-run') return line('cannot-run', `cannot run: ${fate.why}`);
  const { replay } = fate;
  if (replay.outcome === 'diverged') {
    return line(
      'diverged',
      `not comparable: no ${replay.divergedAt ?? 'call'} to inject a fault at`,
    );
  }
  const outcome = fateOf(replay);
  const difference = differenceIn(replay.trace, broken);
  const verdict = `${claim} ${WORDS[outcome]}`;
  if (difference !== null) return line(outcome, `${difference}; ${verdict}`);
  const times = countOf(replay.verdict.exercised, 'time');
  const exercised = outcome === 'holds' ? `, exercised ${times}` : '';
  return line(outcome, `no additional refusal; ${verdict}${exercised}`);
}

const WORDS: Readonly<Record<Fate, string>> = {
  holds: 'holds',
  breaks: 'also breaks',
  unknown: 'is unknown',
  untested: 'was not exercised',
};

function fateOf({ outcome, verdict }: Replay): Fate {
  if (outcome === 'reproduced') return 'breaks';
  if (verdict.kind === 'unknown') return 'unknown';
  return outcome === 'fixed' ? 'holds' : 'untested';
}

type Handled = Grant | Deny | Renew | Release | Read | Write;

function isHandled(event: TraceEvent): event is Handled & TraceEvent {
  return ['grant', 'deny', 'renew', 'release', 'read', 'write'].includes(event.kind);
}

/**
 * Describes the first refusal that only the twin made, preferably by a store. Without such a
 * refusal, describes a skipped job or a missing grant. Returns null if there is no difference.
 */
function differenceIn(trace: Trace, broken: Trace): string | null {
  const handled = broken.events.filter(isHandled);
  const before = new Map(handled.map((event) => [event.message, isGiven(event)]));
  const refused = trace.events
    .filter(isHandled)
    .filter((event) => !isGiven(event) && before.get(event.message) !== false);
  const found = refused.find(({ kind }) => kind === 'read' || kind === 'write') ?? refused[0];
  if (found !== undefined) return `${proseDuration(found.atUs)} ${refusalText(found)}`;
  return skipIn(trace, broken) ?? missingGrantIn(trace, broken);
}

function skipIn({ events }: Trace, broken: Trace): string | null {
  const isSkip = (event: TraceEvent): event is Job =>
    event.kind === 'job' && event.phase === 'skip';
  const before = broken.events.filter(isSkip).map(({ section }) => section);
  const skip = events.filter(isSkip).find(({ section }) => !before.includes(section));
  return skip ? `${proseDuration(skip.atUs)} ${skip.process} skips job ${skip.tick}` : null;
}

/** Describes a grant that only `broken` contains, preceded by the twin's denial, if any. */
function missingGrantIn({ events }: Trace, broken: Trace): string | null {
  const givenBy = ({ process, client, lock }: Grant): string =>
    JSON.stringify([process, client, lock]);
  const granted = new Set(
    events.flatMap((event) => (event.kind === 'grant' ? [givenBy(event)] : [])),
  );
  const missing = broken.events.find(
    (event) => event.kind === 'grant' && !granted.has(givenBy(event)),
  );
  if (missing?.kind !== 'grant') return null;
  const denied = events.find((event) => event.kind === 'deny' && event.client === missing.client);
  const before =
    denied?.kind === 'deny' ? `${proseDuration(denied.atUs)} ${refusalText(denied)}; ` : '';
  const { process, client, lock } = missing;
  const never =
    process === client
      ? `${client} never enters ${lock}`
      : `${process} never grants ${lock} to ${client}`;
  return `${before}${never}`;
}

function isGiven(event: Handled): boolean {
  if (event.kind === 'renew') return event.extended > 0;
  if (event.kind === 'release') return event.released > 0;
  return 'isAccepted' in event ? event.isAccepted : event.kind === 'grant';
}

function refusalText(event: Handled): string {
  if (event.kind === 'write' || event.kind === 'read') {
    const why = refusalReason(event);
    const isIgnored = event.refusal?.kind === 'stamp';
    const outcome = event.kind === 'read' ? 'read refused' : isIgnored ? 'ignored' : 'refused';
    return `⊘ ${outcome}${tokenText(event.token)}${why === '' ? '' : `, ${why}`}`;
  }
  if (event.kind === 'deny') {
    return `⊘ ${event.client} denied${event.holder === '' ? '' : `, ${event.holder} holds it`}`;
  }
  return event.kind === 'grant' ? '' : `⊘ ${event.kind} of ${event.client} denied`;
}
