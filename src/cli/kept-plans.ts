/**
 * Reads and replays the kept plans of a corpus, one after the other. A plan that cannot be read is
 * told with its place, and does not keep the others from being replayed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Expectation } from '../core/plan/plan.ts';
import { type Replay, replay } from '../search/corpus/replay.ts';
import type { KeptOutcome } from '../search/sweep/shard-file.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { breathe } from './breathe.ts';
import { type Exit, exits, UserError } from './exit.ts';
import { listFolder, loadPlan, type ModuleOptions, type PlanFile } from './files.ts';

export type KeptPlan =
  | {
      readonly kind: 'replayed';
      readonly file: string;
      readonly loaded: PlanFile;
      readonly replay: Replay;
      readonly expected: Expectation['outcome'];
    }
  | {
      readonly kind: 'damaged';
      readonly file: string;
      /** Each with its place in the file. */
      readonly lines: readonly string[];
    };

/** The outcome of a kept plan that cannot be read. */
export const DAMAGED = 'damaged';

export interface KeptPlanOptions extends ModuleOptions {
  /** Only the plans of this scenario; null for all. */
  readonly scenario: string | null;
  readonly shouldStop: () => boolean;
}

/** Replays the plans of a folder by name, each as it is asked for. */
export async function* replayFolder(
  folder: string,
  options: KeptPlanOptions,
): AsyncGenerator<KeptPlan> {
  for (const file of plansIn(folder)) {
    await breathe();
    if (options.shouldStop()) return;
    const kept = await replayFile(file, options);
    if (kept !== null) yield kept;
  }
}

/** The same for several folders, one after the other. */
export async function* replayFolders(
  folders: readonly string[],
  options: KeptPlanOptions,
): AsyncGenerator<KeptPlan> {
  for (const folder of folders) yield* replayFolder(folder, options);
}

/** The plan files of a folder, sorted; names that begin with a dot are none. */
export function plansIn(folder: string): readonly string[] {
  return listFolder(folder)
    .filter((name) => name.endsWith('.yaml') && !name.startsWith('.'))
    .map((name) => join(folder, name));
}

/** Null where the plan is of another scenario. */
async function replayFile(file: string, options: KeptPlanOptions): Promise<KeptPlan | null> {
  if (options.scenario !== null && isOfAnother(file, options.scenario)) return null;
  try {
    const loaded = await loadPlan(file, options);
    const { plan, catalogue } = loaded;
    if (options.scenario !== null && plan.scenario !== options.scenario) return null;
    await prepare([plan.system], catalogue);
    const result = await replay(plan, undefined, catalogue);
    const expected = plan.expect?.outcome ?? 'reproduced';
    return { kind: 'replayed', file, loaded, replay: result, expected };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { kind: 'damaged', file, lines: error.lines };
  }
}

/**
 * Whether a file says in so many words that its plan is of another scenario: then it need not be
 * read any further, which for a folder of hundreds is most of the time that a run takes to start.
 */
function isOfAnother(file: string, scenario: string): boolean {
  const said = /^scenario:[ \t]+([\p{L}\p{N}._-]+)[ \t]*\r?$/mu.exec(readText(file))?.[1];
  return said !== undefined && said !== scenario;
}

/** Empty where it cannot be read: whoever reads it next says why. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** What remains of a kept plan once it was replayed. */
export function outcomeOf(kept: KeptPlan): KeptOutcome {
  const { file } = kept;
  if (kept.kind === 'damaged') {
    return { file, outcome: DAMAGED, expected: 'reproduced', divergedAt: null };
  }
  const { outcome, divergedAt } = kept.replay;
  return { file, outcome, expected: kept.expected, divergedAt };
}

/** The exit codes of those that were not as expected. */
export function exitsOfKept(kept: readonly KeptOutcome[]): Exit[] {
  return kept.flatMap(({ outcome, expected }) => {
    if (outcome === expected) return [];
    if (outcome === DAMAGED) return [exits.usage];
    return [outcome === 'diverged' ? exits.nondeterministic : exits.broken];
  });
}
