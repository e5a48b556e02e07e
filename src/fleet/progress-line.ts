/** One line that says how far a sweep on a queue is. */
import { countOf, groupDigits } from '../report/prose.ts';
import type { SweepProgress } from './jobs.ts';

/** The number of workers is left out where it is not known. */
export function progressLine(progress: SweepProgress & { readonly workers?: number }): string {
  const { runs, total, runsPerSecond, workers, broken } = progress;
  const leftS = secondsLeft(progress);
  const parts = [
    `${groupDigits(runs)} of ${groupDigits(total)} runs`,
    `${groupDigits(runsPerSecond)}/s`,
    ...(workers === undefined ? [] : [countOf(workers, 'worker')]),
    ...(leftS === null ? [] : [`${spanText(leftS)} left`]),
    broken === 0 ? 'none broke a claim' : kindsText(progress),
  ];
  return parts.join(', ');
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
function kindsText({ broken, kinds }: SweepProgress): string {
  const most = Object.entries(kinds)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, seeds]) => `${kind} ${groupDigits(seeds)}`);
  return `${groupDigits(broken)} broke a claim: ${most.join(', ')}`;
}
