/** `fencepost sweep status | tail | stop`: looks at sweeps on a queue, and ends one. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ListedSweep, SweepQueue } from '../fleet/sweep-queue.ts';
import { type Exit, exits, UserError } from './exit.ts';
import { openQueue } from './open-queue.ts';
import {
  farLine,
  queueJson,
  queueLine,
  type SweepStatus,
  statusJson,
  statusLines,
} from './sweep-status.ts';

export interface ManageOptions {
  readonly queue: string;
  /** The id of a sweep, or how it begins; null means the only one there is, or all. */
  readonly id: string | null;
  /** Lines of JSON instead of words, of `status` and `tail`. */
  readonly isJson: boolean;
}

/** A coordinator that is at work tells something within this time. */
const BEAT_MS = 2_500;
const TAIL_MS = 1_000;

/** Says of each sweep how far it is, and whether a coordinator is at work. */
export async function statusCommand({ queue: url, id, isJson }: ManageOptions): Promise<Exit> {
  const say = sayer(isJson);
  return await withQueue(url, async (queue) => {
    const before = chosen(await queue.sweeps(), id);
    if (before.length > 0) await sleep(BEAT_MS);
    for (const first of before) {
      const now = await queue.sweep(first.id);
      say(
        now === null
          ? { listed: first, state: 'ended', hasCoordinator: false }
          : { listed: now, state: now.entry.state, hasCoordinator: isAtWork(now, first) },
      );
    }
    const counts = await queue.counts();
    if (!isJson && before.length === 0) print('no sweep is on this queue');
    print(isJson ? queueJson(counts) : queueLine(counts));
    return exits.met;
  });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function sayer(isJson: boolean): (status: SweepStatus) => void {
  return (status) => {
    for (const line of isJson ? [statusJson(status)] : statusLines(status)) print(line);
  };
}

/** Whether a coordinator told something in between. */
function isAtWork({ progress }: ListedSweep, { progress: before }: ListedSweep): boolean {
  if (progress === null) return false;
  return progress.beat !== before?.beat || progress.coordinator !== before.coordinator;
}

/** Prints how far a sweep is, until it ends. */
export async function tailCommand({ queue: url, id, isJson }: ManageOptions): Promise<Exit> {
  return await withQueue(url, async (queue) => {
    let listed = only(await queue.sweeps(), id);
    for (let last = ''; ; await sleep(TAIL_MS)) {
      const now = await queue.sweep(listed.id);
      listed = now ?? listed;
      const state = now?.entry.state ?? 'ended';
      const json = (): string => statusJson({ listed, state, hasCoordinator: null });
      if (state !== 'running') {
        const how = state === 'ended' ? 'has ended' : 'is stopped';
        print(isJson ? json() : `${listed.id} ${how}`);
        return exits.met;
      }
      const line = isJson ? json() : farLine(listed);
      if (line !== last) print(line);
      last = line;
    }
  });
}

/** Takes the chunks of a sweep off the queue; its coordinator reports what is known and ends. */
export async function stopCommand({
  queue: url,
  id,
}: Omit<ManageOptions, 'isJson'>): Promise<Exit> {
  return await withQueue(url, async (queue) => {
    const { id: sweepId } = only(await queue.sweeps(), id);
    await queue.setState(sweepId, 'stopped');
    await queue.clear(sweepId);
    print(`${sweepId} is stopped; \`sweep resume\` goes on with it`);
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
