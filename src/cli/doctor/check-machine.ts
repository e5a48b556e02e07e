/** Looks at the machine: Node, cores, memory and clocks. Each check is given what it judges. */
import { type Check, ok, problem, warning } from './check.ts';
import { isInRange } from './version-range.ts';

/** `version` is that of Node, `wanted` the range in `engines`. */
export function checkNode(version: string, wanted: string, platform: string): Check {
  const is = `Node ${version} on ${platform}`;
  if (isInRange(version, wanted) === true) return ok('node', `${is}, wanted ${wanted}`);
  return problem('node', `${is}; wanted ${wanted}`, 'install a Node of that range: nodejs.org');
}

export interface MachineFacts {
  readonly cores: number;
  /** Of the machine, or of the container that this runs in. */
  readonly memoryMb: number;
  /** What each worker thread may keep. */
  readonly workerMb: number;
}

/** A worker a core is the default of `run`. */
export function checkMemory({ cores, memoryMb, workerMb }: MachineFacts): Check {
  const what = `${cores} ${cores === 1 ? 'core' : 'cores'}, ${Math.round(memoryMb)} MB of memory`;
  const fitting = Math.floor(memoryMb / workerMb) - 1;
  if (fitting >= cores) return ok('memory', what);
  const most = `${what}; a worker on each core may keep ${workerMb} MB`;
  return warning('memory', most, `give run fewer: --workers ${Math.max(fitting, 1)}`);
}

/** Two readings of both clocks, the second some milliseconds later. */
export interface ClockFacts {
  readonly wallMs: readonly [number, number];
  readonly monotonicMs: readonly [number, number];
  /** When the file system says that a file was written just then; null where none could be. */
  readonly fileMs: number | null;
}

/** Earlier than this code was written, no clock can be. */
const EARLIEST_MS = Date.UTC(2025, 0);
const LATEST_MS = Date.UTC(2100, 0);
const MOST_APART_MS = 5000;

/** Nothing simulated reads a clock of the machine; time limits, and file times, do. */
export function checkClock({ wallMs, monotonicMs, fileMs }: ClockFacts): Check {
  const wall = wallMs[1] - wallMs[0];
  const monotonic = monotonicMs[1] - monotonicMs[0];
  const advice = 'set the clock of this machine, and see that nothing replaces it (faketime)';
  if (!(monotonic > 0)) return problem('clock', 'the monotonic clock stands still', advice);
  if (wallMs[1] < EARLIEST_MS || wallMs[1] > LATEST_MS) {
    return warning('clock', `it says ${new Date(wallMs[1]).toISOString()}`, advice);
  }
  if (Math.abs(wall - monotonic) > Math.max(monotonic / 2, 50)) {
    const what = `in ${Math.round(monotonic)} ms the wall clock went on by ${Math.round(wall)} ms`;
    return warning('clock', what, advice);
  }
  if (fileMs !== null && Math.abs(fileMs - wallMs[1]) > MOST_APART_MS) {
    const apart = Math.round(Math.abs(fileMs - wallMs[1]) / 1000);
    return warning('clock', `the file system's clock is ${apart} s from this one`, advice);
  }
  return ok('clock', `${new Date(wallMs[1]).toISOString()}, wall and monotonic clock agree`);
}
