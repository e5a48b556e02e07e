/**
 * Handles Ctrl-C during a command, even during searches that block the event loop. Work that can
 * pause calls `yieldToEventLoop`; other work runs inside `Interruption.run`.
 */
import { createContext, Script } from 'node:vm';
import { exits } from '../search/campaign/exit-codes.ts';

const WORK = new Script('work()');

/** Between `listen` and `end`, the first Ctrl-C is recorded and the second one ends the process. */
export class Interruption {
  isInterrupted = false;
  private readonly aborter: AbortController = new AbortController();
  private readonly onInterrupt = (): void => this.interrupt();
  private note: () => void = () => {};
  private signals: readonly NodeJS.Signals[] = [];

  /** An abort signal for streams. */
  get signal(): AbortSignal {
    return this.aborter.signal;
  }

  /** Starts listening. `note` is called on the first Ctrl-C. `signals` are handled like Ctrl-C. */
  listen(note: () => void = () => {}, signals: readonly NodeJS.Signals[] = ['SIGINT']): void {
    this.note = note;
    this.signals = signals;
    for (const signal of signals) process.on(signal, this.onInterrupt);
  }

  end(): void {
    for (const signal of this.signals) process.off(signal, this.onInterrupt);
  }

  /** Runs synchronous work. Ctrl-C stops it at any point without an error. */
  run(work: () => void): void {
    try {
      // Only `breakOnSigint` handles a signal while the event loop is blocked.
      WORK.runInContext(createContext({ work }), { breakOnSigint: true });
    } catch (error) {
      // The error belongs to the realm of the script, so `instanceof` does not work.
      const isCoded = typeof error === 'object' && error !== null && 'code' in error;
      if (!isCoded || error.code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error;
      this.interrupt();
    }
  }

  private interrupt(): void {
    if (this.isInterrupted) process.exit(exits.interrupted);
    this.isInterrupted = true;
    this.aborter.abort();
    this.note();
  }
}
