/**
 * The thread on which a command runs, and with it all code of users: `supervisor.ts`, on the main
 * thread, prints what it says, hands it signals, and ends it where that code does not end.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { inRealTurn } from '../host/async/ambient.ts';
import { endEndless } from '../host/async/endless.ts';
import { capturedOutput } from '../host/async/printing.ts';
import { tellWhereabouts } from '../host/async/whereabouts.ts';
import { type Exit, exits } from '../search/campaign/exit-codes.ts';
import { runProgram } from './program.ts';

/** What the thread is started with. */
export interface CommandSetting {
  readonly argv: readonly string[];
  readonly version: string;
  /** Where it says what it is at. */
  readonly whereabouts: SharedArrayBuffer;
  /** What the terminal is, since a thread of its own cannot see it. */
  readonly stdout: StreamSetting;
  readonly stderr: StreamSetting;
}

export interface StreamSetting {
  readonly isTTY: boolean;
  /** Null where it is no terminal. */
  readonly columns: number | null;
}

export type StreamName = 'stdout' | 'stderr';

/** What the thread says. */
export type CommandNews =
  | { readonly kind: 'text'; readonly stream: StreamName; readonly text: string }
  /** Whether anybody in it listens to the signal that it was sent. */
  | { readonly kind: 'heard'; readonly isHeard: boolean }
  | { readonly kind: 'alive' }
  /** It is at a run that never ends, and ends itself; why. */
  | { readonly kind: 'lost'; readonly why: string }
  | { readonly kind: 'ended'; readonly exit: Exit };

/** What it is told. */
export interface CommandSignal {
  readonly signal: NodeJS.Signals;
}

const port = parentPort;

function say(news: CommandNews): void {
  port?.postMessage(news);
}

/** Text is sent at once: what a thread that hangs has printed before is not to be lost. */
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
  tellWhereabouts(setting.whereabouts);
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

/** What is thrown is no mistake of the user's: those were reported where they arose. */
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
