/**
 * What people see of a sweep while it goes on: every note once, that the queue is away and is back,
 * and one line that says how far it is. Only what a queue itself rejects with is waited out; all
 * other errors end a coordinator.
 */
import { Defect } from '../../core/kernel/assert.ts';
import { countOf, groupDigits } from '../../text/prose.ts';
import type { SweepProgress, SweepQueue } from './sweep-queue.ts';

const MOST_LINES = 1_000;

/** Says each line once. */
export class OnceNoter {
  private readonly note: (line: string) => void;
  private readonly told: Set<string> = new Set();

  constructor(note: (line: string) => void) {
    this.note = note;
  }

  /** False where it was said before. */
  tell(line: string): boolean {
    if (this.told.has(line)) return false;
    if (this.told.size >= MOST_LINES) this.told.clear();
    this.told.add(line);
    this.note(line);
    return true;
  }
}

/** Whether the queue answers, told when it changes. */
export class QueueReach {
  private readonly note: (line: string) => void;
  private isAway = false;

  constructor(note: (line: string) => void) {
    this.note = note;
  }

  away({ message }: Error): void {
    if (!this.isAway) this.note(`the queue does not answer: ${message}; waiting for it`);
    this.isAway = true;
  }

  answers(): void {
    if (this.isAway) this.note('the queue answers again');
    this.isAway = false;
  }
}

/** A queue did not do what it was asked; its message is that of the queue. */
export class QueueAway extends Error {}

/** The same queue; what it rejects with is a `QueueAway`, but for what is wrong in fencepost. */
export function tellingAway(queue: SweepQueue): SweepQueue {
  return askedThrough(queue, async (ask) => {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof Defect || !(error instanceof Error)) throw error;
      throw new QueueAway(error.message, { cause: error });
    }
  });
}

/** The same queue, of which everything is asked by `by`. */
export function askedThrough(
  queue: SweepQueue,
  by: (ask: () => Promise<unknown>) => Promise<unknown>,
): SweepQueue {
  return new Proxy(queue, {
    get(target, name): unknown {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...given: readonly unknown[]) => by(async () => Reflect.apply(member, target, given));
    },
  });
}

/** What a line can say; the number of workers, and whether it waits for one, if it is known. */
type ToldProgress = SweepProgress & {
  readonly workers?: number;
  readonly isWaiting?: boolean;
};

/** What broke how often is left out where `isShort`. */
export function progressLine(
  progress: ToldProgress,
  { isShort = false }: { readonly isShort?: boolean } = {},
): string {
  const { runs, total, broken, isWaiting = false } = progress;
  const parts = [
    `${groupDigits(runs)} of ${groupDigits(total)} runs`,
    ...(isWaiting
      ? ['waiting for a worker: npx --no-install fencepost worker']
      : paceTexts(progress)),
    ...(broken > 0 ? [brokenText(progress, isShort)] : []),
    ...(broken === 0 && runs > 0 ? ['none broke a claim'] : []),
  ];
  return parts.join(', ');
}

function paceTexts(progress: ToldProgress): readonly string[] {
  const { runsPerSecond, workers } = progress;
  const leftS = secondsLeft(progress);
  return [
    ...(workers === undefined && runsPerSecond === 0 ? [] : [`${groupDigits(runsPerSecond)}/s`]),
    ...(workers === undefined ? [] : [countOf(workers, 'worker')]),
    ...(leftS === null ? [] : [`${spanText(leftS)} left`]),
  ];
}

/** How long the rest takes if it goes on like this; null where nothing is known of that. */
export function secondsLeft({ runs, total, runsPerSecond }: SweepProgress): number | null {
  return runsPerSecond > 0 ? Math.ceil((total - runs) / runsPerSecond) : null;
}

/** `42 s`, `12 min` or `3.5 h`. */
function spanText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.ceil(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/** `312 broke a claim: unfenced grant-order 312`. */
function brokenText({ broken, kinds }: SweepProgress, isShort: boolean): string {
  if (isShort) return `${groupDigits(broken)} broke a claim`;
  const most = Object.entries(kinds)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, seeds]) => `${kind} ${groupDigits(seeds)}`);
  return `${groupDigits(broken)} broke a claim: ${most.join(', ')}`;
}
