/** Decides whether a run has fencing tokens at all: 0 is what those without one carry. */
import type { Trace } from './trace.ts';

/** Whether any grant brought a token, or any access carried one. */
export function hasTokens({ events }: Trace): boolean {
  return events.some(
    (event) =>
      (event.kind === 'grant' || event.kind === 'write' || event.kind === 'read') &&
      event.token !== 0,
  );
}
