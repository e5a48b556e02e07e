/**
 * Measures fencepost and prints a table beside its targets: `node tools/built/bench.js [--long]
 * [subject…]`. It judges nothing, since what a machine gives depends on the machine.
 */
import { availableParallelism, cpus } from 'node:os';
import { asyncCode } from './async.ts';
import { checker } from './checker.ts';
import { crowd } from './crowd.ts';
import { COORDINATOR_FLAG, coordinateAndTell, fleet, WORKER_FLAG, workOn } from './fleet.ts';
import { kernel } from './kernel.ts';
import type { Row, Subject } from './measure.ts';
import { MEMORY_FLAG, memory, sweepAndTell } from './memory.ts';
import { million } from './million.ts';
import { recorded } from './recorded.ts';
import { redlock } from './redlock.ts';
import { seeds, workers } from './seeds.ts';
import { shrinking } from './shrinking.ts';
import { startup } from './startup.ts';

const SUBJECTS: readonly Subject[] = [
  kernel,
  seeds,
  workers,
  memory,
  crowd,
  shrinking,
  startup,
  checker,
  recorded,
  asyncCode,
  fleet,
  million,
  redlock,
];
const LONG_FLAG = '--long';

const HEAD: Row = {
  what: 'what',
  figure: 'median',
  ratio: 'against the same run',
  target: 'target',
};

async function bench(argv: readonly string[]): Promise<void> {
  const names = argv.filter((word) => word !== LONG_FLAG);
  const unknown = names.filter((name) => !SUBJECTS.some((subject) => subject.name === name));
  if (unknown.length > 0) {
    const known = SUBJECTS.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`);
    process.stderr.write(`unknown subject: ${unknown.join(', ')}; known:\n${known.join('\n')}\n`);
    process.exitCode = 2;
    return;
  }
  const chosen = SUBJECTS.filter(({ name, isLong }) => {
    if (isLong && !argv.includes(LONG_FLAG)) return false;
    return names.length === 0 || names.includes(name);
  });
  const model = cpus()[0]?.model ?? 'an unknown processor';
  process.stdout.write(`Node ${process.version}, ${availableParallelism()} cores, ${model}\n\n`);
  const rows: Row[] = [HEAD];
  for (const subject of chosen) {
    process.stderr.write(`measuring ${subject.name}…\n`);
    rows.push(...(await subject.rows()));
  }
  process.stdout.write(renderTable(rows));
}

function renderTable(rows: readonly Row[]): string {
  const cells = rows.map(({ what, figure, ratio, target }) => [what, figure, ratio, target]);
  const widths = [0, 1, 2, 3].map((at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)));
  return cells
    .map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

const [first, ...rest] = process.argv.slice(2);
if (first === MEMORY_FLAG) await sweepAndTell(Number(rest[0]));
else if (first === COORDINATOR_FLAG) await coordinateAndTell(Number(rest[0]));
else if (first === WORKER_FLAG) await workOn(Number(rest[0]));
else await bench(process.argv.slice(2));
