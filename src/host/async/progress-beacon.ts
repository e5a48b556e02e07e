/**
 * Publishes this thread's current activity in shared memory before it runs user code, which may
 * never return. The reader (`thread-watch.ts`) can then end this thread and name the seed. Does
 * nothing without a reader.
 */
import { readlinkSync } from 'node:fs';
import { threadId } from 'node:worker_threads';
import { stepCount } from '../../core/kernel/scheduler.ts';
import type { Plan } from '../../core/plan/plan.ts';

/** Activity of a thread. User code may hang; fencepost's own code always ends. */
export type Activity = 'fencepost code' | 'user code' | 'nothing';

const ACTIVITIES: readonly Activity[] = ['nothing', 'user code', 'fencepost code'];

/**
 * Layout: the number of changes, the activity, the length of the text, the thread's Linux number
 * and Node id, the number of steps (such as simulated events), and the text.
 */
const CHANGES = 0;
const ACTIVITY = 1;
const LENGTH = 2;
const TASK = 3;
const THREAD = 4;
const STEPS = 5;
const HEAD_BYTES = 24;
const TEXT_BYTES = 2_000;

/** Memory that one thread writes and another thread reads. */
export class ProgressBeacon {
  readonly memory: SharedArrayBuffer;
  private readonly head: Int32Array;
  private readonly text: Uint8Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(HEAD_BYTES + TEXT_BYTES)) {
    this.memory = memory;
    this.head = new Int32Array(memory, 0, HEAD_BYTES / 4);
    this.text = new Uint8Array(memory, HEAD_BYTES, TEXT_BYTES);
  }

  /** Changes whenever the thread begins or ends something, and with each simulated event. */
  get progress(): number {
    return Atomics.load(this.head, CHANGES) + Atomics.load(this.head, STEPS);
  }

  /** The writing thread's Linux number (0 elsewhere) and Node id (null before it begins). */
  get thread(): { readonly task: number; readonly id: number | null } {
    const id = Atomics.load(this.head, THREAD);
    return { task: Atomics.load(this.head, TASK), id: id === 0 ? null : id - 1 };
  }

  get activity(): Activity {
    return ACTIVITIES[Atomics.load(this.head, ACTIVITY)] ?? 'nothing';
  }

  /** Name of the current work, such as `seed 3 of fenced in my-lock`; '' before the first work. */
  get what(): string {
    const length = Atomics.load(this.head, LENGTH);
    return new TextDecoder().decode(this.text.slice(0, length));
  }

  write(activity: Activity, text: string | null): void {
    if (text !== null) {
      // A text that is too long is truncated.
      const { written } = new TextEncoder().encodeInto(text, new Uint8Array(TEXT_BYTES));
      this.text.set(new TextEncoder().encode(text).subarray(0, written));
      Atomics.store(this.head, LENGTH, written);
    }
    Atomics.store(this.head, ACTIVITY, ACTIVITIES.indexOf(activity));
    Atomics.add(this.head, CHANGES, 1);
  }

  /** Registers this thread as the writer. */
  register(): void {
    Atomics.store(this.head, THREAD, threadId + 1);
    stepCount.steps = this.head.subarray(STEPS);
    try {
      const [, task = '0'] = /task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? [];
      Atomics.store(this.head, TASK, Number(task));
    } catch {
      // Only Linux numbers threads in this way.
    }
    this.write('nothing', null);
  }
}

/** The beacon of this thread, or null if it has no reader. */
let published: ProgressBeacon | null = null;
/** Name of the current work that replaces the names of its runs, or null. */
let title: string | null = null;
/** Number of nested pieces of work in progress. */
let depth = 0;

/** Publishes this thread's activity in `memory` from now on. */
export function publishProgress(memory: SharedArrayBuffer): void {
  published = new ProgressBeacon(memory);
  published.register();
}

/** Uses one name for everything that `work` runs: `shrinking seed 3 of fenced in my-lock`. */
export async function withLabel<T>(name: string, work: () => Promise<T>): Promise<T> {
  const before = title;
  title = name;
  try {
    return await work();
  } finally {
    title = before;
  }
}

/**
 * Runs `code`, and publishes meanwhile whether it is user code. If `describe` is null, the previous
 * name remains.
 */
export function within<T>(describe: (() => string) | null, isBuiltIn: boolean, code: () => T): T {
  if (published === null) return code();
  depth += 1;
  published.write(
    isBuiltIn ? 'fencepost code' : 'user code',
    describe === null ? null : (title ?? describe()),
  );
  let result: T;
  try {
    result = code();
  } catch (error) {
    leave();
    throw error;
  }
  if (result instanceof Promise) void result.then(leave, leave);
  else leave();
  return result;
}

function leave(): void {
  depth -= 1;
  if (depth === 0) published?.write('nothing', null);
}

/** Returns the name of a plan's run. */
export function runName({ scenario, system, chance }: Plan): string {
  const planLabel = chance === null ? 'a plan' : `seed ${chance.seed}`;
  return `${planLabel} of ${system.name} in ${scenario}`;
}
