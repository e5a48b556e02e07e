/**
 * Runs a command, including all user code, on a separate thread. On the main thread,
 * `supervisor.ts` prints the command's output, forwards signals to this thread, and kills it if
 * user code does not end.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { inRealTurn } from '../host/async/ambient.ts';
import { endEndless } from '../host/async/endless.ts';
import { capturedOutput } from '../host/async/printing.ts';
import { publishProgress } from '../host/async/progress-beacon.ts';
import { type Exit, exits } from '../search/campaign/exit-codes.ts';
import { runProgram } from './program.ts';

export interface CommandSetting {
  readonly argv: readonly string[];
  readonly version: string;
  /** Shared memory in which the thread publishes its activity. */
  readonly beacon: SharedArrayBuffer;
  /** Properties of the terminal, which a thread cannot query. */
  readonly stdout: StreamSetting;
  readonly stderr: StreamSetting;
}

export interface StreamSetting {
  readonly isTTY: boolean;
  /** Null if the stream is not a terminal. */
  readonly columns: number | null;
}

export type StreamName = 'stdout' | 'stderr';

/** A message from the thread. */
export type CommandNews =
  | { readonly kind: 'text'; readonly stream: StreamName; readonly text: string }
  /** `isHeard` is true if the thread has a listener for the signal that it received. */
  | { readonly kind: 'heard'; readonly isHeard: boolean }
  | { readonly kind: 'alive' }
  /** A run never ends, so the thread must be killed. `why` is the reason. */
  | { readonly kind: 'lost'; readonly why: string }
  | { readonly kind: 'ended'; readonly exit: Exit };

/** A message to the thread. */
export interface CommandSignal {
  readonly signal: NodeJS.Signals;
}

const port = parentPort;

function say(news: CommandNews): void {
  port?.postMessage(news);
}

/** Sends output immediately, in case the thread hangs later. */
function redirect(stream: StreamName, { isTTY, columns }: StreamSetting): void {
  const target = process[stream];
  const write = (chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean => {
    const text = typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk);
    say({ kind: 'text', stream, text });
    const done = rest.at(-1);
    if (typeof done === 'function') inRealTurn(() => done());
    return true;
  };
  Object.assign(target, { write, isTTY }, columns === null ? {} : { columns });
}

async function work(setting: CommandSetting): Promise<void> {
  redirect('stdout', setting.stdout);
  redirect('stderr', setting.stderr);
  capturedOutput.use();
  publishProgress(setting.beacon);
  endEndless((why) => say({ kind: 'lost', why }));
  port?.on('message', ({ signal }: CommandSignal) => {
    say({ kind: 'heard', isHeard: process.listenerCount(signal) > 0 });
    process.emit(signal);
  });
  const alive = setInterval(() => say({ kind: 'alive' }), ALIVE_EVERY_MS);
  const exit = await exitOf(() => runProgram(setting.argv, setting.version));
  clearInterval(alive);
  say({ kind: 'ended', exit });
}

/** Reports unexpected errors. User errors were already reported where they occurred. */
async function exitOf(run: () => Promise<Exit>): Promise<Exit> {
  try {
    return await run();
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`${text}\n`);
    return exits.failed;
  }
}

const ALIVE_EVERY_MS = 1_000;

await work(workerData);
