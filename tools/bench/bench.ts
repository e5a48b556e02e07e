/**
 * Measures fencepost and prints a table with targets, row by row: `npm run bench -- [--long]
 * [--nodes 20,22,24] [--page] [subject…]`. With versions of Node the rows show the processor time
 * under each. It passes no judgement, since results depend on the machine. `--page` measures
 * `PAGE_SUBJECTS` and writes `reports/speed.md`.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { asyncCode } from './async.ts';
import { checker } from './checker.ts';
import { crowd } from './crowd.ts';
import { exhaust } from './exhaust.ts';
import { fleet, WORKER_FLAG, workOn } from './fleet.ts';
import { isolation } from './isolation.ts';
import { kernel } from './kernel.ts';
import type { Row, Subject } from './measure.ts';
import { MEMORY_FLAG, memory, sweepAndReport } from './memory.ts';
import { million } from './million.ts';
import { renderPage } from './page.ts';
import { queue } from './queue.ts';
import { realms } from './realms.ts';
import { recorded } from './recorded.ts';
import { redlock } from './redlock.ts';
import { greens, seeds, workers } from './seeds.ts';
import { shrinking } from './shrinking.ts';
import { startup } from './startup.ts';

const SUBJECTS: readonly Subject[] = [
  kernel,
  seeds,
  greens,
  workers,
  memory,
  crowd,
  exhaust,
  queue,
  shrinking,
  startup,
  checker,
  recorded,
  asyncCode,
  fleet,
  million,
  redlock,
  realms,
  isolation,
];
/** Subjects in `reports/speed.md`. */
const PAGE_SUBJECTS: readonly Subject[] = [seeds, exhaust, realms];
const PAGE_FLAG = '--page';
const LONG_FLAG = '--long';
const JSON_FLAG = '--json';
const NODES_FLAG = '--nodes';

const HEAD: Row = {
  what: 'median of each',
  cpu: 'processor',
  wall: 'wall',
  ratio: 'against the same run',
  target: 'target',
};

/** Widths of all columns except the last, as a row is printed before the next one is known. */
const WIDTHS = { what: 72, cpu: 14, wall: 10, ratio: 58 } as const;

/** The request on the command line. */
interface BenchRequest {
  readonly subjects: readonly Subject[];
  /** True to print rows as JSON lines, for a comparison. */
  readonly isJson: boolean;
  /** True to write `reports/speed.md`. */
  readonly isPage: boolean;
  /** Versions of Node to compare, from npm; empty for the running one. */
  readonly nodes: readonly string[];
}

/** Returns null for an unknown word, after printing the known ones. */
function requestFrom(argv: readonly string[]): BenchRequest | null {
  const at = argv.indexOf(NODES_FLAG);
  const nodes = at === -1 ? [] : (argv[at + 1] ?? '').split(',');
  const words = at === -1 ? argv : argv.toSpliced(at, 2);
  const isPage = words.includes(PAGE_FLAG);
  const names = words.filter((word) => ![LONG_FLAG, JSON_FLAG, PAGE_FLAG].includes(word));
  const unknown = names.filter((name) => !SUBJECTS.some((subject) => subject.name === name));
  const isNodesWrong = nodes.some((version) => !/^\d+(\.\d+){0,2}$/.test(version));
  if (unknown.length > 0 || isNodesWrong) {
    const known = SUBJECTS.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`);
    const message = isNodesWrong
      ? `${NODES_FLAG} takes versions, such as 20,22,24`
      : `unknown subject: ${unknown.join(', ')}; known:\n${known.join('\n')}`;
    process.stderr.write(`${message}\n`);
    return null;
  }
  const subjects = SUBJECTS.filter(({ name, isLong }) => {
    if (isLong && !words.includes(LONG_FLAG)) return false;
    return names.length === 0 || names.includes(name);
  });
  const chosen = isPage ? PAGE_SUBJECTS : subjects;
  return { subjects: chosen, isJson: words.includes(JSON_FLAG), isPage, nodes };
}

async function bench(argv: readonly string[]): Promise<void> {
  const request = requestFrom(argv);
  if (request === null) {
    process.exitCode = 2;
    return;
  }
  const model = cpus()[0]?.model ?? 'an unknown processor';
  const print = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  if (request.isJson) await measureAll(request.subjects, (row) => print(JSON.stringify(row)));
  else if (request.nodes.length > 0) {
    print(`Node ${request.nodes.join(', ')}; ${availableParallelism()} cores, ${model}\n`);
    for (const { name } of request.subjects) compareNodes(name, request.nodes, print);
  } else {
    print(`Node ${process.version}, ${availableParallelism()} cores, ${model}\n`);
    print(lineOf(HEAD));
    const rows: Row[] = [];
    await measureAll(request.subjects, (row) => {
      rows.push(row);
      print(lineOf(row));
    });
    if (!request.isPage) return;
    const machine = { node: process.version, cores: availableParallelism(), model };
    writeFileSync(new URL('../../reports/speed.md', import.meta.url), renderPage(machine, rows));
  }
}

async function measureAll(subjects: readonly Subject[], report: (row: Row) => void): Promise<void> {
  for (const subject of subjects) {
    process.stderr.write(`measuring ${subject.name}…\n`);
    for await (const row of subject.rows()) report(row);
  }
}

/** Measures one subject under each version in turn, and prints their results for every row. */
function compareNodes(
  subject: string,
  versions: readonly string[],
  print: (line: string) => void,
): void {
  const script = fileURLToPath(new URL('./bench.js', import.meta.url));
  const columns = versions.map((version) => {
    const node = ['--yes', '-p', `node@${version}`, 'node'];
    const args = [...node, script, JSON_FLAG, LONG_FLAG, subject];
    const { stdout } = spawnSync('npx', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return stdout.split('\n').filter((line) => line.startsWith('{'));
  });
  columns[0]?.forEach((_, at) => {
    const rows = columns.map((lines) => rowFrom(lines[at]));
    const figures = rows.map(({ cpu, wall }, column) => {
      return `${versions[column]}: ${cpu === '' ? wall : cpu}`.padEnd(WIDTHS.cpu + 4);
    });
    print(`${(rows[0]?.what ?? '').padEnd(WIDTHS.what)}  ${figures.join('  ')}`.trimEnd());
  });
}

/** Reads a row that another process of this program printed. */
function rowFrom(line: string | undefined): Pick<Row, 'what' | 'cpu' | 'wall'> {
  const row: unknown = JSON.parse(line ?? '{}');
  const text = (name: string): string => String(Reflect.get(Object(row), name) ?? '');
  return { what: text('what'), cpu: text('cpu'), wall: text('wall') };
}

function lineOf({ what, cpu, wall, ratio, target }: Row): string {
  const cells = [what.padEnd(WIDTHS.what), cpu.padEnd(WIDTHS.cpu), wall.padEnd(WIDTHS.wall)];
  return [...cells, ratio.padEnd(WIDTHS.ratio), target].join('  ').trimEnd();
}

const [first, ...rest] = process.argv.slice(2);
if (first === MEMORY_FLAG) await sweepAndReport(Number(rest[0]));
else if (first === WORKER_FLAG) await workOn(Number(rest[0]));
else await bench(process.argv.slice(2));
