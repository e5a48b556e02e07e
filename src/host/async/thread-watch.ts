/**
 * Detects user code that never ends, by watching its thread from another thread. The limit is on
 * the CPU time of the watched thread since the last simulated event, because a limit on wall time
 * would also end threads that a busy machine delays. Linux counts CPU time per thread; elsewhere,
 * the CPU time of the process is divided by the number of threads that may run at once.
 *
 * A thread that waits for something real, as in `Atomics.wait`, uses no CPU time. It is ended after
 * 30 s of samples in which it was asleep and used no CPU time.
 *
 * The stack of a suspected thread is read through Node's inspector, which also interrupts a thread
 * before its heap is full. The point of interruption depends on the machine, so several stacks are
 * taken. The reported place is in the innermost function that all stacks share. Without an
 * inspector, no place is known.
 */
import { readFileSync } from 'node:fs';
import type { Session } from 'node:inspector';
import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import { type Frame, placeIn, userFramesIn } from './call-site.ts';
import type { ProgressBeacon } from './progress-beacon.ts';

/** CPU time that a thread may use without an event. The environment variable is for tests only. */
export const STALL_MS: number = Number(process.env['FENCEPOST_STALL_MS'] ?? 5_000);

const LOOK_EVERY_MS = 50;
const MOST_IDLE_LOOKS = 30_000 / LOOK_EVERY_MS;
/** CPU time after which the inspector is attached. */
const SUSPECTED_MS = 100;

export interface WatchOptions {
  /** CPU time that the thread may use without progress in user code. */
  readonly stallMs: number;
  /** CPU time that the thread may use between two runs. Code of fencepost has no limit. */
  readonly betweenMs: number;
  /** Megabytes by which the memory of the process may grow after the inspector is attached. */
  readonly mostMb: number;
  /** True to attach the inspector at once. */
  readonly isWary?: boolean;
  /** Called once, with a clause that states why the thread must be ended. */
  readonly onLost: (why: string) => void;
}

/** Watches a thread until `end` is called. */
export class ThreadWatch {
  private readonly beacon: ProgressBeacon;
  private readonly options: WatchOptions;
  private readonly looking: NodeJS.Timeout;
  private progress = Number.NaN;
  /** The CPU time of the thread at the last progress, and at the last sample. */
  private sinceMs = 0;
  private cpuMs = 0;
  private idleLooks = 0;
  private rss = 0;
  private inspection: Promise<Inspection | null> | null = null;
  private isEnding = false;

  constructor(beacon: ProgressBeacon, options: WatchOptions) {
    this.beacon = beacon;
    this.options = options;
    this.looking = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.noteProgress();
  }

  /** CPU time that the thread has used since its last progress. */
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
    if (beacon.activity === 'fencepost code') return;
    const limitMs = beacon.activity === 'nothing' ? options.betweenMs : options.stallMs;
    const { stallMs } = this;
    if (beacon.activity === 'user code' && stallMs > Math.min(SUSPECTED_MS, limitMs / 3)) {
      this.inspect();
      const grown = process.memoryUsage.rss() - this.rss;
      if (grown > options.mostMb * 2 ** 20) void this.lose(HEAP_FULL);
    }
    if (stallMs > limitMs) void this.lose(`${limitMs / 1000} s of CPU time without an event`);
    if (this.idleLooks > MOST_IDLE_LOOKS)
      void this.lose('it waits for something that is not simulated');
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

  /** Ends the watch, unless the thread makes progress while its stack is taken. */
  private async lose(reason: string): Promise<void> {
    if (this.isEnding) return;
    this.isEnding = true;
    this.inspect();
    const place = (await (await this.inspection)?.place()) ?? null;
    this.isEnding = false;
    if (reason !== HEAP_FULL && this.beacon.progress !== this.progress) return;
    this.end();
    this.options.onLost(`${reason}${place === null ? '' : `, at ${place}`}`);
  }
}

/** The reason given for a thread whose heap is full. */
export const HEAP_FULL = 'heap out of memory';

interface ThreadTime {
  readonly cpuMs: number;
  readonly isAsleep: boolean;
}

/** The resolution at which Linux counts the CPU time of threads. */
const TICK_MS = 10;
/** Threads that may run at once besides the workers, such as those of the garbage collector. */
const HELPERS = 8;

/** Returns the thread's CPU time. If `task` is 0, returns a share of the process's time. */
function timeOf(task: number): ThreadTime {
  if (task === 0) {
    const { user, system } = process.cpuUsage();
    const cpuMs = Math.floor((user + system) / 1000 / (availableParallelism() + HELPERS));
    return { cpuMs, isAsleep: true };
  }
  try {
    // `12 (node) S …`, with utime and stime in fields 14 and 15.
    const text = readFileSync(`/proc/self/task/${task}/stat`, 'latin1');
    const [state, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const cpuMs = (Number(fields[10]) + Number(fields[11])) * TICK_MS;
    return { cpuMs, isAsleep: state === 'S' };
  } catch {
    return { cpuMs: Number.NaN, isAsleep: false }; // it has ended
  }
}

/** A message of the inspector, reduced to the fields read here. */
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

/** Number of stacks taken of a thread, the interval between them, and the total time limit. */
const STACKS = 10;
const BETWEEN_MS = 5;
const PATIENCE_MS = 10_000;
const STACK = '(Error.stackTraceLimit = 100, String(new Error().stack))';

class Inspection {
  private readonly session: Session;
  /** Node's id of the thread. 0 is the main thread. */
  private readonly thread: number;
  private readonly onHeapFull: () => void;
  /** Id of the session that the main thread opened with a worker, or null until attached. */
  private attached: string | null = null;
  private calls = 0;
  private readonly stacks: string[] = [];
  /** The stack at the current pause. */
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

  /** Returns the thread's place in user code, or null if unknown. */
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
    // Pushed only on resume; a pause requested earlier would be lost.
    else if (method === 'Debugger.resumed') this.stacks.push(this.stack);
  }
}

/** Returns the first place in the innermost function that all stacks share. */
function placeAmong(stacks: readonly string[]): string | null {
  const all = stacks.map((stack) => userFramesIn(stack).toReversed());
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
