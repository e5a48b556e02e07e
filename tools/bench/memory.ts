/** Measures whether a long sweep grows, in a separate process that prints its size. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Row, Subject } from './measure.ts';
import { fiveByFive, SYSTEM, sweepSeeds } from './workload.ts';

const FEW_SEEDS = 2_000;
const MANY_SEEDS = 100_000;

/** Flag that starts the separate process. */
export const MEMORY_FLAG = '--sweep-and-print-size';

/** Sweeps so many seeds in this process and prints its maximum size in kilobytes. */
export async function sweepAndReport(seeds: number): Promise<void> {
  await sweepSeeds({ scenario: fiveByFive(), system: SYSTEM, seeds });
  process.stdout.write(String(process.resourceUsage().maxRSS));
}

function megabytesAfter(seeds: number): number {
  const script = fileURLToPath(new URL('./bench.js', import.meta.url));
  const { stdout } = spawnSync(process.execPath, [script, MEMORY_FLAG, String(seeds)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return Number(stdout) / 1024;
}

function* rows(): Iterable<Row> {
  const few = megabytesAfter(FEW_SEEDS);
  const many = megabytesAfter(MANY_SEEDS);
  yield {
    what: `largest size of a process that sweeps ${MANY_SEEDS} seeds`,
    cpu: '',
    wall: `${many.toFixed(0)} MB`,
    ratio: `${(many / few).toFixed(2)}× the size after ${FEW_SEEDS} seeds`,
    target: '< 300 MB',
  };
}

export const memory: Subject = {
  name: 'memory',
  about: 'the size of a process that sweeps 100,000 seeds; only with --long',
  isLong: true,
  rows,
};
