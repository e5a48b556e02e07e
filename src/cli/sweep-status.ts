/** How far a sweep on a queue is, in words and as a line of JSON. */
import { chunksIn } from '../adapters/fleet/chunks.ts';
import { progressLine, secondsLeft } from '../adapters/fleet/progress.ts';
import type { ListedSweep, QueueCounts } from '../adapters/fleet/sweep-queue.ts';
import { groupDigits } from '../text/prose.ts';

/** A sweep as it is now, and whether a coordinator is at work; null where nobody looked. */
export interface SweepStatus {
  readonly listed: ListedSweep;
  readonly state: 'running' | 'stopped' | 'ended';
  readonly hasCoordinator: boolean | null;
}

/** Two lines: what it is, and how far; `resume` is the command that goes on with it. */
export function statusLines(
  { listed, state, hasCoordinator }: SweepStatus,
  resume: string,
): readonly string[] {
  if (state === 'ended') return [`${listed.id}  ended just now`];
  const { origin, range } = listed.entry.sweep;
  const who =
    hasCoordinator === true
      ? 'a coordinator is at work'
      : `no coordinator; to go on, with its --output: ${resume}`;
  const what = `${origin.scenario}, seeds ${range.from}..${range.to}, fencepost ${origin.fencepost}`;
  return [`${listed.id}  ${what}: ${state}; ${who}`, `  ${farLine(listed)}`];
}

/** How far a sweep is, as its coordinator told last; what broke how often only if not `isShort`. */
export function farLine(
  { entry, progress }: ListedSweep,
  { isShort = false }: { readonly isShort?: boolean } = {},
): string {
  const chunks = chunksIn(entry.sweep);
  if (progress === null) return `nothing of ${groupDigits(chunks)} chunks yet`;
  const share = `${groupDigits(progress.done)} of ${groupDigits(chunks)} chunks`;
  return `${share}; ${progressLine(progress, { isShort })}`;
}

/** The same for machines. */
export function statusJson({ listed, state, hasCoordinator }: SweepStatus): string {
  const { id, entry, progress } = listed;
  const { origin, range } = entry.sweep;
  return JSON.stringify({
    ...{ type: 'sweep-status', version: 1, sweep: id },
    ...{ scenario: origin.scenario, fencepost: origin.fencepost, from: range.from, to: range.to },
    ...{ state, hasCoordinator },
    chunks: { done: progress?.done ?? 0, total: chunksIn(entry.sweep) },
    progress: progress && {
      ...{ runs: progress.runs, total: progress.total, runsPerSecond: progress.runsPerSecond },
      secondsLeft: secondsLeft(progress),
      ...{ broken: progress.broken, kinds: progress.kinds },
    },
  });
}

/** The jobs of all sweeps, in one line. */
export function queueLine({ waiting, active, delayed, ended, workers }: QueueCounts): string {
  const jobs = `${waiting} waiting, ${active} at work, ${delayed} put off, ${ended} to collect`;
  return `workers: ${workers}; chunks: ${jobs}`;
}

/** The same for machines. */
export function queueJson({ waiting, active, delayed, ended, workers }: QueueCounts): string {
  const head = { type: 'queue-status', version: 1 };
  return JSON.stringify({ ...head, workers, waiting, active, delayed, ended });
}
