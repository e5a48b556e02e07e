/** The timer of the machine that runs the simulation, as it was before anything was replaced. */
import { setImmediate } from 'node:timers';

const immediate: typeof setImmediate = setImmediate;

/** Calls `action` in a turn of the real event loop. */
export function inRealTurn(action: () => void): void {
  immediate(action);
}
