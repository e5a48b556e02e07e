/**
 * Tabulates the messages that a queue delivered, with their steps, retries and fences. The table
 * helps to explain how workers stay idempotent if messages are delivered at least once.
 */
import type { Deliver, Job, TraceEvent } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { proseDuration } from '../core/plan/duration.ts';
import { columnWidths, tableLine } from '../text/visible.ts';

export interface DeliveryRow {
  readonly event: Deliver;
  /** The fencing token, false if another worker held the lease, or 0 if unknown. */
  readonly fence: number | false;
  /** True if the server released the lease, or null if no release was handled. */
  readonly released: boolean | null;
  /**
   * `failed`: the worker noticed a failure and requested a retry. `unfinished`: the run ended, or
   * the next delivery to the worker came, before the job ended.
   */
  readonly ending: 'ran' | 'skipped' | 'failed' | 'unfinished' | 'no lease';
}

/** Returns every delivery in order of time. Empty if there is no queue. */
export function deliveriesOf({ events }: Trace): readonly DeliveryRow[] {
  return events.flatMap((event, at) => {
    if (event.kind !== 'deliver') return [];
    const next = events.findIndex(
      (other, index) => index > at && other.kind === 'deliver' && other.client === event.client,
    );
    return [rowOf(event, events.slice(at, next < 0 ? events.length : next))];
  });
}

/**
 * Builds a row from the events `since` the delivery, up to the next delivery to the same worker.
 */
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
 * Returns true if the worker's last lease request was answered and a server recorded a denial. The
 * answer of a cache shows only its contents, not the denial.
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

/**
 * Returns the decisions of the servers in order, such as `1 F F T`: the token of a grant, F for a
 * denial, T or F for a release. A request that no server handled has no decision.
 */
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

/** Renders the table and, below it, the answers. Empty if no queue delivered anything. */
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
  return [...lines, `  answers to lease requests: ${leaseAnswers(trace)}`];
}
