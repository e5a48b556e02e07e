/** Lets the thread's other work have its turn, whatever a caller made of the global timers. */
import { inRealTurn } from '../host/async/real.ts';

/** Lets the event loop run, so that Ctrl-C is heard between two pieces of long work. */
export function breathe(): Promise<void> {
  return new Promise((resolve) => inRealTurn(resolve));
}
