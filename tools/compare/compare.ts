/**
 * `npm run compare -- [seeds]` measures pessimistic locking, optimistic locking, and leases with
 * and without fencing on the same seeds, under contention and faults. It prints the results side by
 * side, and whether they support three hypotheses about when to use which.
 */
import { assert } from '../../src/core/kernel/assert.ts';
import { loadScenario } from '../../src/load.ts';
import { expand } from '../../src/scenario/expand.ts';
import type { Scenario } from '../../src/scenario/scenario.ts';
import { prepare } from '../../src/systems/store/store-kinds.ts';
import { columnWidths, tableLine } from '../../src/text/visible.ts';
import { type Mean, meanOf, type Share, shareOf } from '../statistics.ts';
import { measureRun, type RunMeasures } from './measure.ts';

const PATIENT = { lockTimeout: 'never', checksLease: false };
const STRATEGIES = {
  pessimistic: { lock: 'pessimistic', store: 'unfenced', clients: PATIENT },
  optimistic: { lock: 'optimistic', store: 'versioned' },
  'fenced-lease': { lock: 'lock-service', store: 'fenced-reads' },
  'plain-lease': { lock: 'lock-service', store: 'unfenced' },
};
type Strategy = keyof typeof STRATEGIES;

const LEVELS = {
  low: { clients: 3, rows: 12, think: '0ms..60ms' },
  medium: { clients: 6, rows: 4, think: '0ms..20ms' },
  high: { clients: 8, rows: 1, think: '0ms..2ms' },
};
type Level = keyof typeof LEVELS;

const FAULTS = [
  { pause: { process: 'clients', before: 'write', for: '5ms..60ms', chance: '1/2' } },
  { pause: { process: 'clients', at: '0ms..150ms', for: '5ms..60ms', chance: '1/4' } },
  { delay: { by: '5ms..30ms', chance: '1/100' } },
  { drop: { chance: '1/200' } },
  { crash: { process: 'clients', at: '0ms..150ms', restart: '10ms..50ms', chance: '1/8' } },
];

/** Each section reads the counter of one of the rows under its lock, and increments it. */
function scenarioOf(level: Level, hasFaults: boolean): Scenario {
  const { clients, rows, think } = LEVELS[level];
  const file = {
    name: `compare-${level}`,
    systems: STRATEGIES,
    clients: { count: clients, ttl: '30ms', sections: 6, think },
    workload: { kind: 'read-modify-write', locks: rows },
    network: { latency: '1ms..2ms' },
    jitter: '1/2',
    faults: hasFaults ? FAULTS : [],
    swarm: false,
    probe: false,
  };
  const read = loadScenario(JSON.stringify(file), 'compare');
  assert(read.kind === 'scenario', 'each level is a scenario that loads');
  return read.scenario;
}

/** The runs of one strategy under one condition, one per seed. */
interface Cell {
  readonly strategy: string;
  readonly level: Level;
  readonly hasFaults: boolean;
  readonly runs: readonly RunMeasures[];
}

async function measureCells(seeds: number): Promise<readonly Cell[]> {
  const cells: Cell[] = [];
  for (const hasFaults of [false, true]) {
    for (const level of ['low', 'medium', 'high'] as const) {
      const scenario = scenarioOf(level, hasFaults);
      await prepare(scenario.systems);
      for (const { name: strategy } of scenario.systems) {
        const runs = Array.from({ length: seeds }, (_, seed) =>
          measureRun(expand(scenario, strategy, seed)),
        );
        cells.push({ strategy, level, hasFaults, runs });
      }
    }
  }
  return cells;
}

type Figure = Exclude<keyof RunMeasures, 'isWrong'>;

const ROWS: readonly (readonly [label: string, figure: Figure])[] = [
  ['throughput, sections/s', 'throughput'],
  ['median commit, ms', 'medianCommit'],
  ['slowest commit, ms', 'slowestCommit'],
  ['retries per section', 'retries'],
];

/** Prints a table per condition, then the hypotheses. */
export async function compare(seeds: number): Promise<readonly string[]> {
  const cells = await measureCells(seeds);
  const conditions = new Set(cells.map(conditionOf));
  const tables = [...conditions].flatMap((condition) => {
    const columns = cells.filter((cell) => conditionOf(cell) === condition);
    const table = [
      ['', ...columns.map(({ strategy }) => strategy)],
      ...ROWS.map(([label, figure]) => [
        label,
        ...columns.map(({ runs }) => meanText(meanOf(runs.map((run) => run[figure])))),
      ]),
      ['runs with a wrong update', ...columns.map((cell) => shareText(wrongIn([cell])))],
    ];
    const widths = columnWidths(table);
    return [condition, ...table.map((row) => `  ${tableLine(row, widths)}`), ''];
  });
  return [
    ...tables,
    ...hypotheses(cells),
    `${seeds} seeds per kind, the same for all; 95 % confidence intervals in parentheses`,
  ];
}

function conditionOf({ level, hasFaults }: Cell): string {
  const { clients, rows, think } = LEVELS[level];
  const about = `${clients} clients, ${rows === 1 ? '1 row' : `${rows} rows`}, think time ${think}`;
  return `${level} contention, ${hasFaults ? 'with' : 'without'} faults: ${about}`;
}

function wrongIn(cells: readonly Cell[]): Share {
  const runs = cells.flatMap((cell) => cell.runs);
  return shareOf(runs.filter(({ isWrong }) => isWrong).length, runs.length);
}

/** Formats three significant digits: `64.5`, `207`, `0.23`. */
function figureText(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size === 0 || size >= 99.95 ? 0 : size < 9.995 ? 2 : 1);
}

function meanText({ value, lower, upper }: Mean): string {
  return `${figureText(value)} (${figureText(lower)} to ${figureText(upper)})`;
}

function shareText({ count, runs }: Share): string {
  return `${count} of ${runs}`;
}

/** Each hypothesis is judged by speed without faults, or by safety with faults. */
function hypotheses(cells: readonly Cell[]): readonly string[] {
  const calm = (strategy: Strategy, level: Level): readonly RunMeasures[] =>
    cells.find((cell) => cell.strategy === strategy && cell.level === level && !cell.hasFaults)
      ?.runs ?? [];
  const faulty = (strategy: Strategy): Share =>
    wrongIn(cells.filter((cell) => cell.strategy === strategy && cell.hasFaults));
  const [fenced, plain] = [faulty('fenced-lease'), faulty('plain-lease')];
  const isSafer = fenced.count === 0 && plain.lower > fenced.upper;
  const ruling = isSafer ? '✓ holds' : fenced.count > 0 ? '✗ fails' : '? undecided';
  return [
    ...speedLines('pessimistic locking for high contention', {
      ours: calm('pessimistic', 'high'),
      theirs: calm('optimistic', 'high'),
    }),
    ...speedLines('optimistic locking for low contention', {
      ours: calm('optimistic', 'low'),
      theirs: calm('pessimistic', 'low'),
    }),
    `${ruling}: fencing for safety across services`,
    `  runs with a wrong update: fenced-lease ${shareText(fenced)}, plain-lease ${shareText(plain)}`,
  ];
}

interface Compared {
  readonly ours: readonly RunMeasures[];
  readonly theirs: readonly RunMeasures[];
}

/** A gain counts if its interval excludes 0. */
function speedLines(hypothesis: string, compared: Compared): readonly string[] {
  const [done, sooner] = [gainOf('throughput', 1, compared), gainOf('slowestCommit', -1, compared)];
  const isFor = done.lower > 0 || sooner.lower > 0;
  const isAgainst = done.upper < 0 || sooner.upper < 0;
  const ruling = isFor
    ? isAgainst
      ? '± mixed'
      : '✓ holds'
    : isAgainst
      ? '✗ fails'
      : '? undecided';
  return [
    `${ruling}: ${hypothesis}`,
    `  change in throughput: ${meanText(done)} sections/s`,
    `  slowest commit earlier by: ${meanText(sooner)} ms`,
  ];
}

/** Returns the mean difference over the seeds, positive if ours is better. */
function gainOf(figure: Figure, sign: 1 | -1, { ours, theirs }: Compared): Mean {
  return meanOf(ours.map((run, seed) => sign * (run[figure] - (theirs[seed]?.[figure] ?? 0))));
}
