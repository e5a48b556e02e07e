/** What the queues are called. All sweeps share that of the records; each has two of its own. */

/** The records, which are looked at and never taken. */
export const RECORDS = 'sweeps';

/** The chunks of a sweep and what is to be shrunk of it. */
export function workQueueOf(sweep: string): string {
  return `work-${sweep}`;
}

/** Results of a sweep that workers had after their job was given to another. */
export function lateQueueOf(sweep: string): string {
  return `late-${sweep}`;
}
