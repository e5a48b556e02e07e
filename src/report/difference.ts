/**
 * Where two runs part: the first thing that happens otherwise, and what it is on each side. The
 * faults themselves are left out, since they are what was changed.
 */
import type { Trace, TraceEvent } from '../core/history/trace.ts';
import { canonical } from '../run.ts';

export interface Difference {
  /** Indices into both traces; null where a trace is over. */
  readonly here: number | null;
  readonly there: number | null;
  /** When the first of the two happens. */
  readonly atUs: number;
}

/** Null when both do the same. */
export function firstDifference(here: Trace, there: Trace): Difference | null {
  const left = happenings(here);
  const right = happenings(there);
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const [one, other] = [left[at], right[at]];
    if (one !== undefined && other !== undefined && isAlike(one.event, other.event)) continue;
    const times = [one?.event.atUs, other?.event.atUs].filter((time) => time !== undefined);
    return { here: one?.at ?? null, there: other?.at ?? null, atUs: Math.min(...times) };
  }
  return null;
}

function happenings(trace: Trace): readonly { readonly event: TraceEvent; readonly at: number }[] {
  return trace.events.flatMap((event, at) => (event.kind === 'fault' ? [] : [{ event, at }]));
}

function isAlike(left: TraceEvent, right: TraceEvent): boolean {
  return (
    left.kind === right.kind && left.atUs === right.atUs && canonical(left) === canonical(right)
  );
}
