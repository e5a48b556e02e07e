/**
 * Why workers leave a sweep to others, as lines of the log that BullMQ keeps with its record: few,
 * short, and without anything that a terminal would obey.
 */
import type { OpenedQueue } from './connection.ts';

/** So many lines are kept; the same one may come from several workers. */
const KEPT = 20;
const MOST_TOLD = 5;
const MOST_LETTERS = 300;

/** What a worker says; `why` is a clause about the sweep. */
export function refusalText(sweep: string, why: string): string {
  return harmless(`sweep ${sweep} ${why}: left for other workers`);
}

/** Leaves a line with the record; where that is gone nobody needs it. */
export async function leaveRefusal(records: OpenedQueue, id: string, line: string): Promise<void> {
  await records.addJobLog(id, line, KEPT).catch(() => {});
}

/** The last lines, each once. */
export async function readRefusals(records: OpenedQueue, id: string): Promise<readonly string[]> {
  const { logs } = await records.getJobLogs(id, 0, KEPT - 1);
  return [...new Set(logs.map(harmless))].slice(-MOST_TOLD);
}

function harmless(line: string): string {
  return line.replace(/\p{Cc}+/gu, ' ').slice(0, MOST_LETTERS);
}
