/** `fencepost sweep status | tail | stop`: looks at sweeps on a queue, and ends one. */
import { setTimeout as sleep } from 'node:timers/promises';
import { chunksIn } from '../fleet/chunk-map.ts';
import { progressLine } from '../fleet/progress-line.ts';
import type { ListedSweep, SweepQueue } from '../fleet/sweep-queue.ts';
import { groupDigits } from '../report/prose.ts';
import { type Exit, exits, UserError } from './exit.ts';
import { openQueue } from './open-queue.ts';
import { openTerminal, type Terminal } from './terminal.ts';

export interface ManageOptions {
  readonly queue: string;
  /** The id of a sweep, or how it begins; null means the only one there is, or all. */
  readonly id: string | null;
}

/** A coordinator that is at work tells something within this time. */
const BEAT_MS = 2_500;
const TAIL_MS = 1_000;

/** Says of each sweep how far it is, and whether a coordinator is at work. */
export async function statusCommand({ queue: url, id }: ManageOptions): Promise<Exit> {
  const terminal = openTerminal({ isQuiet: false, isJson: false });
  return await withQueue(url, async (queue) => {
    const before = chosen(await queue.sweeps(), id);
    if (before.length > 0) await sleep(BEAT_MS);
    for (const first of before) {
      const now = await queue.sweep(first.id);
      if (now === null) terminal.print(`${first.id}  ended just now`);
      else for (const line of statusLines(now, first)) terminal.print(line);
    }
    if (before.length === 0) terminal.print('no sweep is on this queue');
    const { waiting, active, delayed, ended, workers } = await queue.counts();
    const jobs = `${waiting} waiting, ${active} at work, ${delayed} put off, ${ended} to collect`;
    terminal.print(`workers: ${workers}; chunks: ${jobs}`);
    return exits.met;
  });
}

function statusLines(now: ListedSweep, before: ListedSweep): readonly string[] {
  const { sweep, state } = now.entry;
  const { from, to } = sweep.range;
  const isAtWork =
    now.progress !== null &&
    (now.progress.beat !== before.progress?.beat ||
      now.progress.coordinator !== before.progress.coordinator);
  const coordinator = isAtWork ? 'a coordinator is at work' : 'no coordinator: `sweep resume`';
  const what = `${sweep.origin.scenario}, seeds ${from}..${to}, fencepost ${sweep.origin.fencepost}`;
  return [`${now.id}  ${what}: ${state}; ${coordinator}`, `  ${farLine(now)}`];
}

/** How far a sweep is, as its coordinator told last. */
function farLine({ entry, progress }: ListedSweep): string {
  const chunks = chunksIn(entry.sweep);
  if (progress === null) return `nothing of ${groupDigits(chunks)} chunks yet`;
  const share = `${groupDigits(progress.done)} of ${groupDigits(chunks)} chunks`;
  return `${share}; ${progressLine(progress)}`;
}

/** Prints how far a sweep is, until it ends. */
export async function tailCommand({ queue: url, id }: ManageOptions): Promise<Exit> {
  const terminal = openTerminal({ isQuiet: false, isJson: false });
  return await withQueue(url, async (queue) => {
    const { id: sweepId } = only(await queue.sweeps(), id);
    for (let last = ''; ; await sleep(TAIL_MS)) {
      const now = await queue.sweep(sweepId);
      if (now === null || now.entry.state === 'stopped') {
        terminal.print(`${sweepId} ${now === null ? 'has ended' : 'is stopped'}`);
        return exits.met;
      }
      const line = farLine(now);
      if (line !== last) terminal.print(line);
      last = line;
    }
  });
}

/** Takes the chunks of a sweep off the queue; its coordinator reports what is known and ends. */
export async function stopCommand({ queue: url, id }: ManageOptions): Promise<Exit> {
  const terminal: Terminal = openTerminal({ isQuiet: false, isJson: false });
  return await withQueue(url, async (queue) => {
    const { id: sweepId } = only(await queue.sweeps(), id);
    await queue.setState(sweepId, 'stopped');
    await queue.clear(sweepId);
    terminal.print(`${sweepId} is stopped; \`sweep resume\` goes on with it`);
    return exits.met;
  });
}

async function withQueue(url: string, act: (queue: SweepQueue) => Promise<Exit>): Promise<Exit> {
  const { queue } = await openQueue(url);
  try {
    return await act(queue);
  } finally {
    await queue.close();
  }
}

/** The sweeps whose id begins so; all for null. */
function chosen(sweeps: readonly ListedSweep[], id: string | null): readonly ListedSweep[] {
  const fitting = sweeps.filter((sweep) => id === null || sweep.id.startsWith(id));
  if (id !== null && fitting.length === 0) throw new UserError([`${id}: no such sweep is there`]);
  return fitting;
}

/** The sweep that is meant; refused where none or several could be. */
export function only(sweeps: readonly ListedSweep[], id: string | null): ListedSweep {
  const [first, ...others] = chosen(sweeps, id);
  if (first === undefined) throw new UserError(['no sweep is on this queue']);
  if (others.length === 0) return first;
  const lines = [first, ...others].map(
    ({ id: one, entry }) => `  ${one}  ${entry.sweep.origin.scenario}`,
  );
  throw new UserError(['which sweep? there are several:', ...lines]);
}
