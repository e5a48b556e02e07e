/**
 * The stages of `sweep` for one scenario: those of `run`, but the seeds are examined by a fleet,
 * and what is known so far is kept in a checkpoint.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Checkpoint, readCheckpoint } from '../adapters/fleet/checkpoint.ts';
import { calibrate, chunksIn } from '../adapters/fleet/chunks.ts';
import { coordinate, type FleetResult } from '../adapters/fleet/coordinate.ts';
import { progressLine } from '../adapters/fleet/progress.ts';
import { readShrunk } from '../adapters/fleet/shrink-kind.ts';
import { type SweepRecord, sweepIdOf } from '../adapters/fleet/sweep-record.ts';
import { originOf } from '../search/sweep/origin.ts';
import type { Pool } from '../search/sweep/pool.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { groupDigits } from '../text/prose.ts';
import { concludeScenario, type Examined, type ScenarioOutcome } from './conclude.ts';
import { type Exit, exits, UserError } from './exit.ts';
import { type LoadedScenario, type ModuleOptions, readText, writeText } from './files.ts';
import { fileName, planFileOf } from './find.ts';
import { explainAlarm } from './fleet-alarm.ts';
import type { Interruption } from './interruption.ts';
import type { OpenQueue } from './open-queue.ts';
import { type RunOptions, replayCorpus, selfCheck } from './run-scenario.ts';
import { restText, type Swept } from './sweep-rest.ts';
import { sweepCommandText } from './sweep-words.ts';
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
  const stages = { pool: null, options: runOptions(options), terminal, isInterrupted };
  const keptPlans = await replayCorpus(loaded, { ...stages, journals: [] });
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
    milliseconds: swept.result.milliseconds,
  };
  const outcome = await concludeScenario(loaded, examined, {
    ...{ output, terminal, isInterrupted },
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
  const { opened, terminal, options, interruption } = context;
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
  const text = readText(file, MOST_BYTES);
  if (text.kind === 'error') throw new UserError([text.error]);
  const read = readCheckpoint(text.text, id);
  if (read.kind === 'checkpoint') return read.checkpoint;
  throw new UserError([`${file}:1:1: this checkpoint ${read.what}; without it all is done again`]);
}

/** The same as for a run that has no shard and no limit. */
function runOptions(options: FleetOptions): RunOptions {
  const { modules } = options;
  return {
    ...options,
    ...{ timeMs: null, maxFailures: null, shard: null },
    ...{ checksDeterminism: false, isResumed: false, modules },
  };
}
