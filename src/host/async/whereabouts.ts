/**
 * Where this thread is while it runs what may never end: code of users. A thread that hangs cannot
 * say it any more, so it says it before, in memory that another thread reads, which then ends it
 * and names the seed. Where nobody reads, nothing is written.
 */
import type { Plan } from '../../core/plan/plan.ts';

/** What a thread is doing: code of users may hang; fencepost's own comes to its end. */
export type Activity = 'own code' | 'code of users' | 'nothing';

const ACTIVITIES: readonly Activity[] = ['nothing', 'code of users', 'own code'];

/** The count of changes, the activity, the length of the text, and the text. */
const CHANGES = 0;
const ACTIVITY = 1;
const LENGTH = 2;
const HEAD_BYTES = 12;
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

  /** Rises with whatever the thread begins or ends. */
  get changes(): number {
    return Atomics.load(this.head, CHANGES);
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
}

/**
 * The time that whoever watches sees pass, in milliseconds: what the process sleeps through,
 * stopped by Ctrl-Z or on a laptop that is closed, is nobody's fault and does not count.
 */
export class WatchedTime {
  private readonly sleepMs: number;
  private lastMs = performance.now();
  private sleptMs = 0;

  /** Who looks again only after `sleepMs` has slept. */
  constructor(sleepMs: number) {
    this.sleepMs = sleepMs;
  }

  /** Looks; rises by the time since the last look. */
  now(): number {
    const nowMs = performance.now();
    const sinceMs = nowMs - this.lastMs;
    if (sinceMs > this.sleepMs) this.sleptMs += sinceMs;
    this.lastMs = nowMs;
    return nowMs - this.sleptMs;
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

/** Runs `code`, which is the users' if `isOwn` is false, and says meanwhile that it does. */
export function within<T>(what: () => string, isOwn: boolean, code: () => T): T {
  if (told === null) return code();
  depth += 1;
  told.write(isOwn ? 'own code' : 'code of users', title ?? what());
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
