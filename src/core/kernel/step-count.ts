/**
 * Counts what a thread gets done: each simulated event, and each piece of work between two events.
 * Another thread may read the count, and tell code that takes long from code that never ends.
 */
export const stepCount: { steps: Int32Array } = { steps: new Int32Array(1) };

/** Counts one more. */
export function countStep(): void {
  const { steps } = stepCount;
  steps[0] = (steps[0] ?? 0) + 1;
}
