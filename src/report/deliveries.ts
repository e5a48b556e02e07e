/**
 * What became of the messages that a queue delivered, as a table of steps, retries and fences: the
 * one by which idempotency is explained for workers whose messages come at least once.
 */
import type { Deliver, Job, TraceEvent } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { columnWidths, tableLine } from '../text/visible.ts';

export interface DeliveryRow {
  readonly event: Deliver;
  /** The fence token; false when the lease was held, 0 when nobody knows. */
  readonly fence: number | false;
  /** How its release was answered; null when there was none. */
  readonly released: boolean | null;
  /** `failed`: the worker knew it, and asked for a retry; `unfinished`: it never came so far. */
  readonly ending: 'ran' | 'skipped' | 'failed' | 'unfinished' | 'no lease';
}

/** Every delivery, in order of time; none where there is no queue. */
export function deliveriesOf({ events }: Trace): readonly DeliveryRow[] {
  return events.flatMap((event, at) => {
    if (event.kind !== 'deliver') return [];
    const next = events.findIndex(
      (other, index) => index > at && other.kind === 'deliver' && other.client === event.client,
    );
    return [rowOf(event, events.slice(at, next < 0 ? events.length : next))];
  });
}

/** `since`: all that happened until the same worker received another message. */
function rowOf(event: Deliver, since: readonly TraceEvent[]): DeliveryRow {
  const { client, lock } = event;
  const entered = since.find(
    (other) => other.kind === 'enter' && other.process === client && other.lock === lock,
  );
  const release = since.find((other) => other.kind === 'release' && other.client === client);
  const released = release?.kind === 'release' ? release.released !== 0 : null;
  if (entered?.kind !== 'enter') {
    const fence = wasDeniedLast(event, since) ? false : 0;
    return { event, fence, released, ending: 'no lease' };
  }
  const jobs = since.flatMap((other) =>
    other.kind === 'job' && other.process === client ? [other.phase] : [],
  );
  const hasLeft = since.some((other) => other.kind === 'leave' && other.process === client);
  return { event, fence: entered.token, released, ending: endingOf(jobs, hasLeft) };
}

/**
 * Whether the last answer that the worker got is that the lease is held. The servers say so, as a
 * cache only tells what it keeps; where the worker heard nothing of it, the answer was 0.
 */
function wasDeniedLast({ client }: Deliver, since: readonly TraceEvent[]): boolean {
  const at = since.findLastIndex(
    (event) => event.kind === 'invoke' && event.process === client && event.call.verb === 'acquire',
  );
  const last = since[at];
  if (last?.kind !== 'invoke') return false;
  const rest = since.slice(at);
  const isAnswered = rest.some(
    (event) =>
      event.kind === 'return' && event.operation === last.operation && event.answer !== null,
  );
  return isAnswered && rest.some((event) => event.kind === 'deny' && event.client === client);
}

function endingOf(phases: readonly Job['phase'][], hasLeft: boolean): DeliveryRow['ending'] {
  if (phases.includes('end')) return 'ran';
  if (phases.includes('skip')) return 'skipped';
  return hasLeft ? 'failed' : 'unfinished';
}

/** How the back ends answered, in their order: `1 F F T`; 0 where no answer came is not theirs. */
export function leaseAnswers({ events }: Trace): string {
  const answers = events.flatMap((event): string[] => {
    if (event.kind === 'grant') return [String(event.token)];
    if (event.kind === 'deny') return ['F'];
    return event.kind === 'release' ? [event.released === 0 ? 'F' : 'T'] : [];
  });
  return answers.join(' ');
}

function howDelivered({ deliveries, isCopy }: Deliver): string {
  const how = isCopy ? ['copy'] : [];
  if (deliveries !== 1) how.push(`delivery ${deliveries}`);
  return how.length === 0 ? '' : ` (${how.join(', ')})`;
}

const HEAD = ['at', 'machine', 'steps', 'retries', 'fence', 'worker', 'released', 'step'];

/** The table in lines, and below it the answers; nothing where no queue delivered anything. */
export function deliveryLines(trace: Trace): readonly string[] {
  const rows = deliveriesOf(trace).map(({ event, fence, released, ending }) => [
    proseDuration(event.atUs),
    event.lock,
    String(event.steps),
    String(event.retries),
    String(fence),
    `${event.client}${howDelivered(event)}`,
    released === null ? '–' : String(released),
    ending,
  ]);
  if (rows.length === 0) return [];
  const table = [HEAD, ...rows];
  const widths = columnWidths(table);
  const lines = table.map((row) => `  ${tableLine(row, widths)}`);
  return [...lines, `  leases, as answered: ${leaseAnswers(trace)}`];
}
