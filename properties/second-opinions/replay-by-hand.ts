/**
 * Implements `grant-order` again, independently: quadratic, without an index of the trace, sorting
 * or search, directly from the claim's definition.
 */
import type { Read, Recovered, Stamp, TraceEvent, Write } from '../../src/core/history/events.ts';
import type { Trace } from '../../src/core/history/trace.ts';

interface Access {
  readonly event: Write | Read;
  readonly index: number;
}

/** Returns true if `one` precedes `other` when holders take turns. */
function isEarlier(one: Write | Read, other: Write | Read): boolean {
  return one.under < other.under || (one.under === other.under && one.issue < other.issue);
}

function tookEffect({ event }: Access): boolean {
  return event.kind === 'write' && event.isAccepted && event.value !== null;
}

/** Returns the value after all `writes` that `counts` accepts, as if holders took turns, or 0. */
function valueAfter(writes: readonly Access[], counts: (write: Access) => boolean): number {
  let last: Access | null = null;
  for (const write of writes) {
    // Of writes with equal positions, such as retries of one write, the last one counts.
    if (counts(write) && (last === null || !isEarlier(write.event, last.event))) last = write;
  }
  return last?.event.value ?? 0;
}

/**
 * Returns true if a program received the value of this read; it ignores duplicates and late
 * answers. A read of several replicas is in the trace at the point at which its client decides.
 */
function isHeard({ event, index }: Access, events: readonly TraceEvent[]): boolean {
  if (event.kind === 'read' && event.written !== undefined) return true;
  if (events.slice(0, index).some((one) => one.kind === 'read' && one.message === event.message)) {
    return false;
  }
  const returned = events.findIndex(
    (one) => one.kind === 'return' && one.operation === event.operation && one.outcome === 'ok',
  );
  const answer = events
    .slice(0, Math.max(returned, 0))
    .findLast((one) => one.kind === 'receive' && one.message.startsWith(`${event.operation}/`));
  const reply = event.message.replace(/request$/, 'reply');
  return answer?.kind === 'receive' && answer.message === reply;
}

/** Compares digit by digit; the last digit is a name. */
function isLater(one: Stamp, other: Stamp): boolean {
  const at = one.findIndex((digit, place) => digit !== other[place]);
  return at >= 0 && (one[at] ?? 0) > (other[at] ?? 0);
}

/**
 * Combines a write to all replicas: once, when it reaches the first of them, with an effect unless
 * a later stamp was there. Returns null if it had already reached another replica, or if it is
 * undecided whether it persists: it was neither acknowledged nor ever read.
 */
function together({ event, index }: Access, events: readonly TraceEvent[]): Access | null {
  if (event.kind === 'read' || event.stamp === undefined) return { event, index };
  const { operation, stamp, process, store, resource, key } = event;
  const stands = (name: string): boolean =>
    events.some(
      (one) =>
        (one.kind === 'return' && one.operation === name && one.outcome === 'ok') ||
        (one.kind === 'read' && one.written === name),
    );
  const before = events
    .slice(0, index)
    .filter((one) => one.kind === 'write')
    .filter((one) => (one.store ?? one.process) === (store ?? process))
    .filter((one) => one.resource === resource && one.key === key);
  if (!stands(operation) || before.some((one) => one.operation === operation)) return null;
  const isLate = before.some(
    (one) => one.stamp !== undefined && stands(one.operation) && isLater(one.stamp, stamp),
  );
  return { event: { ...event, isAccepted: !isLate }, index };
}

/** Returns the final value of `key` in the store. */
function heldAtLast(accesses: readonly Access[], recoveries: readonly Recovery[], key: string) {
  const write = accesses.filter(tookEffect).at(-1);
  const recovery = recoveries.at(-1);
  if (recovery !== undefined && recovery.index > (write?.index ?? -1)) {
    return Object.entries(recovery.event.values).find(([name]) => name === key)?.[1] ?? 0;
  }
  return write?.event.value ?? 0;
}

interface Recovery {
  readonly event: Recovered;
  readonly index: number;
}

/** Returns true if a trace breaks `grant-order`; all values begin at 0. */
export function isBrokenByHand(trace: Trace): boolean {
  const accesses = trace.events.flatMap((event, index): readonly Access[] => {
    if (event.kind !== 'write' && event.kind !== 'read') return [];
    const access = together({ event, index }, trace.events);
    return access === null ? [] : [access];
  });
  const recoveries = trace.events.flatMap((event, index): readonly Recovery[] =>
    event.kind === 'recovered' ? [{ event, index }] : [],
  );
  return accesses.some(({ event: { process, store = process, resource, key } }) => {
    const isHere = (other: { process: string; store?: string; resource: string }): boolean =>
      (other.store ?? other.process) === store && other.resource === resource;
    const here = accesses.filter(
      (one) =>
        isHere(one.event) &&
        one.event.key === key &&
        (one.event.kind === 'write' || isHeard(one, trace.events)),
    );
    const back = recoveries.filter(({ event }) => isHere(event));
    return isKeyBroken(here, heldAtLast(here, back, key), trace.ending.kind === 'complete');
  });
}

function isKeyBroken(here: readonly Access[], atLast: number, isComplete: boolean): boolean {
  const writes = here.filter(tookEffect);
  if (writes.some(({ event }) => event.under === 0)) return false;
  const misread = here.some(
    ({ event }) =>
      event.kind === 'read' &&
      event.value !== null &&
      event.under > 0 &&
      event.value !== valueAfter(writes, (write) => isEarlier(write.event, event)),
  );
  return misread || (isComplete && atLast !== valueAfter(writes, () => true));
}
