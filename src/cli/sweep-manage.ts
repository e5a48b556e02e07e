/**
 * `fencepost sweep status | tail | stop`: looks at sweeps on a queue, and ends one. Each says how
 * far a sweep is, in words or as a line of JSON; who gives no id, or how one begins, means the only
 * sweep that fits.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { chunksIn } from '../adapters/fleet/chunks.ts';
import { progressLine, secondsLeft } from '../adapters/fleet/progress.ts';
import type { ListedSweep, QueueCounts, SweepQueue } from '../adapters/fleet/sweep-queue.ts';
import { groupDigits } from '../text/prose.ts';
import { visible } from '../text/visible.ts';
import { type Exit, exits, UserError } from './exit.ts';
import { sweepCommandText, withQueue } from './open-queue.ts';

interface ManageOptions {
  /** The URL of the queue. */
  readonly queue: string;
  /** The id of a sweep, or how it begins; null means the only one there is, or all. */
  readonly id: string | null;
  /** Lines of JSON instead of words, of `status` and `tail`. */
  readonly isJson: boolean;
  /** Of `stop`: takes what is stopped off the queue for good. */
  readonly forgets: boolean;
}

/** What each of them does. */
export const manage: Readonly<
  Record<'status' | 'tail' | 'stop', (options: ManageOptions) => Promise<Exit>>
> = { status: statusCommand, tail: tailCommand, stop: stopCommand };

/** A coordinator that is at work tells something within this time. */
const BEAT_MS = 2_500;
const TAIL_MS = 1_000;
/** How long `tail` waits for a sweep that may be about to begin. */
const APPEAR_MS = 10_000;

/** Says of each sweep how far it is, and whether a coordinator is at work. */
async function statusCommand(options: ManageOptions): Promise<Exit> {
  const { id, isJson } = options;
  return await withQueue(options.queue, async ({ queue }) => {
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
async function tailCommand({ queue: url, id, isJson }: ManageOptions): Promise<Exit> {
  return await withQueue(url, async ({ queue }) => {
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
async function stopCommand(options: ManageOptions): Promise<Exit> {
  const { queue: url, id, forgets } = options;
  return await withQueue(url, async ({ queue }) => {
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

/** The sweeps whose id begins so; all for null. */
function sweepsOf(sweeps: readonly ListedSweep[], id: string | null): readonly ListedSweep[] {
  const fitting = sweeps.filter((sweep) => id === null || sweep.id.startsWith(id));
  if (id !== null && fitting.length === 0) throw new UserError([`${id}: no such sweep is there`]);
  return fitting;
}

/**
 * The sweep that is meant; refused where none or several could be. Of several the only one in the
 * `preferred` state is.
 */
export function onlySweep(
  sweeps: readonly ListedSweep[],
  id: string | null,
  preferred?: ListedSweep['entry']['state'],
): ListedSweep {
  const fitting = sweepsOf(sweeps, id);
  const favoured = fitting.filter(({ entry }) => entry.state === preferred);
  const [first, ...others] = favoured.length === 1 ? favoured : fitting;
  if (first === undefined) throw new UserError(['no sweep is on this queue']);
  if (others.length === 0) return first;
  throw new UserError(['which sweep? there are several:', ...[first, ...others].map(choiceLine)]);
}

function choiceLine({ id, entry }: ListedSweep): string {
  const { origin, range } = entry.sweep;
  const seeds = `seeds ${groupDigits(range.from)}..${groupDigits(range.to)}`;
  return `  ${id}  ${origin.scenario}, ${seeds}, ${entry.state}`;
}

/** A sweep as it is now, and whether a coordinator is at work; null where nobody looked. */
interface SweepStatus {
  readonly listed: ListedSweep;
  readonly state: 'running' | 'stopped' | 'ended';
  readonly hasCoordinator: boolean | null;
}

/** Two lines: what it is, and how far; `resume` is the command that goes on with it. */
function statusLines(
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
function farLine(
  { entry, progress }: ListedSweep,
  { isShort = false }: { readonly isShort?: boolean } = {},
): string {
  const chunks = chunksIn(entry.sweep);
  if (progress === null) return `nothing of ${groupDigits(chunks)} chunks yet`;
  const share = `${groupDigits(progress.done)} of ${groupDigits(chunks)} chunks`;
  return `${share}; ${progressLine(progress, { isShort })}`;
}

/** The same for machines. */
function statusJson({ listed, state, hasCoordinator }: SweepStatus): string {
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
function queueLine({ waiting, active, delayed, ended, workers }: QueueCounts): string {
  const jobs = `${waiting} waiting, ${active} at work, ${delayed} put off, ${ended} to collect`;
  return `workers: ${workers}; chunks: ${jobs}`;
}

/** The same for machines. */
function queueJson({ waiting, active, delayed, ended, workers }: QueueCounts): string {
  const head = { type: 'queue-status', version: 1 };
  return JSON.stringify({ ...head, workers, waiting, active, delayed, ended });
}

/** Where lines are not looked at as they come, there is one in that time. */
const KEPT_EVERY_MS = 10_000;

export class TailLines {
  private readonly isLive: boolean;
  private known: string | null = null;
  private kinds = '{}';
  private printedAtMs = -Infinity;

  constructor(isLive: boolean = process.stdout.isTTY === true) {
    this.isLive = isLive;
  }

  /** The line to print now; null where nothing changed, or the last one is not old enough. */
  next(listed: ListedSweep, nowMs: number): string | null {
    if (!this.isLive && nowMs - this.printedAtMs < KEPT_EVERY_MS) return null;
    if (!this.hasChanged(listed)) return null;
    this.printedAtMs = nowMs;
    const kinds = JSON.stringify(listed.progress?.kinds ?? {});
    const line = farLine(listed, { isShort: kinds === this.kinds });
    this.kinds = kinds;
    return line;
  }

  /** Whether it is further than at the last call. */
  hasChanged({ entry, progress }: ListedSweep): boolean {
    const { runs = 0, broken = 0, done = 0 } = progress ?? {};
    const now = JSON.stringify([entry.state, progress === null, done, runs, broken]);
    const isOther = now !== this.known;
    this.known = now;
    return isOther;
  }
}
