/**
 * The watchdog of a test worker: a thread beside the one that runs tests. User code can block that
 * thread, so that not even vitest's timeouts fire. The watchdog then prints the name of the test
 * and the command that runs it alone, and kills the process.
 */
import { writeSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { ProgressBeacon } from '../../host/async/progress-beacon.ts';
import { STALL_MS, ThreadWatch } from '../../host/async/thread-watch.ts';
import { visible } from '../../text/visible.ts';
import type { WatchdogSetting, WatchdogWords } from './watchdog.ts';

/** Time that a process has to exit after SIGTERM before it is killed. */
const GRACE_MS = 1_500;
const STDERR = 2;
const HEAP_MB = getHeapStatistics().heap_size_limit / 2 ** 20;

function watch({ beacon: memory }: WatchdogSetting): void {
  const beacon = new ProgressBeacon(memory);
  const watching = new ThreadWatch(beacon, {
    stallMs: STALL_MS,
    betweenMs: Number.POSITIVE_INFINITY,
    mostMb: 2 * HEAP_MB,
    onLost: (why) => bark(`did not finish: ${why}`),
  });
  parentPort?.on('message', ({ why }: WatchdogWords) => bark(`failed: ${why}`));
  const bark = (problem: string): void => {
    watching.end();
    const [name = '', command = ''] = beacon.what.split('\n');
    const lines = [`✗ ${name} ${problem}; killing its process`, `seed:   ${command}`];
    writeSync(STDERR, `\nfencepost\n${lines.map(visible).join('\n')}\n\n`);
    process.kill(process.pid, 'SIGTERM');
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), GRACE_MS);
  };
}

watch(workerData);
