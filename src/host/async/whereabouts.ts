/**
 * Where this thread is while it runs what may never end: code of users. A thread that hangs cannot
 * say it any more, so it says it before, in memory that another thread reads (`thread-watch.ts`),
 * which then ends it and names the seed. Where nobody reads, nothing is written.
 */
import { readlinkSync } from 'node:fs';
import { threadId } from 'node:worker_threads';
import { stepCount } from '../../core/kernel/scheduler.ts';
import type { Plan } from '../../core/plan/plan.ts';

/** What a thread is doing: code of users may hang; fencepost's own comes to its end. */
export type Activity = 'own code' | 'code of users' | 'nothing';

const ACTIVITIES: readonly Activity[] = ['nothing', 'code of users', 'own code'];

/**
 * The count of changes, the activity, the length of the text, the thread as the system and as Node
 * number it, the count of simulated events and other steps, and the text.
 */
const CHANGES = 0;
const ACTIVITY = 1;
const LENGTH = 2;
const TASK = 3;
const THREAD = 4;
const STEPS = 5;
const HEAD_BYTES = 24;
const TEXT_BYTES = 2_000;

/** What one thread writes and another reads. */
export class Whereabouts {
  readonly memory: SharedArrayBuffer;
  private readonly head: Int32Array;
  private readonly text: Uint8Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(HEAD_BYTES + TEXT_BYTES)) {
    this.memory = memory;
    this.head = new Int32Array(memory, 0, HEAD_BYTES / 4);
    this.text = new Uint8Array(memory, HEAD_BYTES, TEXT_BYTES);
  }

  /** Changes with all that the thread begins or ends, and with each simulated event. */
  get progress(): number {
    return Atomics.load(this.head, CHANGES) + Atomics.load(this.head, STEPS);
  }

  /** The thread that writes, as Linux numbers it (0 elsewhere) and Node (null before it began). */
  get thread(): { readonly task: number; readonly id: number | null } {
    const id = Atomics.load(this.head, THREAD);
    return { task: Atomics.load(this.head, TASK), id: id === 0 ? null : id - 1 };
  }

  get activity(): Activity {
    return ACTIVITIES[Atomics.load(this.head, ACTIVITY)] ?? 'nothing';
  }

  /** What it is at, a noun: `seed 3 of fenced in my-lock`; empty before the first. */
  get what(): string {
    const length = Atomics.load(this.head, LENGTH);
    return new TextDecoder().decode(this.text.slice(0, length));
  }

  write(activity: Activity, what: string | null): void {
    if (what !== null) {
      // Of a text that is too long the beginning is written.
      const { written } = new TextEncoder().encodeInto(what, new Uint8Array(TEXT_BYTES));
      this.text.set(new TextEncoder().encode(what).subarray(0, written));
      Atomics.store(this.head, LENGTH, written);
    }
    Atomics.store(this.head, ACTIVITY, ACTIVITIES.indexOf(activity));
    Atomics.add(this.head, CHANGES, 1);
  }

  /** Makes this thread the one that writes. */
  register(): void {
    Atomics.store(this.head, THREAD, threadId + 1);
    stepCount.steps = this.head.subarray(STEPS);
    try {
      const [, task = '0'] = /task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? [];
      Atomics.store(this.head, TASK, Number(task));
    } catch {
      // Only Linux numbers threads so.
    }
    this.write('nothing', null);
  }
}

/** Where this thread writes; null where nobody reads. */
let told: Whereabouts | null = null;
/** What the piece of work at hand is called, if it has a better name than its runs. */
let title: string | null = null;
/** How many pieces are under way, one inside of the other. */
let depth = 0;

/** From here on this thread says where it is. */
export function tellWhereabouts(memory: SharedArrayBuffer): void {
  told = new Whereabouts(memory);
  told.register();
}

/** Calls all that `work` runs by one name: `shrinking seed 3 of fenced in my-lock`. */
export async function entitled<T>(name: string, work: () => Promise<T>): Promise<T> {
  const before = title;
  title = name;
  try {
    return await work();
  } finally {
    title = before;
  }
}

/**
 * Runs `code`, which is the users' if `isOwn` is false, and says meanwhile that it does, by the
 * name of the code before it if `what` is null.
 */
export function within<T>(what: (() => string) | null, isOwn: boolean, code: () => T): T {
  if (told === null) return code();
  depth += 1;
  told.write(isOwn ? 'own code' : 'code of users', what === null ? null : (title ?? what()));
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
  if (depth === 0) told?.write('nothing', null);
}

/** What a run of a plan is called. */
export function runName({ scenario, system, chance }: Plan): string {
  const which = chance === null ? 'a plan' : `seed ${chance.seed}`;
  return `${which} of ${system.name} in ${scenario}`;
}
