/**
 * Hears Ctrl-C during a command, also during searches that keep the event loop waiting. Work that
 * can pause calls `yieldToEventLoop` between two pieces; work that cannot runs inside
 * `Interruption.run`.
 */
import { createContext, Script } from 'node:vm';
import { exits } from '../search/campaign/exit-codes.ts';

const WORK = new Script('work()');

/** From `listen` to `end` the first Ctrl-C is noted, and the second one ends the process. */
export class Interruption {
  isInterrupted = false;
  private readonly aborter: AbortController = new AbortController();
  private readonly onInterrupt = (): void => this.interrupt();
  private note: () => void = () => {};
  private signals: readonly NodeJS.Signals[] = [];

  /** For streams, which wait for more. */
  get signal(): AbortSignal {
    return this.aborter.signal;
  }

  /** `note` prints that the first Ctrl-C was heard; other `signals` may mean the same. */
  listen(note: () => void = () => {}, signals: readonly NodeJS.Signals[] = ['SIGINT']): void {
    this.note = note;
    this.signals = signals;
    for (const signal of signals) process.on(signal, this.onInterrupt);
  }

  end(): void {
    for (const signal of this.signals) process.off(signal, this.onInterrupt);
  }

  /** Runs what does not wait for anything; Ctrl-C ends it wherever it is, and is no error. */
  run(work: () => void): void {
    try {
      // The only way to hear a signal without the event loop.
      WORK.runInContext(createContext({ work }), { breakOnSigint: true });
    } catch (error) {
      // It is an error of the script's own realm, so that `instanceof` does not know it.
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
