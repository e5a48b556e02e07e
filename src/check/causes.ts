/**
 * Decides which faults stand behind a contradiction: those that struck the processes or the
 * messages in question while the hazard built up. Evidence names them by their kind: `pause`,
 * `delay`, ….
 */
import type { FaultStrikes } from '../core/history/trace.ts';
import type { Part } from './conclude.ts';
import { serversOf } from './grant-servers.ts';
import { type Access, type GrantLog, grantUnder, type Numbered, type Survey } from './survey.ts';

/** The part of a run in which a fault counts as a cause. */
interface Span {
  /** Whom a fault must have struck, one of them. */
  readonly processes: readonly string[];
  /** Or which message, '' for none. */
  readonly message: string;
  readonly fromUs: number;
  /** Number of the event that the faults must precede. */
  readonly before: number;
}

/** The faults that overlap a span, as parts of a contradiction's evidence. */
export function causesIn(survey: Survey, span: Span): readonly Part[] {
  return survey.faults
    .filter((fault) => overlaps(fault, span) && concerns(fault.event, span))
    .map((fault) => [fault.event.fault, fault]);
}

/** The faults that made an access late: they struck its client or its request since its grant. */
export function causesOfAccess(survey: Survey, access: Numbered<Access>): readonly Part[] {
  const { client, process, message } = access.event;
  const fromUs = grantUnder(survey, access.event)?.event.sentAtUs ?? 0;
  return causesIn(survey, { processes: [client, process], message, fromUs, before: access.index });
}

/** The faults that struck the lock service or the holder between a grant and a later event. */
export function causesSince(
  survey: Survey,
  grant: GrantLog,
  later: { readonly index: number },
): readonly Part[] {
  const { client, sentAtUs, message } = grant.event;
  const span = { message, fromUs: sentAtUs, before: later.index };
  const causes = new Map<number, Part>();
  for (const server of serversOf(survey, grant.event)) {
    for (const cause of causesIn(survey, { ...span, processes: [client, server] })) {
      causes.set(cause[1]?.index ?? 0, cause);
    }
  }
  return [...causes].sort(([a], [b]) => a - b).map(([, cause]) => cause);
}

function overlaps(fault: Numbered<FaultStrikes>, span: Span): boolean {
  const { atUs, untilUs } = fault.event;
  if (fault.index >= span.before) return false;
  return fault.event.fault === 'clock' || atUs >= span.fromUs || (untilUs ?? atUs) > span.fromUs;
}

/** A fault of one message or link must have struck this one, or both of its ends. */
function concerns(fault: FaultStrikes, { processes, message }: Span): boolean {
  if (fault.target !== '' && fault.target === message) return true;
  switch (fault.fault) {
    case 'pause':
    case 'crash':
    case 'clock':
    case 'evict':
    case 'failover':
    case 'late-timer':
      return fault.processes.some((process) => processes.includes(process));
    case 'partition':
    case 'reset':
      return processes.every((process) => fault.processes.includes(process));
    case 'delay':
    case 'drop':
    case 'duplicate':
      return false;
  }
}
