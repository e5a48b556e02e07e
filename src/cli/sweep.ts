/**
 * `fencepost sweep` distributes the seeds of scenarios to the workers on a queue, and produces the
 * same reports, files and exit code as `run` on one machine. The shards are the same as those of
 * `run --shard`, and `merge` combines them. `adapters/fleet/coordinate.ts` handles the queue.
 */
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import type { Fleet, FleetEnd, FleetProgress } from '../adapters/fleet/coordinate.ts';
import { isAway } from '../adapters/fleet/queue-url.ts';
import {
  jobIdOf,
  MOST_JOBS,
  REFUSED,
  type ShardOrder,
  shardName,
  sweepIdOf,
} from '../adapters/fleet/shard-order.ts';
import { failureFinder, replayKeptPlans } from '../search/campaign/campaign.ts';
import { type Exit, exits } from '../search/campaign/exit-codes.ts';
import { originOf } from '../search/sweep/checksummed.ts';
import type { FiledShard, ScenarioShard, SeedRange } from '../search/sweep/shards.ts';
import { openPool, sweep } from '../search/sweep/sweep.ts';
import { countOf, FENCEPOST, groupDigits, shellWords } from '../text/prose.ts';
import {
  type Done,
  parseOption,
  parsePositive,
  parseSeeds,
  seedsOption,
  shared,
  withExample,
} from './command.ts';
import { UserError } from './exit.ts';
import { openFolder } from './files.ts';
import { Interruption } from './interruption.ts';
import { keptPlansOf } from './kept-plans.ts';
import { narrator } from './narrate.ts';
import {
  EXAMPLE_QUEUE,
  type QueuePlace,
  queueErrorText,
  queueOption,
  queuePlace,
  reached,
  requireNoUrl,
} from './open-queue.ts';
import { type ReportFlags, reportOptions } from './report-options.ts';
import { requireDistinctPages } from './reporting.ts';
import { type MergeOptions, mergeShardFiles } from './shards.ts';
import { type LoadedScenario, loadScenarios } from './sources.ts';
import { openTerminal, type Terminal } from './terminal.ts';

interface SweepFlags extends ReportFlags {
  readonly queue?: string;
  readonly seeds: string;
  readonly shards?: string;
  readonly workers?: string;
  readonly corpus?: string;
  readonly modules: boolean;
}

export function addSweep(command: Command, done: Done, version: string): void {
  withExample(command, `sweep zombie-writer --seeds 1..100000000 --queue ${EXAMPLE_QUEUE}`)
    .addOption(queueOption())
    .option(...seedsOption('1000'))
    .option('--shards <N>', 'number of jobs (default: about one minute each on this machine)')
    .option('--workers <N>', 'threads per worker, for that default (default: one per core)')
    .option(...shared.output)
    .option(...shared.reporter)
    .option(...shared.baseline)
    .option(...shared.corpus)
    .option(...shared.noModules)
    .option(...shared.json)
    .option(...shared.quiet)
    .option(...shared.verbose)
    .action(async (files: string[], flags: SweepFlags) => {
      requireNoUrl(files);
      const shards = parseOption(flags.shards, '--shards', parsePositive);
      if (shards !== null && shards > MOST_JOBS) {
        throw new UserError([`--shards ${shards}: expected at most ${MOST_JOBS}`]);
      }
      done(
        await sweepFiles(files, {
          ...reportOptions(flags),
          place: queuePlace(flags.queue),
          range: parseSeeds(flags.seeds),
          shards,
          workers: parseOption(flags.workers, '--workers', parsePositive) ?? availableParallelism(),
          corpus: flags.corpus ?? null,
          modules: flags.modules ? null : false,
          version,
        }),
      );
    });
}

interface SweepOptions extends MergeOptions {
  readonly place: QueuePlace;
  readonly range: SeedRange;
  /** Number of shards. Null: chosen so that a shard takes a worker about a minute. */
  readonly shards: number | null;
  readonly workers: number;
  readonly corpus: string | null;
}

async function sweepFiles(files: readonly string[], options: SweepOptions): Promise<Exit> {
  const { place, output } = options;
  const scenarios = await loadScenarios(files, options);
  requireDistinctPages(scenarios, output);
  openFolder(output);
  const terminal = openTerminal(options);
  for (const { warnings } of scenarios) {
    for (const warning of warnings) terminal.warn(`warning: ${warning}`);
  }
  const fleet = await reached(place, async () => {
    const { Fleet } = await import('../adapters/fleet/coordinate.ts');
    return await Fleet.open(place.address);
  });
  const interruption = new Interruption();
  interruption.listen(
    () => terminal.note('interrupted: finished shards stay on the queue (again to stop at once)'),
    ['SIGINT', 'SIGTERM'],
  );
  try {
    return await sweepOn(fleet, scenarios, { options, terminal, interruption });
  } catch (error) {
    const isOfQueue = isAway(error) || (error instanceof Error && error.name === 'ReplyError');
    if (!isOfQueue) throw error;
    throw new UserError([`${place.shown}: queue failed: ${queueErrorText(error, place)}`]);
  } finally {
    interruption.end();
    fleet.close();
  }
}

interface SweepContext {
  readonly options: SweepOptions;
  readonly terminal: Terminal;
  readonly interruption: Interruption;
}

async function sweepOn(
  fleet: Fleet,
  scenarios: readonly LoadedScenario[],
  context: SweepContext,
): Promise<Exit> {
  const { options, terminal, interruption } = context;
  const { range, version } = options;
  const ordered = scenarios.map(({ scenario, text }) => {
    return { origin: originOf(scenario, version), text };
  });
  const id = sweepIdOf({ range, scenarios: ordered });
  const of =
    (await fleet.shardCountBefore(id)) ??
    options.shards ??
    (await defaultShards(scenarios, context));
  const orders = Array.from({ length: of }, (_, at): ShardOrder => {
    return { range, shard: { index: at + 1, of }, scenarios: ordered };
  });
  terminal.note(`sweep ${id}: seeds ${range.from}..${range.to} in ${countOf(of, 'shard')}`);
  const systems = scenarios.reduce((sum, { scenario }) => sum + scenario.systems.length, 0);
  const ours = await replayAll(scenarios, context);
  const end = await fleet.coordinate({
    orders,
    signal: interruption.signal,
    note: (line) => terminal.note(line),
    onShard: breaksOf(scenarios, terminal),
    onProgress: progressOf(systems * (range.to - range.from + 1), of, terminal),
  });
  terminal.endProgress();
  if (end.kind !== 'complete') return explain(end, scenarios, { of, terminal });
  interruption.end();
  const exit = await mergeShardFiles(withOurs(end.shards, ours), options);
  // If the removal fails, the jobs expire after a week.
  await fleet.remove(orders.map(({ shard }) => jobIdOf(id, shard))).catch(() => {});
  return exit;
}

/**
 * Maximum number of shards chosen by default: enough to keep a hundred machines busy for a day.
 * More shards only make the merge slower.
 */
const MOST_DEFAULT_SHARDS = 2_000;
/** The target duration of a shard on a worker. */
const SHARD_MS = 60_000;
/** Duration of the measurement, after the threads have started and compiled the code. */
const MEASURE_MS = 2_000;
const WARM_MS = 4_000;

/** Chooses the number of shards so that each takes about a minute on a machine like this one. */
async function defaultShards(
  scenarios: readonly LoadedScenario[],
  { options, interruption }: SweepContext,
): Promise<number> {
  const { from, to } = options.range;
  const pool = openPool({ workers: options.workers });
  let milliseconds = 0;
  try {
    for (const { scenario, catalogue } of scenarios) {
      const startedMs = performance.now();
      const tookMs = (): number => performance.now() - startedMs;
      let warm = { done: 0, ms: 0 };
      let now = { done: 0, total: 0, ms: 0 };
      const { isComplete } = await sweep(scenario, {
        from,
        to,
        catalogue,
        pool,
        shouldStop: () => interruption.isInterrupted || tookMs() > WARM_MS + MEASURE_MS,
        onProgress({ done, total }) {
          now = { done, total, ms: tookMs() };
          if (now.ms < WARM_MS) warm = now;
        },
      });
      const paceMs = (now.ms - warm.ms) / Math.max(now.done - warm.done, 1);
      milliseconds += isComplete ? tookMs() : paceMs * now.total;
    }
  } finally {
    await pool.close();
  }
  return Math.min(Math.max(1, Math.ceil(milliseconds / SHARD_MS)), MOST_DEFAULT_SHARDS);
}

/** The fields of a shard that only the coordinator knows. */
type Ours = Pick<ScenarioShard, 'file' | 'corpus' | 'keptPlans'>;

async function replayAll(
  scenarios: readonly LoadedScenario[],
  { options, terminal, interruption }: SweepContext,
): Promise<readonly Ours[]> {
  const { corpus, modules } = options;
  const isInterrupted = (): boolean => interruption.isInterrupted;
  // Results are printed by the merge.
  const notes: Terminal = { ...terminal, print: terminal.note };
  const ours: Ours[] = [];
  for (const loaded of scenarios) {
    const { file } = loaded;
    terminal.note(`${loaded.scenario.name}  ${file}`);
    const keptPlans = await replayKeptPlans(loaded, {
      keptPlans: (subject) => keptPlansOf(subject, { corpus, modules }, notes),
      emit: narrator(notes, { replaysKept: true }),
      isInterrupted,
    });
    ours.push({ file, corpus, keptPlans });
  }
  return ours;
}

/** Adds the kept plans to the first shard, as in `run --shard 1/n`. */
function withOurs(shards: readonly FiledShard[], ours: readonly Ours[]): readonly FiledShard[] {
  return shards.map((filed) => {
    if (filed.shard.shard.index > 1) return filed;
    const scenarios = filed.shard.scenarios.map((scenario, at) => ({ ...scenario, ...ours[at] }));
    return { ...filed, shard: { ...filed.shard, scenarios } };
  });
}

/** Returns a callback that prints the first breach of each claim that should hold. */
function breaksOf(
  scenarios: readonly LoadedScenario[],
  terminal: Terminal,
): (filed: FiledShard) => void {
  const finders = scenarios.map(({ scenario }) => failureFinder(scenario));
  const narrate = narrator(terminal, { replaysKept: true });
  return ({ shard }) => {
    for (const [at, { countsBySystem }] of shard.scenarios.entries()) {
      for (const [system, counts] of Object.entries(countsBySystem)) {
        for (const failure of finders[at]?.(system, counts) ?? []) narrate(failure);
      }
    }
  };
}

/** Returns a callback that prints the progress of the sweep. `total` counts runs. */
function progressOf(
  total: number,
  shards: number,
  terminal: Terminal,
): (progress: FleetProgress) => void {
  let first: { readonly done: number; readonly ms: number } | null = null;
  return ({ done, broken, collected, active }) => {
    first ??= { done, ms: performance.now() };
    const rate = (1000 * (done - first.done)) / Math.max(performance.now() - first.ms, 1);
    const minutes = groupDigits(Math.ceil((total - done) / Math.max(rate, 1) / 60));
    const parts = [
      `${groupDigits(done)} of ${groupDigits(total)} runs`,
      `${collected} of ${countOf(shards, 'shard')}`,
      active === 0
        ? 'waiting for a worker: npx --no-install fencepost worker'
        : `${active} running, ${groupDigits(rate)}/s, ${minutes} min left`,
      `${groupDigits(broken)} broke a claim`,
    ];
    terminal.progress(`  ${parts.join(', ')}`);
  };
}

const MOST_FAILURES = 3;

/** Prints why there is nothing to merge, and the remedy. */
function explain(
  end: Exclude<FleetEnd, { kind: 'complete' }>,
  scenarios: readonly LoadedScenario[],
  { of, terminal }: { readonly of: number; readonly terminal: Terminal },
): Exit {
  if (end.kind === 'interrupted') {
    const done = `${end.collected} of ${countOf(of, 'shard')}`;
    terminal.warn(`interrupted: ${done} done; to continue, repeat the same command`);
    return exits.interrupted;
  }
  for (const { order, why } of end.failures.slice(0, MOST_FAILURES)) {
    const { range, shard } = order;
    const about = why.includes('stalled') ? ': every worker that started it died' : '';
    terminal.warn(`✗ ${shardName(shard)} failed: ${why}${about}`);
    if (why.startsWith(REFUSED)) continue;
    const files = scenarios.map(({ file }) => file);
    const seeds = ['--seeds', `${range.from}..${range.to}`];
    const words = [
      ...FENCEPOST,
      'run',
      ...files,
      ...seeds,
      '--shard',
      `${shard.index}/${shard.of}`,
    ];
    terminal.warn(`  run it here: ${shellWords(words).join(' ')}`);
  }
  terminal.warn('to retry the other shards, repeat the same command');
  const isRefused = end.failures.every(({ why }) => why.startsWith(REFUSED));
  return isRefused ? exits.usage : exits.failed;
}
