/**
 * How far the clocks of each process are off, and from when to when: read from the faults that
 * really struck, so that a picture can show the skew beside what the process did by its clock.
 */
import type { FaultStrikes, Trace } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import type { Fault } from '../core/plan/fault.ts';
import type { Span } from './spans.ts';

/** A time in which a process's clocks are off, or run wrong, in one way. */
export interface ClockSpan extends Span {
  /** How far ahead of true time its wall clock is as the span begins; negative: behind. */
  readonly offsetUs: number;
  /** How much faster than true time it runs; −1,000,000 while it stands still. */
  readonly ratePpm: number;
}

const MILLION = 1_000_000;

/** One span for each change of a clock that leaves it off; none where clocks agree. */
export function clockSpans(trace: Trace, faults: readonly Fault[]): readonly ClockSpan[] {
  const spans: ClockSpan[] = [];
  const open = new Map<string, ClockSpan>();
  const turn = (process: string, atUs: number, change: ClockChange): void => {
    const before = open.get(process);
    const offsetUs = (before === undefined ? 0 : offsetAt(before, atUs)) + (change.stepUs ?? 0);
    const ratePpm = change.ratePpm ?? before?.ratePpm ?? 0;
    if (before !== undefined && atUs > before.fromUs) spans.push({ ...before, untilUs: atUs });
    if (offsetUs === 0 && ratePpm === 0) open.delete(process);
    else open.set(process, { process, fromUs: atUs, untilUs: null, offsetUs, ratePpm });
  };
  for (const event of trace.events) {
    if (event.kind === 'fault') {
      const change = changeBy(event, faults);
      if (change !== null) for (const process of event.processes) turn(process, event.atUs, change);
    }
    if (event.kind === 'resume') {
      for (const process of event.processes) {
        if (open.get(process)?.ratePpm === -MILLION) turn(process, event.atUs, { ratePpm: 0 });
      }
    }
    if (event.kind === 'healed') {
      for (const process of [...open.keys()]) turn(process, event.atUs, { ratePpm: 0 });
    }
  }
  return [...spans, ...open.values()].sort((left, right) => left.fromUs - right.fromUs);
}

interface ClockChange {
  readonly stepUs?: number;
  readonly ratePpm?: number;
}

function changeBy(event: FaultStrikes, faults: readonly Fault[]): ClockChange | null {
  if (event.fault === 'clock') {
    return event.target === 'step' ? { stepUs: event.amount } : { ratePpm: event.amount };
  }
  const fault = event.index === null ? undefined : faults[event.index];
  return fault?.kind === 'pause' && fault.clocks === 'freeze' ? { ratePpm: -MILLION } : null;
}

/** How far the wall clock is off at an instant of the span. */
export function offsetAt({ fromUs, offsetUs, ratePpm }: ClockSpan, atUs: number): number {
  return offsetUs + Math.floor(((atUs - fromUs) * ratePpm) / MILLION);
}

/** `+20 ms`, `runs +200 ppm`, `stands still`; both where both hold. */
export function clockText({ offsetUs, ratePpm }: Pick<ClockSpan, 'offsetUs' | 'ratePpm'>): string {
  const sign = (value: number): string => (value > 0 ? '+' : '');
  const parts: string[] = [];
  if (offsetUs !== 0) parts.push(`${sign(offsetUs)}${proseDuration(offsetUs)}`);
  if (ratePpm === -MILLION) parts.push('stands still');
  else if (ratePpm !== 0) parts.push(`runs ${sign(ratePpm)}${ratePpm} ppm`);
  return parts.join(', ');
}
