/** `fencepost sweep status | tail | stop`: looks at sweeps on a queue, and ends one. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ListedSweep, SweepQueue } from '../adapters/fleet/sweep-queue.ts';
import { visible } from '../text/visible.ts';
import { type Exit, exits, UserError } from './exit.ts';
import { openQueue } from './open-queue.ts';
import { onlySweep, sweepsOf } from './sweep-choice.ts';
import { queueJson, queueLine, type SweepStatus, statusJson, statusLines } from './sweep-status.ts';
import { TailLines } from './sweep-tail.ts';
import { sweepCommandText } from './sweep-words.ts';

export interface ManageOptions {
  /** The URL of the queue. */
  readonly queue: string;
  /** The id of a sweep, or how it begins; null means the only one there is, or all. */
  readonly id: string | null;
  /** Lines of JSON instead of words, of `status` and `tail`. */
  readonly isJson: boolean;
  /** Of `stop`: takes what is stopped off the queue for good. */
  readonly forgets: boolean;
}

/** A coordinator that is at work tells something within this time. */
const BEAT_MS = 2_500;
const TAIL_MS = 1_000;
/** How long `tail` waits for a sweep that may be about to begin. */
const APPEAR_MS = 10_000;

/** Says of each sweep how far it is, and whether a coordinator is at work. */
export async function statusCommand(options: ManageOptions): Promise<Exit> {
  const { id, isJson } = options;
  return await withQueue(options.queue, async (queue) => {
    const before = sweepsOf(await queue.sweeps(), id);
    if (before.length > 0) await sleep(BEAT_MS);
    for (const first of before) {
      const now = await queue.sweep(first.id);
      const status: SweepStatus =
        now === null
          ? { listed: first, state: 'ended', hasCoordinator: false }
          : { listed: now, state: now.entry.state, hasCoordinator: isAtWork(now, first) };
      const resume = sweepCommandText('resume', { queue: options.queue, id: first.id });
      for (const line of isJson ? [statusJson(status)] : statusLines(status, resume)) print(line);
      const refusals = isJson || now === null ? [] : await queue.refusals(first.id);
      for (const line of refusals) print(`  a worker says: ${line}`);
    }
    const total = await queue.total();
    if (!isJson && before.length === 0) print('no sweep is on this queue');
    print(isJson ? queueJson(total) : queueLine(total));
    return exits.met;
  });
}

function print(line: string): void {
  process.stdout.write(`${visible(line)}\n`);
}

/** Whether a coordinator told something in between. */
function isAtWork({ progress }: ListedSweep, { progress: before }: ListedSweep): boolean {
  if (progress === null) return false;
  return progress.beat !== before?.beat || progress.coordinator !== before.coordinator;
}

/** Prints how far a sweep is whenever that changes, until it ends; waits a little for one. */
export async function tailCommand({ queue: url, id, isJson }: ManageOptions): Promise<Exit> {
  return await withQueue(url, async (queue) => {
    let listed = await appearing(queue, id);
    const lines = new TailLines();
    for (; ; await sleep(TAIL_MS)) {
      const now = await queue.sweep(listed.id);
      listed = now ?? listed;
      const state = now?.entry.state ?? 'ended';
      if (isJson) {
        if (state !== 'running' || lines.hasChanged(listed)) {
          print(statusJson({ listed, state, hasCoordinator: null }));
        }
      } else {
        const line = lines.next(listed, performance.now());
        if (line !== null && state === 'running') print(line);
      }
      if (state === 'running') continue;
      if (!isJson) print(endLine(listed.id, state));
      return exits.met;
    }
  });
}

function endLine(id: string, state: 'stopped' | 'ended'): string {
  if (state === 'stopped') return `${id} is stopped`;
  return `${id} has ended; its coordinator has the verdict`;
}

async function appearing(queue: SweepQueue, id: string | null): Promise<ListedSweep> {
  for (const untilMs = performance.now() + APPEAR_MS; ; await sleep(TAIL_MS)) {
    const sweeps = await queue.sweeps();
    const isThere = sweeps.some((sweep) => id === null || sweep.id.startsWith(id));
    if (isThere || performance.now() > untilMs) return onlySweep(sweeps, id, 'running');
  }
}

/** Takes the chunks of a sweep off the queue; its coordinator reports what is known and ends. */
export async function stopCommand(options: ManageOptions): Promise<Exit> {
  const { queue: url, id, forgets } = options;
  return await withQueue(url, async (queue) => {
    const found = onlySweep(await queue.sweeps(), id, forgets ? 'stopped' : 'running');
    const words = { queue: url, id: found.id };
    const forget = sweepCommandText('stop', { ...words, options: ['--forget'] });
    const resume = sweepCommandText('resume', words);
    if (forgets) return await forgetSweep(queue, found, sweepCommandText('stop', words));
    const isStopped = found.entry.state === 'stopped';
    await queue.setState(found.id, 'stopped');
    await queue.clear(found.id);
    print(`${found.id} ${isStopped ? 'was stopped before' : 'is stopped'}`);
    print(`  to go on with it, where its coordinator ran and with its --output: ${resume}`);
    print(`  to take it off the queue for good: ${forget}`);
    return exits.met;
  });
}

/** A coordinator that is at work would add all of it again. */
async function forgetSweep(queue: SweepQueue, found: ListedSweep, stop: string): Promise<Exit> {
  if (found.entry.state !== 'stopped') {
    throw new UserError([`${found.id} is not stopped; first: ${stop}`]);
  }
  await sleep(BEAT_MS);
  const now = await queue.sweep(found.id);
  if (now !== null && (now.entry.state === 'running' || isAtWork(now, found))) {
    throw new UserError([`${found.id}: a coordinator is at work on it`]);
  }
  await queue.end(found.id);
  print(`${found.id} is taken off the queue`);
  return exits.met;
}

async function withQueue(url: string, act: (queue: SweepQueue) => Promise<Exit>): Promise<Exit> {
  const { queue, close } = await openQueue(url);
  try {
    return await act(queue);
  } finally {
    await close();
  }
}
