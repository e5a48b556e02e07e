/**
 * The stages of `sweep` for one scenario: those of `run`, but the seeds are examined by a fleet,
 * and what is known so far is kept in a checkpoint. Where a chunk came to two results, people are
 * told the very seed, if it does so on this machine too, and the command that shows it; where a
 * sweep ends before all is known, the command that goes on with it.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Checkpoint, readCheckpoint } from '../adapters/fleet/checkpoint.ts';
import { calibrate, chunksIn } from '../adapters/fleet/chunks.ts';
import { coordinate, type FleetResult } from '../adapters/fleet/coordinate.ts';
import { progressLine } from '../adapters/fleet/progress.ts';
import { readShrunk } from '../adapters/fleet/shrink-kind.ts';
import { type SweepRecord, sweepIdOf } from '../adapters/fleet/sweep-record.ts';
import { type Located, locateDifference, type TwoResults } from '../adapters/fleet/two-results.ts';
import { FENCEPOST, shellWords } from '../report/finding.ts';
import { repeatSeed } from '../search/sweep/examiner.ts';
import type { Pool } from '../search/sweep/pool.ts';
import { originOf } from '../search/sweep/sealed.ts';
import type { RunDifference, SeedRange } from '../search/sweep/shards.ts';
import { sweep } from '../search/sweep/sweep.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import { DEFAULT_OUTPUT } from './command.ts';
import { concludeScenario, type Examined, type ScenarioOutcome } from './conclude.ts';
import { type Exit, exits, UserError } from './exit.ts';
import { readText, writeText } from './files.ts';
import type { Interruption } from './interruption.ts';
import { type OpenQueue, sweepCommandText } from './open-queue.ts';
import { fileName, planFileOf } from './output-files.ts';
import { setAside } from './reporting.ts';
import type { LoadedScenario, ModuleOptions } from './sources.ts';
import { type RunOptions, replayKeptOf, selfCheck } from './stages.ts';
import type { Terminal } from './terminal.ts';

export interface FleetOptions
  extends Pick<RunOptions, 'from' | 'to' | 'workers' | 'output' | 'reporters'>,
    Pick<RunOptions, 'isJson' | 'isQuiet' | 'isVerbose' | 'corpus' | 'version'>,
    ModuleOptions {
  /** The URL of the queue. */
  readonly queue: string;
  /** How long a chunk is to take a worker like this machine. */
  readonly chunkMs: number;
}

export interface FleetContext {
  readonly opened: OpenQueue;
  readonly pool: Pool;
  readonly options: FleetOptions;
  readonly terminal: Terminal;
  readonly interruption: Pick<Interruption, 'isInterrupted' | 'signal'>;
  /** The files of plans that were written on the way: what is found later takes their place. */
  readonly ownPlans: Set<string>;
}

/** What the sweep of one scenario came to. */
export interface SweptScenario {
  readonly loaded: LoadedScenario;
  readonly outcome: ScenarioOutcome;
  /** Beside its checkpoint, for its shard; null unless every chunk is counted. */
  readonly shardFolder: string | null;
  /** How to go on, in one line; null where nothing is left. */
  readonly rest: string | null;
  /** What is no longer needed once all is reported goes. */
  readonly clean: () => void;
}

/** Larger checkpoints are refused: of each chunk two bytes a system, and sums. */
const MOST_BYTES = 100_000_000;

/** Whatever comes of the sweep: what is known of it is concluded. */
export async function sweepScenario(
  loaded: LoadedScenario,
  context: FleetContext,
): Promise<SweptScenario> {
  const { terminal, options, interruption } = context;
  const isInterrupted = (): boolean => interruption.isInterrupted;
  const { output } = options;
  const { scenario } = loaded;
  const range = { from: options.from, to: options.to };
  terminal.note(`${scenario.name}  ${loaded.file}`);
  await prepare(scenario.systems, loaded.catalogue);
  context.pool.restorePatience();
  const stages = { pool: context.pool, options: runOptions(options), terminal, isInterrupted };
  const keptPlans = await replayKeptOf(loaded, { ...stages, journals: [] });
  const check = await selfCheck(loaded, range, { ...stages, journals: [] });
  const swept = await sweepOnQueue(loaded, context);
  const { alarm, shrunk } = swept.result;
  const difference =
    check.difference ??
    (alarm === null ? null : await explainAlarm(alarm, loaded, { ...context, isInterrupted }));
  const examined: Examined = {
    ...{ range, keptPlans, repeated: check.repeated, isPart: false, corpus: options.corpus },
    difference,
    tallies: swept.result.tallies,
    isWhole: swept.result.end === 'whole',
    ...cutShortOf(swept.result.end, options),
    milliseconds: swept.result.milliseconds,
  };
  const outcome = await concludeScenario(loaded, examined, {
    ...{
      output,
      terminal,
      isInterrupted,
      pool: context.pool,
      hasPage: options.reporters.has('html'),
    },
    shrunkBefore: async ({ system, claim }, seed) => {
      const known = shrunk.find(
        (one) => one.system === system && one.claim === claim && one.seed === seed,
      );
      const before = known === undefined ? null : await readShrunk(known, loaded.catalogue);
      if (before !== null) terminal.note(`  seed ${seed} of ${system}: as a worker has shrunk it`);
      return before;
    },
  });
  return conclude(loaded, { outcome, swept }, context);
}

function cutShortOf(
  end: FleetResult['end'],
  { from, to }: FleetOptions,
): Pick<Examined, 'cutShort'> {
  if (end === 'whole') return {};
  return { cutShort: { asked: to - from + 1, by: end === 'lost' ? 'lost' : 'interrupted' } };
}

function conclude(
  loaded: LoadedScenario,
  { outcome, swept }: { readonly outcome: ScenarioOutcome; readonly swept: Swept },
  { options, terminal }: FleetContext,
): SweptScenario {
  const { result, file } = swept;
  for (const [chunk, why] of result.lost) {
    terminal.warn(`✗ chunk ${groupDigits(chunk + 1)} was given up: ${why}`);
  }
  const codes: Partial<Record<Swept['result']['end'], readonly Exit[]>> = {
    lost: [exits.failed],
    stopped: [exits.interrupted],
    left: [exits.interrupted],
  };
  const isWhole = result.end === 'whole';
  return {
    loaded,
    outcome: { ...outcome, exits: [...outcome.exits, ...(codes[result.end] ?? [])] },
    shardFolder: isWhole && file !== null ? file.replace(/\.checkpoint$/, '') : null,
    rest: restText(loaded, swept, options),
    clean: () => {
      if (isWhole && file !== null) rmSync(file, { force: true });
    },
  };
}

const NOTHING: FleetResult = {
  ...{ end: 'left', tallies: new Map(), lost: new Map() },
  ...{ alarm: null, shrunk: [], milliseconds: 0 },
};

/** Begins again where another coordinator has announced the sweep with other chunks meanwhile. */
async function sweepOnQueue(loaded: LoadedScenario, context: FleetContext): Promise<Swept> {
  for (;;) {
    const swept = await sweepOnce(loaded, context);
    if (swept.result.end !== 'recut') return swept;
    context.terminal.note('  was announced with other chunks elsewhere: begins again with those');
  }
}

async function sweepOnce(loaded: LoadedScenario, context: FleetContext): Promise<Swept> {
  const { opened, terminal, options, interruption, ownPlans } = context;
  const { scenario } = loaded;
  const begun = await begin(loaded, context);
  if (begun === null) return { result: NOTHING, id: null, file: null, isAnnounced: false };
  const { sweep, checkpoint, file } = begun;
  let isAnnounced = false;
  const id = sweepIdOf(sweep);
  const chunks = groupDigits(chunksIn(sweep));
  terminal.note(`  sweep ${id}: ${chunks} chunks of ${groupDigits(sweep.chunkSeeds)} seeds`);
  const systems = scenario.systems.map(({ name }) => name);
  const place = { scenario: scenario.name, systems, output: options.output };
  const fileOf = (system: string, claim: string): string => planFileOf({ system, claim }, place);
  const result = await coordinate({
    ...{ sweep, scenario, catalogue: loaded.catalogue, checkpoint, planFileOf: fileOf },
    queue: opened.patient(interruption.signal),
    coordinator: randomUUID(),
    save: (text) => writeText(file, text),
    shouldStop: () => interruption.isInterrupted,
    note: (line) => terminal.note(`  ${opened.safe(line)}`),
    onProgress: (progress) => {
      isAnnounced = true;
      terminal.progress(`  ${progressLine(progress)}`);
    },
    onShrunk: ({ system, claim, seed, plan, headline, signature }) => {
      if (plan === null) {
        terminal.note(`  seed ${seed} of ${system}, ${claim}: not shrunk so far: ${headline}`);
        return;
      }
      const planFile = fileOf(system, claim);
      if (!ownPlans.has(planFile)) setAside(planFile, plan, terminal);
      ownPlans.add(planFile);
      writeText(planFile, plan);
      terminal.note(`  first of kind ${signature}, seed ${seed} of ${system}: ${headline}`);
      terminal.note(`  shrunk so far: ${planFile}`);
    },
  });
  terminal.endProgress();
  if (result.end === 'recut') return { result, id, file, isAnnounced };
  if (result.end === 'busy' || result.end === 'replaced') {
    const tail = sweepCommandText('tail', { queue: options.queue, id });
    throw new UserError([`another coordinator is at work on ${id}; how far it is: ${tail}`]);
  }
  const s = Math.round(result.milliseconds / 1000);
  terminal.note(`  seeds ${options.from}..${options.to}: ${result.end} after ${s} s`);
  return { result, id, file, isAnnounced };
}

interface Begun {
  readonly sweep: SweepRecord;
  readonly checkpoint: Checkpoint | null;
  /** Where checkpoints are kept. */
  readonly file: string;
}

/** How the sweep is cut: as before, where it was begun; null where it was interrupted. */
async function begin(loaded: LoadedScenario, context: FleetContext): Promise<Begun | null> {
  const { options, opened, pool, terminal, interruption } = context;
  const { scenario, catalogue, text } = loaded;
  const range = { from: options.from, to: options.to };
  const identity = { origin: originOf(scenario, options.version), text, range };
  const id = sweepIdOf(identity);
  const file = join(options.output, `${fileName([scenario.name, id])}.checkpoint`);
  const checkpoint = readCheckpointFile(file, id);
  const known = (await opened.queue.sweep(id))?.entry.sweep ?? null;
  if (checkpoint !== null) {
    if (known !== null && known.chunkSeeds !== checkpoint.sweep.chunkSeeds) {
      throw new UserError([
        `${file}:1:1: the sweep was begun again elsewhere, with other chunks; delete this file`,
      ]);
    }
    terminal.note(`  goes on from ${file}`);
    return { sweep: checkpoint.sweep, checkpoint, file };
  }
  if (known !== null) return { sweep: known, checkpoint, file };
  const { chunkMs } = options;
  const shouldStop = (): boolean => interruption.isInterrupted;
  const chunkSeeds = await calibrate(scenario, { pool, catalogue, range, chunkMs, shouldStop });
  if (interruption.isInterrupted) return null;
  return { sweep: { ...identity, file: loaded.file, chunkSeeds }, checkpoint, file };
}

function readCheckpointFile(file: string, id: string): Checkpoint | null {
  if (!existsSync(file)) return null;
  const read = readCheckpoint(readText(file, MOST_BYTES), id);
  if (read.kind === 'checkpoint') return read.checkpoint;
  throw new UserError([`${file}:1:1: this checkpoint ${read.what}; without it all is done again`]);
}

/** The same as for a run that has no shard and no limit. */
function runOptions(options: FleetOptions): RunOptions {
  const { modules } = options;
  return {
    ...options,
    ...{ timeMs: null, maxFailures: null, shard: null, exhaust: null },
    ...{ checksDeterminism: false, isResumed: false, modules },
  };
}

/** What a coordinator came to; no id and no file where it was interrupted before it began. */
interface Swept {
  readonly result: FleetResult;
  readonly id: string | null;
  /** Where its checkpoints are kept. */
  readonly file: string | null;
  /** Whether its record is known to have been on the queue. */
  readonly isAnnounced: boolean;
}

/** `zombie: 1,312 of 10,000 seeds; go on with: npx --no-install fencepost sweep resume s0123…`. */
export function restText(
  loaded: LoadedScenario,
  { result, id, isAnnounced }: Swept,
  options: FleetOptions,
): string | null {
  if (result.end === 'whole') return null;
  const { scenario } = loaded;
  const known = Math.min(
    ...scenario.systems.map(({ name }) => result.tallies.get(name)?.seeds ?? 0),
  );
  const seeds = `${groupDigits(known)} of ${countOf(options.to - options.from + 1, 'seed')}`;
  const head = `${scenario.name}: ${seeds}`;
  if (id === null || !isAnnounced) return `${head}; the same command goes on`;
  if (result.end === 'lost') return `${head}; the same command tries the others again`;
  return `${head}; go on with: ${resumeCommandText(loaded, id, options)}`;
}

function resumeCommandText(
  { scenario, file }: LoadedScenario,
  id: string,
  { queue, output, modules, corpus }: FleetOptions,
): string {
  const folder = typeof modules === 'string' ? modules : dirname(file);
  return sweepCommandText('resume', {
    ...{ queue, id },
    options: [
      ...(scenario.use === undefined ? [] : ['--modules', folder]),
      ...(output === DEFAULT_OUTPUT ? [] : ['--output', output]),
      ...(corpus === null ? [] : ['--corpus', corpus]),
    ],
  });
}

interface AlarmContext {
  readonly pool: Pool;
  readonly terminal: Terminal;
  readonly isInterrupted: () => boolean;
}

/** How long the chunk is examined again at most. */
const LOCATE_MS = 60_000;

/** Examines the chunk here again, for a minute at most, and prints what differs. */
async function explainAlarm(
  alarm: TwoResults,
  loaded: LoadedScenario,
  { pool, terminal, isInterrupted }: AlarmContext,
): Promise<RunDifference> {
  const { scenario, catalogue, file } = loaded;
  const names = new Set(alarm.systems.map(({ system }) => system));
  const own = { ...scenario, systems: scenario.systems.filter(({ name }) => names.has(name)) };
  const untilMs = performance.now() + LOCATE_MS;
  const shouldStop = (): boolean => isInterrupted() || performance.now() > untilMs;
  terminal.note(`  examines seeds ${alarm.from}..${alarm.to} again, to find the one that differs`);
  const located = await locateDifference(alarm, async (range) => {
    const { tallies, isWhole } = await sweep(own, { ...range, pool, catalogue, shouldStop });
    return isWhole ? tallies : null;
  });
  const { seeds, difference } = await described(located, alarm, loaded);
  terminal.print(`nondeterministic: ${file}: ${difference.what}`);
  terminal.print(`  ${commandOf(file, seeds)}`);
  return difference;
}

/** What differs, and which seeds show it. */
async function described(
  located: Located,
  alarm: TwoResults,
  { scenario, catalogue }: LoadedScenario,
): Promise<{ readonly seeds: SeedRange; readonly difference: RunDifference }> {
  if (located.kind === 'seed') {
    const { system, seed } = located;
    const event = await repeatSeed(scenario, system, seed, catalogue).catch(() => null);
    const what = `seed ${seed} of ${system} came to two results${event === null ? '' : `; ${event}`}`;
    return { seeds: { from: seed, to: seed }, difference: { system, seed, what } };
  }
  const isNarrow = located.kind === 'seeds';
  const { from, to } = isNarrow ? located : alarm;
  const system = isNarrow ? located.system : alarm.systems.map((one) => one.system).join(', ');
  const what = `seeds ${from}..${to} of ${system} came to two results; ${hereText(located)}`;
  return { seeds: { from, to }, difference: { system, seed: from, what } };
}

/** What came of examining them here, a clause. */
function hereText(located: Exclude<Located, { kind: 'seed' }>): string {
  if (located.kind === 'seeds') return 'here too, though no single one of them did';
  if (located.kind === 'unknown') return 'there was no time to find which';
  const results = {
    counted: 'they come to the one that is counted',
    other: 'they come to the one that is not counted',
    neither: 'they come to neither',
  } as const;
  return `here each came twice to the same, and ${results[located.here]}: machines differ`;
}

function commandOf(file: string, { from, to }: SeedRange): string {
  const words = [...FENCEPOST, 'run', file, '--seeds', `${from}..${to}`];
  return shellWords([...words, '--check-determinism']).join(' ');
}
