/**
 * The stages of `sweep` for one scenario: those of `run`, but the seeds are examined by a fleet,
 * and what is known so far is kept in a checkpoint.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { calibrate } from '../fleet/calibrate.ts';
import { type Checkpoint, readCheckpoint } from '../fleet/checkpoint.ts';
import { chunksIn } from '../fleet/chunk-map.ts';
import { coordinate, type FleetResult } from '../fleet/coordinate.ts';
import { progressLine } from '../fleet/progress-line.ts';
import { readShrunk } from '../fleet/shrunk-plan.ts';
import type { SweepQueue } from '../fleet/sweep-queue.ts';
import { type SweepRecord, sweepIdOf } from '../fleet/sweep-record.ts';
import { groupDigits } from '../report/prose.ts';
import { originOf } from '../sweep/origin.ts';
import type { Pool } from '../sweep/pool.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { concludeScenario, type Examined, type ScenarioOutcome } from './conclude.ts';
import { exits, UserError } from './exit.ts';
import { type LoadedScenario, type ModuleOptions, readText, writeText } from './files.ts';
import { fileName, planFileOf } from './find.ts';
import { explainAlarm } from './fleet-alarm.ts';
import { type RunOptions, replayCorpus, selfCheck } from './run-scenario.ts';
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
  readonly queue: SweepQueue;
  /** A text without the queue's password. */
  readonly safe: (text: string) => string;
  readonly pool: Pool;
  readonly options: FleetOptions;
  readonly terminal: Terminal;
  readonly isInterrupted: () => boolean;
  /** What is to be done once all is reported. */
  readonly done: (() => void)[];
}

/** Larger checkpoints are refused: of each chunk two bytes a system, and sums. */
const MOST_BYTES = 100_000_000;

/** Null where it was interrupted: the sweep stays on the queue. */
export async function sweepScenario(
  loaded: LoadedScenario,
  context: FleetContext,
): Promise<ScenarioOutcome | null> {
  const { terminal, options, isInterrupted } = context;
  const { output } = options;
  const { scenario } = loaded;
  const range = { from: options.from, to: options.to };
  terminal.note(`${scenario.name}  ${loaded.file}`);
  await prepare(scenario.systems, loaded.catalogue);
  const stages = { pool: null, options: runOptions(options), terminal, isInterrupted };
  const keptPlans = await replayCorpus(loaded, { ...stages, journals: [] });
  const check = await selfCheck(loaded, range, { ...stages, journals: [] });
  const { result, sweep } = await sweepOnQueue(loaded, context);
  if (result === null || result.end === 'left') {
    if (sweep === null) return null;
    terminal.note(`left: the sweep ${sweepIdOf(sweep)} stays on the queue; \`sweep resume\``);
    return null;
  }
  const { alarm, shrunk } = result;
  const difference =
    check.difference ?? (alarm === null ? null : await explainAlarm(alarm, loaded, context));
  const examined: Examined = {
    ...{ range, keptPlans, repeated: check.repeated, isPart: false, corpus: options.corpus },
    difference,
    tallies: result.tallies,
    isWhole: result.end === 'whole',
    milliseconds: result.milliseconds,
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
  if (result.end !== 'lost') return outcome;
  for (const [chunk, why] of result.lost) terminal.warn(`✗ chunk ${chunk} was given up: ${why}`);
  return { ...outcome, exits: [...outcome.exits, exits.failed] };
}

interface Swept {
  /** Null where it was interrupted before it began. */
  readonly result: FleetResult | null;
  readonly sweep: SweepRecord | null;
}

async function sweepOnQueue(loaded: LoadedScenario, context: FleetContext): Promise<Swept> {
  const { queue, terminal, options, isInterrupted, safe, done } = context;
  const { scenario } = loaded;
  const begun = await begin(loaded, context);
  if (begun === null) return { result: null, sweep: null };
  const { sweep, checkpoint, file } = begun;
  const id = sweepIdOf(sweep);
  const chunks = groupDigits(chunksIn(sweep));
  terminal.note(`  sweep ${id}: ${chunks} chunks of ${groupDigits(sweep.chunkSeeds)} seeds`);
  const systems = scenario.systems.map(({ name }) => name);
  const place = { scenario: scenario.name, systems, output: options.output };
  const fileOf = (system: string, claim: string): string => planFileOf({ system, claim }, place);
  const result = await coordinate({
    ...{ sweep, scenario, queue, checkpoint, planFileOf: fileOf },
    coordinator: randomUUID(),
    save: (text) => writeText(file, text),
    shouldStop: isInterrupted,
    note: (line) => terminal.note(`  ${safe(line)}`),
    onProgress: (progress) => terminal.progress(`  ${progressLine(progress)}`),
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
  if (result.end === 'busy' || result.end === 'replaced') {
    throw new UserError([`another coordinator is at work on ${id}: \`sweep tail\` shows how far`]);
  }
  if (result.end === 'whole') done.push(() => rmSync(file, { force: true }));
  const s = Math.round(result.milliseconds / 1000);
  terminal.note(`  seeds ${options.from}..${options.to}: ${result.end} after ${s} s`);
  return { result, sweep };
}

interface Begun {
  readonly sweep: SweepRecord;
  readonly checkpoint: Checkpoint | null;
  /** Where checkpoints are kept. */
  readonly file: string;
}

/** How the sweep is cut: as before, where it was begun; null where it was interrupted. */
async function begin(loaded: LoadedScenario, context: FleetContext): Promise<Begun | null> {
  const { options, queue, pool, terminal, isInterrupted } = context;
  const { scenario, catalogue, text } = loaded;
  const range = { from: options.from, to: options.to };
  const identity = { origin: originOf(scenario, options.version), text, range };
  const id = sweepIdOf(identity);
  const file = join(options.output, `${fileName([scenario.name, id])}.checkpoint`);
  const checkpoint = readCheckpointFile(file, id);
  const known = (await queue.sweep(id))?.entry.sweep ?? null;
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
  const shouldStop = isInterrupted;
  const chunkSeeds = await calibrate(scenario, { pool, catalogue, range, chunkMs, shouldStop });
  if (isInterrupted()) return null;
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
