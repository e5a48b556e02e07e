/**
 * Watches a thread that runs code of users, from another thread, and finds out if that code never
 * ends. Time on a clock ends nothing: a busy machine may keep any thread waiting. The limit is on
 * the CPU time that the thread itself has used since the last simulated event, so that a thread
 * which does not get the CPU loses none of it. Linux counts that for each thread. Elsewhere the CPU
 * time of the process is divided by the number of threads that it may have ready to run at once.
 *
 * A thread that waits for something that is not simulated, as in `Atomics.wait`, uses no CPU time.
 * It ends after 30 s of looks at which the system calls it asleep, and never ready to run.
 *
 * A thread that is suspected is asked for its stack through Node's inspector, which also stops one
 * that fills its heap before it dies of that. Both happen where it was interrupted, which depends
 * on the machine. So several stacks are taken, and the place is that in the innermost function that
 * they share, the first there of those seen. Without an inspector no place is known.
 */
import { readFileSync } from 'node:fs';
import type { Session } from 'node:inspector';
import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import { type Frame, ownFramesIn, placeIn } from './call-site.ts';
import type { Whereabouts } from './whereabouts.ts';

/** CPU time that a thread may use without an event; the variable is for tests alone. */
export const STALL_MS: number = Number(process.env['FENCEPOST_STALL_MS'] ?? 5_000);

const LOOK_EVERY_MS = 50;
const MOST_IDLE_LOOKS = 30_000 / LOOK_EVERY_MS;
/** CPU time after which the inspector is attached. */
const SUSPECTED_MS = 100;

export interface WatchOptions {
  /** The CPU time that the thread may use without progress in code of users. */
  readonly stallMs: number;
  /** The same between two runs; code of fencepost has no limit. */
  readonly betweenMs: number;
  /** By how much the memory of the process may grow in that time, beyond the heap of the thread. */
  readonly mostMb: number;
  /** Whether the inspector is attached at once. */
  readonly isWary?: boolean;
  /** Called once, with a clause that says why the thread has to be ended. */
  readonly onLost: (why: string) => void;
}

/** A thread that is watched until `end` is called. */
export class ThreadWatch {
  private readonly beacon: Whereabouts;
  private readonly options: WatchOptions;
  private readonly looking: NodeJS.Timeout;
  private progress = Number.NaN;
  /** The CPU time of the thread at the last progress, and at the last look. */
  private sinceMs = 0;
  private cpuMs = 0;
  private idleLooks = 0;
  private rss = 0;
  private inspection: Promise<Inspection | null> | null = null;
  private isEnding = false;

  constructor(beacon: Whereabouts, options: WatchOptions) {
    this.beacon = beacon;
    this.options = options;
    this.looking = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.noteProgress();
  }

  /** The CPU time that the thread has used since its last progress. */
  get stallMs(): number {
    return this.beacon.progress === this.progress ? this.cpuMs - this.sinceMs : 0;
  }

  noteProgress(): void {
    this.progress = this.beacon.progress;
    this.cpuMs = timeOf(this.beacon.thread.task).cpuMs;
    this.sinceMs = this.cpuMs;
    this.idleLooks = 0;
    if (this.options.isWary === true) this.inspect();
    else this.release();
  }

  end(): void {
    this.isEnding = true;
    clearInterval(this.looking);
    this.release();
  }

  private look(): void {
    if (this.isEnding) return;
    const { beacon, options } = this;
    if (beacon.progress !== this.progress) {
      this.noteProgress();
      return;
    }
    const { cpuMs, isAsleep } = timeOf(beacon.thread.task);
    this.idleLooks = isAsleep && cpuMs === this.cpuMs ? this.idleLooks + 1 : 0;
    this.cpuMs = cpuMs;
    if (beacon.activity === 'own code') return;
    const limitMs = beacon.activity === 'nothing' ? options.betweenMs : options.stallMs;
    const { stallMs } = this;
    if (beacon.activity === 'code of users' && stallMs > Math.min(SUSPECTED_MS, limitMs / 3)) {
      this.inspect();
      const grown = process.memoryUsage.rss() - this.rss;
      if (grown > options.mostMb * 2 ** 20) void this.lose(HEAP_FULL);
    }
    if (stallMs > limitMs) void this.lose(`${limitMs / 1000} s of CPU time without an event`);
    if (this.idleLooks > MOST_IDLE_LOOKS) void this.lose('it waits for what is not simulated');
  }

  private inspect(): void {
    const { id } = this.beacon.thread;
    if (this.inspection !== null || id === null) return;
    this.rss = process.memoryUsage.rss();
    const onHeapFull = (): void => void this.lose(HEAP_FULL);
    this.inspection = Inspection.open(id, onHeapFull);
  }

  private release(): void {
    void this.inspection?.then((inspection) => inspection?.close());
    this.inspection = null;
  }

  /** Ends the watch, unless the thread gets on while it is asked where it is. */
  private async lose(what: string): Promise<void> {
    if (this.isEnding) return;
    this.isEnding = true;
    this.inspect();
    const place = (await (await this.inspection)?.place()) ?? null;
    this.isEnding = false;
    if (what !== HEAP_FULL && this.beacon.progress !== this.progress) return;
    this.end();
    this.options.onLost(`${what}${place === null ? '' : `, at ${place}`}`);
  }
}

/** Why a thread ends that may keep no more. */
export const HEAP_FULL = 'heap out of memory';

interface ThreadTime {
  readonly cpuMs: number;
  readonly isAsleep: boolean;
}

/** A tick of the clock in which Linux counts the time of threads. */
const TICK_MS = 10;
/** Threads that may run at once beside the workers, as those that collect garbage. */
const HELPERS = 8;

/** Returns the time of a thread by its number in Linux; by a share of the process, if that is 0. */
function timeOf(task: number): ThreadTime {
  if (task === 0) {
    const { user, system } = process.cpuUsage();
    const cpuMs = Math.floor((user + system) / 1000 / (availableParallelism() + HELPERS));
    return { cpuMs, isAsleep: true };
  }
  try {
    // `12 (node) S …`, with utime and stime in the fields 14 and 15.
    const text = readFileSync(`/proc/self/task/${task}/stat`, 'latin1');
    const [state, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const cpuMs = (Number(fields[10]) + Number(fields[11])) * TICK_MS;
    return { cpuMs, isAsleep: state === 'S' };
  } catch {
    return { cpuMs: Number.NaN, isAsleep: false }; // it has ended
  }
}

/** What the inspector sends, as far as it is read here. */
interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: { readonly result?: { readonly value?: unknown } };
  readonly params?: {
    readonly sessionId?: string;
    readonly workerInfo?: { readonly title: string };
    readonly message?: string;
    readonly reason?: string;
    readonly callFrames?: readonly { readonly callFrameId: string }[];
  };
}

/** Stacks that are taken of a thread, how long after each other, and how long that may take. */
const STACKS = 10;
const BETWEEN_MS = 5;
const PATIENCE_MS = 10_000;
const STACK = '(Error.stackTraceLimit = 100, String(new Error().stack))';

/** The inspector of another thread. */
class Inspection {
  private readonly session: Session;
  /** The thread as Node numbers it; 0 is the main thread. */
  private readonly thread: number;
  private readonly onHeapFull: () => void;
  /** What the main thread calls the session of the thread; null until it is attached. */
  private attached: string | null = null;
  private calls = 0;
  private readonly stacks: string[] = [];
  /** The stack of the pause that the thread is in. */
  private stack = '';

  static async open(thread: number, onHeapFull: () => void): Promise<Inspection | null> {
    try {
      const { Session } = await import('node:inspector');
      return new Inspection(new Session(), thread, onHeapFull);
    } catch {
      return null; // Node may be built without it
    }
  }

  private constructor(session: Session, thread: number, onHeapFull: () => void) {
    this.session = session;
    this.thread = thread;
    this.onHeapFull = onHeapFull;
    session.on('inspectorNotification', (message: Message) => this.take(message));
    if (isMainThread) session.connect();
    else session.connectToMainThread();
    if (thread === 0) this.send('Debugger.enable');
    else session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });
  }

  /** Returns where the thread is in code of users, or null if that is not known. */
  async place(): Promise<string | null> {
    const untilMs = performance.now() + PATIENCE_MS;
    while (this.stacks.length < STACKS && performance.now() < untilMs) {
      const { length } = this.stacks;
      this.send('Debugger.pause');
      while (this.stacks.length === length && performance.now() < untilMs) await wait(BETWEEN_MS);
    }
    return placeAmong(this.stacks);
  }

  close(): void {
    this.session.disconnect();
  }

  private send(method: string, params: object = {}): void {
    this.calls += 1;
    const { session, thread, attached, calls: id } = this;
    if (thread === 0) {
      session.post(method, params, (_, result) => this.take({ result: { ...result } }));
    } else if (attached !== null) {
      const message = JSON.stringify({ id, method, params });
      session.post('NodeWorker.sendMessageToWorker', { sessionId: attached, message });
    }
  }

  private take({ method, params = {}, result }: Message): void {
    const { sessionId = null, workerInfo, message, reason, callFrames } = params;
    if (method === 'NodeWorker.attachedToWorker') {
      if (workerInfo?.title.startsWith(`[worker ${this.thread}]`) !== true) return;
      this.attached = sessionId;
      this.send('Debugger.enable');
    } else if (method === 'NodeWorker.receivedMessageFromWorker') {
      if (sessionId === this.attached && message !== undefined) this.take(JSON.parse(message));
    } else if (method === 'Debugger.paused') {
      if (reason === 'OOM') this.onHeapFull();
      const [frame] = callFrames ?? [];
      this.send('Debugger.evaluateOnCallFrame', { ...frame, expression: STACK });
      this.send('Debugger.resume');
    } else if (typeof result?.result?.value === 'string') this.stack = result.result.value;
    // Before that, one more pause would be lost.
    else if (method === 'Debugger.resumed') this.stacks.push(this.stack);
  }
}

/** Returns the first place of the innermost function that is on all stacks. */
function placeAmong(stacks: readonly string[]): string | null {
  const all = stacks.map((stack) => ownFramesIn(stack).toReversed());
  let place: string | null = null;
  for (let depth = 0; all.length > 0; depth += 1) {
    const here = all.flatMap((frames) => frames[depth] ?? []);
    const [first] = here.sort((a, b) => lineAndColumn(a) - lineAndColumn(b));
    const isShared = here.length === all.length && here.every(({ file }) => file === first?.file);
    if (first === undefined || !isShared) break;
    place = placeIn(first);
    if (here.some((frame) => frame.place !== first.place)) break;
  }
  return place;
}

function lineAndColumn({ place }: Frame): number {
  const [line = 0, column = 0] = place.split(':').map(Number);
  return line * 1e6 + column;
}
