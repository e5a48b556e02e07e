/**
 * What every stage of a test is handed: its subject, its place, its time and what was wished. Time
 * is real here: how long the test may still go on, and turns for the rest of the thread, by clocks
 * and timers that no test replaces.
 */

import type { Plan } from '../../core/plan/plan.ts';
import { inRealTurn } from '../../host/async/ambient.ts';
import type { Trial } from '../../report/exhausted.ts';
import { expand } from '../../scenario/expand.ts';
import type { NumberedPlans } from '../../search/exhaust/exhaust.ts';
import type { PlanBlock } from '../../search/exhaust/placements.ts';
import type { Mistakes, Subject } from './subject.ts';
import type { TestPlace, Wishes } from './test-place.ts';

export interface SimRun extends Subject {
  readonly place: TestPlace;
  readonly slug: string;
  readonly stopwatch: Stopwatch;
  readonly wishes: Wishes;
  readonly mistakes: Mistakes;
  /** What is examined in place of seeds, by system; null where seeds are. */
  readonly plans: ReadonlyMap<string, CountedPlans> | null;
  /** Prints lines where vitest shows what a test prints. */
  readonly print: (text: string) => void;
}

/** All plans of one system in a scope, by their numbers. */
export interface CountedPlans {
  readonly plans: number;
  readonly blocks: readonly PlanBlock[];
  readonly numbered: NumberedPlans;
}

/** What one run is called: by its seed, or by its number among all plans. */
export function trialOf({ plans }: Pick<SimRun, 'plans'>): Trial {
  return plans === null ? 'seed' : 'plan';
}

/** The plan of a seed, or of a number. */
export function planOf(
  { scenario, plans }: Pick<SimRun, 'scenario' | 'plans'>,
  system: string,
  seed: number,
): Plan {
  return plans?.get(system)?.numbered.planOf(seed) ?? expand(scenario, system, seed);
}

const realNowMs: () => number = performance.now.bind(performance);

/** Lets everything else that waits in this thread have its turn. */
export function letOthersRun(): Promise<void> {
  return new Promise((resolve) => inRealTurn(resolve));
}

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
