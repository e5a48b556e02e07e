/**
 * Extracts everything with a duration from a trace: leases, client views, overlaps, losses, faults,
 * messages in transit, and clock errors. Pictures and steps are built from these spans.
 */
import { changesOfLocks } from '../check/lock-keys.ts';
import { lossesOf } from '../check/loss-noticed.ts';
import { indexTrace } from '../check/trace-index.ts';
import type { FaultEnds, FaultInjected, Grant, TraceEvent } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import type { Fault } from '../core/plan/fault.ts';

/** `untilUs` is null if nothing in the trace ends the span. */
export interface Span {
  readonly process: string;
  readonly fromUs: number;
  readonly untilUs: number | null;
}

/** One grant, as recorded by the lock service. */
export interface LeaseSpan extends Span {
  readonly lock: string;
  readonly client: string;
  readonly ordinal: number;
  readonly token: number;
  readonly ending: 'expired' | 'released' | 'replaced' | 'open';
}

/** A period in which a client believes that it holds a lock. Its lease may have ended. */
export interface ClientViewSpan extends Span {
  readonly lock: string;
  readonly ordinal: number;
  readonly token: number;
  /** True time at which the lease ends by the client's clock, as of its last lease test. */
  readonly believedUntilUs: number;
}

/** A period in which a client acts as the holder although another client has a lease. */
export interface OverlapSpan extends Span {
  readonly lock: string;
  readonly ordinal: number;
  readonly other: string;
}

/** A period in which a client relies on a lost lock, until it notices the loss or the run ends. */
export interface LossSpan extends Span {
  readonly lock: string;
  readonly ordinal: number;
  readonly untilUs: number;
}

export interface FaultSpan extends Span {
  readonly kind: 'pause' | 'partition' | 'crash';
}

/** All spans of a trace. */
export interface TraceSpans {
  /** The holder of each lock at each server. */
  readonly holdings: readonly LeaseSpan[];
  readonly clientViews: readonly ClientViewSpan[];
  readonly overlaps: readonly OverlapSpan[];
  readonly losses: readonly LossSpan[];
  readonly faults: readonly FaultSpan[];
  readonly clocks: readonly ClockSpan[];
  readonly flights: readonly Flight[];
}

/** Returns all spans. `faults` are the faults of the plan that produced the trace. */
export function spansOf(trace: Trace, faults: readonly Fault[]): TraceSpans {
  const [leases, clientViews] = [leaseSpans(trace), clientViewSpans(trace)];
  const overlaps = overlapSpans(clientViews, leases);
  const [flights, clocks] = [flightsOf(trace), clockSpans(trace, faults)];
  const losses = lossSpans(trace);
  const holdings = holdingSpans(trace, leases);
  return { holdings, clientViews, overlaps, losses, faults: faultSpans(trace), clocks, flights };
}

/** Returns the leases in the order of their grants. */
export function leaseSpans(trace: Trace): readonly LeaseSpan[] {
  const leases = new Map<number, LeaseSpan>();
  const inside = new Set<number>();
  for (const event of trace.events) {
    if (event.kind === 'enter') inside.add(event.ordinal);
    if (event.kind === 'leave') inside.delete(event.ordinal);
    if (event.kind === 'grant') {
      for (const lease of leases.values()) {
        if (!inside.has(lease.ordinal)) replaceLeaseOf(leases, lease, event);
      }
      const { process, lock, client, ordinal, token, atUs, untilUs } = event;
      const ending = untilUs === null ? 'open' : 'expired';
      leases.set(ordinal, { process, lock, client, ordinal, token, fromUs: atUs, untilUs, ending });
    }
    if (event.kind === 'renew') change(leases, event.extended, { untilUs: event.untilUs });
    if (event.kind === 'release') release(leases, event.released, event.atUs);
  }
  const spans = [...leases.values()];
  return trace.events.some(({ kind }) => kind === 'key-change') ? asKept(trace, spans) : spans;
}

/** If only clients report the leases, replaces them with the lifetimes of their keys. */
function asKept(trace: Trace, leases: readonly LeaseSpan[]): readonly LeaseSpan[] {
  const { locks } = indexTrace(trace);
  return leases.map((lease) => {
    const { keys = null } = locks.get(lease.lock)?.byNumber.get(lease.ordinal) ?? {};
    const last = keys?.ends.at(-1);
    if (keys === null || last === undefined) return lease;
    const { process, atUs: fromUs } = keys.acquired.event;
    if (last.untilUs === Number.POSITIVE_INFINITY) {
      return { ...lease, process, fromUs, untilUs: null, ending: 'open' };
    }
    const ending = KEY_ENDINGS[last.change.event.change];
    return { ...lease, process, fromUs, untilUs: last.untilUs, ending };
  });
}

/**
 * Returns who held each lock at each server, as known before event `before`. Replaces leases of
 * which servers report keys by the lifetimes of all keys of locks, also of those under which no
 * program entered. `leases` are those of the trace up to that event.
 */
export function holdingSpans(
  trace: Trace,
  leases: readonly LeaseSpan[],
  before: number = Number.POSITIVE_INFINITY,
): readonly LeaseSpan[] {
  const indexed = indexTrace(trace);
  if (indexed.keyChanges.length === 0) return leases;
  const spans = leases.filter(({ lock, ordinal }) => {
    return indexed.locks.get(lock)?.byNumber.get(ordinal)?.keys === null;
  });
  const live = new Map<string, number>();
  const ofLocks = changesOfLocks(indexed);
  // If no program ever entered, no key is known as a lock.
  for (const { event, index } of ofLocks.length > 0 ? ofLocks : indexed.keyChanges) {
    if (!event.isDone || index >= before) continue;
    const { process, key, client, message, atUs, untilUs, change: what } = event;
    const place = `${process} ${key}`;
    const at = live.get(place) ?? -1;
    const held = spans[at];
    const ending = untilUs === null ? 'open' : 'expired';
    if (held !== undefined && what === 'prolonged') spans[at] = { ...held, untilUs, ending };
    else if (held !== undefined && isLiveAt(held, atUs)) {
      spans[at] = { ...held, untilUs: atUs, ending: KEY_ENDINGS[what] };
    }
    if (what !== 'taken' && what !== 'overwritten') continue;
    const { ordinal = 0, token = 0 } = indexed.byTaking.get(message)?.[0]?.event ?? {};
    live.set(place, spans.length);
    spans.push({ process, lock: key, client, ordinal, token, fromUs: atUs, untilUs, ending });
  }
  return spans.sort((left, right) => left.fromUs - right.fromUs);
}

const KEY_ENDINGS = {
  taken: 'expired',
  prolonged: 'expired',
  removed: 'released',
  overwritten: 'replaced',
  lost: 'replaced',
  untracked: 'replaced',
} as const;

type Leases = Map<number, LeaseSpan>;

function change(leases: Leases, ordinal: number, fields: Partial<LeaseSpan>): void {
  const lease = leases.get(ordinal);
  if (lease !== undefined) leases.set(ordinal, { ...lease, ...fields });
}

function release(leases: Leases, ordinal: number, atUs: number): void {
  const untilUs = leases.get(ordinal)?.untilUs ?? null;
  if (untilUs !== null && untilUs <= atUs) return;
  change(leases, ordinal, { untilUs: atUs, ending: 'released' });
}

/** Ends the lease of a client that has left the section and acquires the lock again. */
function replaceLeaseOf(leases: Leases, lease: LeaseSpan, grant: Grant): void {
  if (lease.process !== grant.process || lease.lock !== grant.lock) return;
  if (lease.client !== grant.client || !isLiveAt(lease, grant.atUs)) return;
  change(leases, lease.ordinal, { untilUs: grant.atUs, ending: 'replaced' });
}

/** Returns true if a span contains `atUs`. Its end is excluded: a lease until 10 is over at 10. */
export function isLiveAt(span: Span, atUs: number): boolean {
  return span.fromUs <= atUs && (span.untilUs === null || atUs < span.untilUs);
}

/** Returns a span per entered section, in order of entry. A crash ends the spans of its process. */
export function clientViewSpans(trace: Trace): readonly ClientViewSpan[] {
  const views: ClientViewSpan[] = [];
  type Test = (view: ClientViewSpan) => boolean;
  const update = (isMeant: Test, to: Partial<ClientViewSpan>): void => {
    views.forEach((view, at) => {
      if (isMeant(view)) views[at] = { ...view, ...to };
    });
  };
  const end = (isMeant: Test, untilUs: number): void =>
    update((view) => view.untilUs === null && isMeant(view), { untilUs });
  const isOf =
    ({ process, ordinal }: Pick<ClientViewSpan, 'process' | 'ordinal'>): Test =>
    (view) =>
      view.process === process && view.ordinal === ordinal;
  for (const event of trace.events) {
    if (event.kind === 'enter') {
      const { process, lock, ordinal, token, atUs, believedUntilUs } = event;
      const open = { fromUs: atUs, untilUs: null, believedUntilUs };
      views.push({ process, lock, ordinal, token, ...open });
    }
    if (event.kind === 'lease-test' && event.isLive) {
      update(isOf(event), { believedUntilUs: event.believedUntilUs });
    }
    if (event.kind === 'leave') end(isOf(event), event.atUs);
    if (event.kind === 'fault' && event.fault === 'crash') {
      end(({ process }) => event.processes.includes(process), event.atUs);
    }
  }
  return views;
}

/** Returns the periods in which a client view overlaps a later lease of the same lock. */
export function overlapSpans(
  clientViews: readonly ClientViewSpan[],
  leases: readonly LeaseSpan[],
): readonly OverlapSpan[] {
  const overlaps: OverlapSpan[] = [];
  for (const view of clientViews) {
    for (const lease of leases) {
      if (lease.lock !== view.lock || lease.ordinal <= view.ordinal) continue;
      const fromUs = Math.max(lease.fromUs, view.fromUs);
      const untilUs = earlier(lease.untilUs, view.untilUs);
      if (untilUs !== null && untilUs <= fromUs) continue;
      const { process, lock, ordinal } = view;
      overlaps.push({ process, lock, ordinal, other: lease.client, fromUs, untilUs });
    }
  }
  return overlaps;
}

function lossSpans(trace: Trace): readonly LossSpan[] {
  const indexed = indexTrace(trace);
  const losses = [...indexed.locks.values()].flatMap((lock) => lossesOf(indexed, lock));
  return losses.map(({ entry, lostUs, knownUs }) => {
    const { process, lock, ordinal } = entry.event;
    return { process, lock, ordinal, fromUs: lostUs, untilUs: knownUs };
  });
}

function earlier(left: number | null, right: number | null): number | null {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
}

/** Returns one span for each process that a pause, a partition or a crash affects. */
export function faultSpans(trace: Trace): readonly FaultSpan[] {
  const spans: FaultSpan[] = [];
  trace.events.forEach((event, at) => {
    if (event.kind !== 'fault' || !lasts(event.fault)) return;
    const end = trace.events.find((other, index) => index > at && isEndOf(other, event));
    const untilUs = end?.atUs ?? event.untilUs;
    for (const process of event.processes) {
      spans.push({ kind: event.fault, process, fromUs: event.atUs, untilUs });
    }
  });
  return spans;
}

/** Returns true if the effect of a fault has a duration. */
export function lasts(fault: FaultInjected['fault']): fault is FaultSpan['kind'] {
  return fault in ENDED_BY;
}

const ENDED_BY: Readonly<Record<FaultSpan['kind'], FaultEnds['kind']>> = {
  pause: 'resume',
  partition: 'heal',
  crash: 'restart',
};

function isEndOf(event: TraceEvent, { fault, index, processes }: FaultInjected): boolean {
  if (!lasts(fault) || event.kind !== ENDED_BY[fault] || !('index' in event)) return false;
  return event.index === index && event.processes.some((name) => processes.includes(name));
}

/** Returns the operation of a message: its name without attempt and leg. */
export function operationName(message: string): string {
  return message.replace(/\/\d+[^/]*\/(request|reply)$/, '').replace(/\/(request|reply)$/, '');
}

export function isReply(message: string): boolean {
  return message.endsWith('/reply');
}

/** One transit of a message. `sent` and `end` are event indexes; `end` is null if it has no end. */
export interface Flight {
  readonly message: string;
  readonly from: string;
  readonly to: string;
  readonly sent: number;
  readonly end: number | null;
  readonly isLost: boolean;
  readonly isCopy: boolean;
}

/** Returns all flights in order of `send` events. A duplicated message has two flights. */
export function flightsOf(trace: Trace): readonly Flight[] {
  const sendings = new Map<string, number>();
  const flights: Flight[] = [];
  const underWay = new Map<number, Flight>();
  trace.events.forEach((event, at) => {
    if (event.kind !== 'send' && event.kind !== 'receive' && event.kind !== 'lose') return;
    const { message, from, to } = event;
    const isLost = event.kind === 'lose';
    const isCopy = event.kind === 'receive' && event.isCopy;
    if (event.kind === 'send') {
      sendings.set(message, at);
      underWay.set(at, { message, from, to, sent: at, end: null, isLost, isCopy });
      return;
    }
    const sent = sendings.get(message);
    if (sent === undefined) return;
    flights.push({ message, from, to, sent, end: at, isLost, isCopy });
    underWay.delete(sent);
  });
  return [...flights, ...underWay.values()].sort((left, right) => left.sent - right.sent);
}

/** A period in which a process clock is off or has a wrong rate, until the next clock change. */
export interface ClockSpan extends Span {
  /** Wall-clock time minus true time, at the start of the span. */
  readonly offsetUs: number;
  /** Rate error relative to true time; −1,000,000 if the clock stands still. */
  readonly ratePpm: number;
}

const MILLION = 1_000_000;

/** Returns a span for each clock change after which a clock is wrong. */
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

function changeBy(event: FaultInjected, faults: readonly Fault[]): ClockChange | null {
  if (event.fault === 'clock') {
    return event.target === 'step' ? { stepUs: event.amount } : { ratePpm: event.amount };
  }
  const fault = event.index === null ? undefined : faults[event.index];
  return fault?.kind === 'pause' && fault.clocks === 'freeze' ? { ratePpm: -MILLION } : null;
}

/** Returns the offset of the wall clock at a time within the span. */
export function offsetAt({ fromUs, offsetUs, ratePpm }: ClockSpan, atUs: number): number {
  return offsetUs + Math.floor(((atUs - fromUs) * ratePpm) / MILLION);
}
