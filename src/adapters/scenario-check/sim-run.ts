/**
 * What every stage of a test is handed: its subject, its place, its time and what was wished. Time
 * is real here: how long the test may still go on, and turns for the rest of the thread, by clocks
 * and timers that no test replaces.
 */
import type { Trial } from '../../report/exhausted.ts';
import type { Mistakes, TestSubject } from './subject.ts';
import type { TestPlace, Wishes } from './test-place.ts';

export interface SimRun extends TestSubject {
  readonly place: TestPlace;
  readonly slug: string;
  readonly stopwatch: Stopwatch;
  readonly wishes: Wishes;
  readonly mistakes: Mistakes;
  /** Prints lines where vitest shows what a test prints. */
  readonly print: (text: string) => void;
}

/** What one run is called: by its seed, or by its number among all plans. */
export function trialOf({ scenario }: Pick<SimRun, 'scenario'>): Trial {
  return scenario.exhaust === undefined ? 'seed' : 'plan';
}

const realNowMs: () => number = performance.now.bind(performance);

interface StopwatchSetting {
  readonly timeoutMs: number;
  /** Null for none. */
  readonly budgetMs: number | null;
  /** Aborted when nobody wants the test's result any more. */
  readonly signal: AbortSignal;
}

/** Started when it is made. */
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

  /** Whether the test must end now. */
  get isOver(): boolean {
    return this.isCancelled || this.elapsedMs >= this.timeoutMs;
  }

  /** Whether no further seed is to be begun. */
  get isSpent(): boolean {
    const { budgetMs } = this.setting;
    return budgetMs !== null && this.elapsedMs >= budgetMs;
  }
}
