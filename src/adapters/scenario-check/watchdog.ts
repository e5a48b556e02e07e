/**
 * Starts a watchdog for this thread, which runs tests; see `watchdog-thread.ts`. If tests run
 * concurrently, the watchdog names the test that started a run last.
 */
import { Worker } from 'node:worker_threads';
import { endEndless } from '../../host/async/endless.ts';
import { ProgressBeacon, publishProgress, withLabel } from '../../host/async/progress-beacon.ts';
import { shellWords } from '../../text/prose.ts';
import { commandWith, type TestPlace } from './test-place.ts';

export interface WatchdogSetting {
  /** This thread's activity in shared memory: a name and, on the next line, a command. */
  readonly beacon: SharedArrayBuffer;
}

/** A message to the watchdog from a thread in which a run never ends. */
export interface WatchdogWords {
  readonly why: string;
}

/** Maximum time that this thread waits to be killed. */
const END_MS = 10_000;

let isWatched = false;

/** Starts the watchdog on the first call. It does not keep the process alive. */
export function haveItWatched(): void {
  if (isWatched) return;
  isWatched = true;
  const { memory: beacon } = new ProgressBeacon();
  const workerData: WatchdogSetting = { beacon };
  const watchdog = new Worker(new URL('./watchdog-thread.js', import.meta.url), { workerData });
  watchdog.unref();
  watchdog.on('error', ({ message }) => {
    process.stderr.write(`fencepost: hanging tests cannot be ended: ${message}\n`);
  });
  publishProgress(beacon);
  endEndless((why) => {
    const words: WatchdogWords = { why };
    watchdog.postMessage(words);
    // The watchdog kills the process. Until then, block the endless chain of callbacks.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, END_MS);
  });
}

interface Piece {
  readonly what: string;
  readonly setting: string;
}

export function seedOf(system: string, seed: number): Piece {
  return { what: `seed ${seed} of ${system}`, setting: `FENCEPOST_SEED=${seed}` };
}

/** Runs `work`. If it hangs, the message names the test and what it was doing. */
export function namedInTest<T>(
  place: TestPlace,
  { what, setting }: Piece,
  work: () => Promise<T>,
): Promise<T> {
  const command = shellWords(commandWith(setting, place)).join(' ');
  return withLabel(`${place.fullName}: ${what}\n${command}`, work);
}
