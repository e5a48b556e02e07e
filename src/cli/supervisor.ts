/**
 * Runs a command on a separate thread and watches it from the main thread, which runs no user code.
 * Whatever user code does, Ctrl-C works, and a run that never ends is killed and reported.
 *
 * User code may use 5 s of CPU time between two simulated events, as in a sweep. Runs of built-in
 * systems always end, so they are not limited.
 */
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { ProgressBeacon } from '../host/async/progress-beacon.ts';
import { HEAP_FULL, STALL_MS, ThreadWatch } from '../host/async/thread-watch.ts';
import { type Exit, exits } from '../search/campaign/exit-codes.ts';
import { visible } from '../text/visible.ts';
import type {
  CommandNews,
  CommandSetting,
  CommandSignal,
  StreamSetting,
} from './command-thread.ts';

/** CPU time that the thread may use between two runs without a turn of its event loop. */
const SILENCE_LIMIT_MS = 25_000;
/** Time within which the thread must react to a signal, or leave its current run. */
const LEAVE_LIMIT_MS = 1_200;
const LOOK_EVERY_MS = 100;
/** An error is a defect of fencepost if each frame of its stack contains one of these strings. */
const PACKAGE_PARTS: readonly string[] = [
  fileURLToPath(new URL('../', import.meta.url)),
  'node:',
  'native',
];
const HEAP_MB: number = Math.floor(getHeapStatistics().heap_size_limit / 2 ** 20);
/** Maximum growth of memory while user code produces no event. */
const MOST_MB = 1_500;
const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

export async function supervise(argv: readonly string[], version: string): Promise<Exit> {
  return await new Supervisor(argv, version).ended;
}

class Supervisor {
  readonly ended: Promise<Exit>;
  private readonly beacon = new ProgressBeacon();
  private readonly worker: Worker;
  private readonly watch: ThreadWatch;
  private readonly looking: NodeJS.Timeout;
  private resolve: (exit: Exit) => void = () => {};
  private isOver = false;
  /** Time at which the thread last made progress. */
  private seenMs: number = performance.now();
  private seen = 0;
  /** Time of the first signal, or null if there was none. */
  private reportedMs: number | null = null;
  private isHeard = false;

  constructor(argv: readonly string[], version: string) {
    this.ended = new Promise((resolve) => {
      this.resolve = resolve;
    });
    this.worker = this.start(argv, version);
    for (const signal of SIGNALS) process.on(signal, this.onSignal);
    this.looking = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.watch = new ThreadWatch(this.beacon, {
      stallMs: STALL_MS,
      betweenMs: SILENCE_LIMIT_MS,
      mostMb: Math.min(HEAP_MB, MOST_MB),
      onLost: (why) => this.lose(`did not finish: ${why}`),
    });
  }

  private start(argv: readonly string[], version: string): Worker {
    const { memory: beacon } = this.beacon;
    const streams = { stdout: settingOf(process.stdout), stderr: settingOf(process.stderr) };
    const workerData: CommandSetting = { argv, version, beacon, ...streams };
    const worker = new Worker(new URL('./command-thread.js', import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    });
    worker.on('message', (news: CommandNews) => this.take(news));
    worker.on('error', (error: unknown) => this.fail(error));
    worker.on('exit', (code) => this.end(this.codeOfExit(code)));
    return worker;
  }

  private take(news: CommandNews): void {
    if (news.kind === 'text') process[news.stream].write(news.text);
    else if (news.kind === 'ended') this.end(news.exit);
    else if (news.kind === 'alive') this.noteProgress();
    else if (news.kind === 'lost') this.lose(`failed: ${news.why}`);
    else if (news.isHeard) this.isHeard = true;
    else this.end(exits.interrupted);
  }

  private readonly onSignal = (signal: NodeJS.Signals): void => {
    if (this.reportedMs !== null) this.end(exits.interrupted);
    this.reportedMs = performance.now();
    const message: CommandSignal = { signal };
    this.worker.postMessage(message);
  };

  private noteProgress(): void {
    this.seenMs = performance.now();
    this.watch.noteProgress();
  }

  private look(): void {
    const nowMs = performance.now();
    const { progress, activity } = this.beacon;
    if (progress !== this.seen) this.seenMs = nowMs;
    this.seen = progress;
    if (this.reportedMs === null || !this.isStuck(nowMs - this.seenMs, nowMs - this.reportedMs))
      return;
    this.say(`interrupted${activity === 'nothing' ? '' : ` in ${this.beacon.what}`}`);
    this.end(exits.interrupted);
  }

  private isStuck(stayedMs: number, sinceReportMs: number): boolean {
    const isLate = sinceReportMs > LEAVE_LIMIT_MS;
    if (!this.isHeard) return isLate;
    return isLate && this.beacon.activity !== 'nothing' && stayedMs > LEAVE_LIMIT_MS;
  }

  private fail(error: unknown): void {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
      this.lose(`did not finish: ${HEAP_FULL}`);
      return;
    }
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const [line = '', ...frames] = stack.split('\n');
    const isInPackage =
      frames.length > 0 &&
      frames.every((frame) => PACKAGE_PARTS.some((part) => frame.includes(part)));
    if (isInPackage) for (const text of [line, ...frames]) this.say(text);
    else this.say(`a module failed outside a run: ${line}`);
    this.end(exits.failed);
  }

  private lose(problem: string): void {
    const { what: where } = this.beacon;
    this.say(`✗ ${where === '' ? 'the command' : where} ${problem}`);
    this.end(exits.failed);
  }

  /** `process.exit` in a module only ends the thread. */
  private codeOfExit(code: number): Exit {
    if (this.isOver) return exits.failed;
    if (code === exits.interrupted) return exits.interrupted;
    this.say('a module ended the process before the command was done');
    return exits.failed;
  }

  private say(line: string): void {
    if (!this.isOver) process.stderr.write(`${visible(line)}\n`);
  }

  /** Ends the command. Only the first call counts; the thread ends with the process. */
  private end(exit: Exit): void {
    if (this.isOver) return;
    this.isOver = true;
    // Keep handling signals, so that another one does not change the exit code.
    clearInterval(this.looking);
    this.watch.end();
    this.resolve(exit);
  }
}

function settingOf({ isTTY, columns }: NodeJS.WriteStream): StreamSetting {
  return { isTTY: isTTY === true, columns: columns ?? null };
}
