/**
 * The context that is passed to every stage of a test: its subject, place, time limits and requests
 * from the environment. Time limits are in real time, from a clock that is not virtualized.
 */
import type { Trial } from '../../report/exhausted.ts';
import type { Mistakes, TestSubject } from './subject.ts';
import type { RunRequests, TestPlace } from './test-place.ts';

export interface SimRun extends TestSubject {
  readonly place: TestPlace;
  readonly slug: string;
  readonly stopwatch: Stopwatch;
  readonly requests: RunRequests;
  readonly mistakes: Mistakes;
  /** Prints lines as output of the test. */
  readonly print: (text: string) => void;
}

/** Returns the word for one run: `plan` in an exhaustive search, otherwise `seed`. */
export function trialOf({ scenario }: Pick<SimRun, 'scenario'>): Trial {
  return scenario.exhaust === undefined ? 'seed' : 'plan';
}

const realNowMs: () => number = performance.now.bind(performance);

interface StopwatchSetting {
  readonly timeoutMs: number;
  readonly budgetMs: number | null;
  /** Aborted when the result of the test is no longer needed. */
  readonly signal: AbortSignal;
}

/** Measures the time of a test, from construction. */
export class Stopwatch {
  readonly timeoutMs: number;
  private readonly setting: StopwatchSetting;
  private readonly startedMs: number = realNowMs();

  constructor(setting: StopwatchSetting) {
    this.setting = setting;
    this.timeoutMs = setting.timeoutMs;
  }

  get elapsedMs(): number {
    return realNowMs() - this.startedMs;
  }

  get isCancelled(): boolean {
    return this.setting.signal.aborted;
  }

  /** True if the test must end now. */
  get isOver(): boolean {
    return this.isCancelled || this.elapsedMs >= this.timeoutMs;
  }

  /** True if no more seeds should be started. */
  get isSpent(): boolean {
    const { budgetMs } = this.setting;
    return budgetMs !== null && this.elapsedMs >= budgetMs;
  }
}
