/** What on a queue was written by nobody of fencepost, and BullMQ itself cannot read. */

/** Whether an error says so; any other is of the queue or its connection. */
export function isUnreadable(error: unknown): boolean {
  if (error instanceof SyntaxError || error instanceof TypeError) return true;
  return error instanceof Error && error.message.includes('WRONGTYPE');
}
