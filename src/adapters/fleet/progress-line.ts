/** One line that says how far a sweep on a queue is. */
import { countOf, groupDigits } from '../../text/prose.ts';
import type { SweepProgress } from './jobs.ts';

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
    ...(isWaiting ? ['waiting for a worker: npx fencepost worker'] : paceTexts(progress)),
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
