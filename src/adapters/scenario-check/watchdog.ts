/**
 * Has a thread watch this one, which runs tests: see `watchdog-thread.ts`. Of tests that run at the
 * same time, the one that began a run last is named.
 */
import { Worker } from 'node:worker_threads';
import { endEndless } from '../../host/async/endless.ts';
import { entitled, tellWhereabouts, Whereabouts } from '../../host/async/whereabouts.ts';
import { shellWords } from '../../text/prose.ts';
import { commandWith, type TestPlace } from './test-place.ts';

/** What the watchdog is started with. */
export interface WatchdogSetting {
  /** Where this thread says what it is at: a name, and on the next line a command. */
  readonly whereabouts: SharedArrayBuffer;
}

/** What it is told by a thread that knows that it never ends. */
export interface WatchdogWords {
  readonly why: string;
}

/** How long this thread waits for its end. */
const END_MS = 10_000;

let isWatched = false;

/** From the first call on; it keeps no process alive. */
export function haveItWatched(): void {
  if (isWatched) return;
  isWatched = true;
  const { memory: whereabouts } = new Whereabouts();
  const workerData: WatchdogSetting = { whereabouts };
  const watchdog = new Worker(new URL('./watchdog-thread.js', import.meta.url), { workerData });
  watchdog.unref();
  watchdog.on('error', ({ message }) => {
    process.stderr.write(`fencepost: nothing ends a test that hangs: ${message}\n`);
  });
  tellWhereabouts(whereabouts);
  endEndless((why) => {
    const words: WatchdogWords = { why };
    watchdog.postMessage(words);
    // It ends the process; until then nothing of the chain goes on.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, END_MS);
  });
}

/** A piece of a test: what it is, and the setting that asks for it alone. */
interface Piece {
  readonly what: string;
  readonly setting: string;
}

export function seedOf(system: string, seed: number): Piece {
  return { what: `seed ${seed} of ${system}`, setting: `FENCEPOST_SEED=${seed}` };
}

/** Calls what `work` runs by the test and its piece. */
export function namedInTest<T>(
  place: TestPlace,
  { what, setting }: Piece,
  work: () => Promise<T>,
): Promise<T> {
  const command = shellWords(commandWith(setting, place)).join(' ');
  return entitled(`${place.fullName}: ${what}\n${command}`, work);
}
