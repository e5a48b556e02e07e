/** What every stage of a test is handed: its subject, its place, its time and what was wished. */
import type { Mistakes } from './mistakes.ts';
import type { Stopwatch } from './stopwatch.ts';
import type { Subject } from './subject.ts';
import type { TestPlace } from './test-place.ts';
import type { Wishes } from './wishes.ts';

export interface SimRun extends Subject {
  readonly place: TestPlace;
  readonly slug: string;
  readonly stopwatch: Stopwatch;
  readonly wishes: Wishes;
  readonly mistakes: Mistakes;
  /** Prints lines where vitest shows what a test prints. */
  readonly print: (text: string) => void;
}
