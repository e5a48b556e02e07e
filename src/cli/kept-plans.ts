/**
 * The kept plans of a corpus: reads and replays them one after the other, and says what became of
 * each and which kind of failure it is. A plan that cannot be read is told with its place, and does
 * not keep the others from being replayed.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Expectation } from '../core/plan/plan.ts';
import type { CorpusEntry } from '../search/corpus/entry.ts';
import { type Replay, replay } from '../search/corpus/replay.ts';
import { idOf, type Signature, signatureOf } from '../search/corpus/signature.ts';
import type { KeptOutcome } from '../search/sweep/shards.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { type Exit, exits, UserError } from './exit.ts';
import { listFolder } from './files.ts';
import { breathe } from './interruption.ts';
import { loadPlan, type ModuleOptions, type PlanFile } from './sources.ts';

export type KeptPlanFile =
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

interface KeptPlanOptions extends ModuleOptions {
  /** Only the plans of this scenario; null for all. */
  readonly scenario: string | null;
  readonly shouldStop: () => boolean;
}

/** Replays the plans of a folder by name, each as it is asked for. */
export async function* replayFolder(
  folder: string,
  options: KeptPlanOptions,
): AsyncGenerator<KeptPlanFile> {
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
): AsyncGenerator<KeptPlanFile> {
  for (const folder of folders) yield* replayFolder(folder, options);
}

/** The plan files of a folder, sorted; names that begin with a dot are none. */
function plansIn(folder: string): readonly string[] {
  return listFolder(folder)
    .filter((name) => name.endsWith('.yaml') && !name.startsWith('.'))
    .map((name) => join(folder, name));
}

/** Null where the plan is of another scenario. */
async function replayFile(file: string, options: KeptPlanOptions): Promise<KeptPlanFile | null> {
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
export function keptOutcomeOf(kept: KeptPlanFile): KeptOutcome {
  const { file } = kept;
  if (kept.kind === 'damaged') {
    return { file, outcome: DAMAGED, expected: 'reproduced', divergedAt: null };
  }
  const { outcome, divergedAt } = kept.replay;
  return { file, outcome, expected: kept.expected, divergedAt };
}

/** A kept plan that is not what it says of itself, in one line. */
export function keptLine({ file, outcome, expected, divergedAt }: KeptOutcome): string {
  const where = divergedAt === null ? '' : `; no match for ${divergedAt}`;
  return `✗ kept plan ${file} is ${outcome}, expected ${expected}${where}`;
}

/** The exit codes of those that were not as expected. */
export function exitsOfKept(kept: readonly KeptOutcome[]): Exit[] {
  return kept.flatMap(({ outcome, expected }) => {
    if (outcome === expected) return [];
    if (outcome === DAMAGED) return [exits.usage];
    return [outcome === 'diverged' ? exits.nondeterministic : exits.broken];
  });
}

export interface CorpusOptions extends ModuleOptions {
  /** The folder. */
  readonly corpus: string;
  readonly isJson: boolean;
}

/** An entry, and the text that its file had as it was replayed. */
export interface FiledEntry extends CorpusEntry {
  readonly text: string;
}

/** Refuses a folder that is not there: a corpus that is looked for elsewhere would look empty. */
function requireCorpus(folder: string): void {
  if (existsSync(folder) && statSync(folder).isDirectory()) return;
  throw new UserError([`${folder}:1:1: there is no such folder; name one with --corpus <folder>`]);
}

/** Replays the plans of a corpus one after the other. */
export function replayCorpus({ corpus, modules }: CorpusOptions): AsyncGenerator<KeptPlanFile> {
  requireCorpus(corpus);
  return replayFolder(corpus, { modules, scenario: null, shouldStop: () => false });
}

/** Null where the plan cannot be read. */
export function entryOf(kept: KeptPlanFile): FiledEntry | null {
  if (kept.kind === 'damaged') return null;
  const { file, loaded, replay, expected } = kept;
  const { plan, text } = loaded;
  const signature = signatureOf(plan, replay.verdict);
  return { file, plan, text, signature, outcome: replay.outcome, expected };
}

/** A kept plan as a line of `--json`. */
export function keptPlanLine(kept: KeptPlanFile): string {
  const head = { type: 'kept-plan', version: 1, file: kept.file };
  const entry = entryOf(kept);
  if (kept.kind === 'damaged' || entry === null) {
    const problems = kept.kind === 'damaged' ? kept.lines : [];
    return JSON.stringify({ ...head, outcome: DAMAGED, problems });
  }
  const { plan, outcome, expected, signature } = entry;
  return JSON.stringify({
    ...{ ...head, outcome, expected, claim: signature.claim },
    ...{ scenario: plan.scenario, system: plan.system.name },
    signature: signatureFields(signature),
    divergedAt: kept.replay.divergedAt,
    digest: kept.replay.digest,
  });
}

/** A signature in a line of `--json`; the claim stands beside it. */
export function signatureFields(signature: Signature): object {
  const { shape, roles } = signature;
  return { id: idOf(signature), shape, roles };
}
