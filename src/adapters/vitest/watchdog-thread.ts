/**
 * The watchdog of a test worker: a thread beside the one that runs tests, which may hang in code of
 * users so that not even vitest's timeouts come. It then prints what ran, with the command that
 * runs it alone, and ends the process.
 */
import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { WatchedTime, Whereabouts } from '../../host/async/whereabouts.ts';
import { visible } from '../../text/visible.ts';
import type { WatchdogSetting, WatchdogWords } from './watchdog.ts';

const LOOK_EVERY_MS = 200;
/** Longer than a busy machine keeps this thread waiting. */
const SLEEP_MS = 3_000;
/** How long a process may take to leave before it is killed. */
const GRACE_MS = 1_500;
const STDERR = 2;

function watch({ whereabouts: memory, limitMs }: WatchdogSetting): void {
  const whereabouts = new Whereabouts(memory);
  let seen = whereabouts.changes;
  const time = new WatchedTime(SLEEP_MS);
  let sinceMs = time.now();
  const looking = setInterval(() => {
    const nowMs = time.now();
    const { changes, activity } = whereabouts;
    if (changes !== seen || activity !== 'code of users') sinceMs = nowMs;
    seen = changes;
    if (nowMs - sinceMs > limitMs) bark(`did not end within ${limitMs / 1000} s`);
  }, LOOK_EVERY_MS);
  parentPort?.on('message', ({ why }: WatchdogWords) => bark(`failed: ${why}`));
  const bark = (what: string): void => {
    clearInterval(looking);
    const [name = '', command = ''] = whereabouts.what.split('\n');
    const lines = [`✗ ${name} ${what}; its worker is ended`, `seed:   ${command}`];
    writeSync(STDERR, `\nfencepost\n${lines.map(visible).join('\n')}\n\n`);
    process.kill(process.pid, 'SIGTERM');
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), GRACE_MS);
  };
}

watch(workerData);
