/**
 * Reads and replays kept plans one after the other, and returns the outcome and the kind of failure
 * of each. A plan that cannot be read is reported, and the others are still replayed.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { yieldToEventLoop } from '../host/async/ambient.ts';
import { withLabel } from '../host/async/progress-beacon.ts';
import { scenarioFolderOf } from '../host/modules/load-files.ts';
import { replayKeptPlan } from '../search/campaign/campaign.ts';
import { DAMAGED, type KeptPlan, type Subject } from '../search/campaign/setting.ts';
import type { CorpusEntry } from '../search/corpus/entry.ts';
import type { KeptReplay } from '../search/corpus/kept-replay.ts';
import { idOf, type Signature, signatureOf } from '../search/corpus/signature.ts';
import { causeName } from '../search/sweep/causes.ts';
import type { KeptOutcome } from '../search/sweep/shards.ts';
import { FENCEPOST, shellWords } from '../text/prose.ts';
import { foldersKept } from './corpus-place.ts';
import { UserError } from './exit.ts';
import { listFolder } from './files.ts';
import { plansFoldersOf } from './shipped.ts';
import { loadPlan, type ModuleOptions, type PlanFile } from './sources.ts';
import type { Terminal } from './terminal.ts';

export type KeptPlanFile =
  | (Extract<KeptPlan, { readonly kind: 'plan' }> & { readonly loaded: PlanFile })
  | Extract<KeptPlan, { readonly kind: 'damaged' }>;

export interface ReplayedPlan {
  readonly kind: 'replayed';
  readonly file: string;
  readonly loaded: PlanFile;
  readonly replay: KeptReplay;
}

export type ReplayedFile = ReplayedPlan | Extract<KeptPlan, { readonly kind: 'damaged' }>;

interface KeptPlanOptions extends ModuleOptions {
  /** Restricts the plans to this scenario; null for all plans. */
  readonly scenario: string | null;
}

/** Yields the plans of folders, sorted by name within each folder. Each is read on demand. */
export async function* readFolders(
  folders: readonly string[],
  options: KeptPlanOptions,
): AsyncGenerator<KeptPlanFile> {
  for (const file of folders.flatMap(plansIn)) {
    await yieldToEventLoop();
    const kept = await readKept(file, options);
    if (kept !== null) yield kept;
  }
}

function plansIn(folder: string): readonly string[] {
  const names = listFolder(folder).filter(
    (name) => name.endsWith('.yaml') && !name.startsWith('.'),
  );
  return names.map((name) => join(folder, name));
}

/** Reads a plan. Resolves to null if it belongs to another scenario. */
async function readKept(file: string, options: KeptPlanOptions): Promise<KeptPlanFile | null> {
  if (options.scenario !== null && isOfAnother(file, options.scenario)) return null;
  try {
    const loaded = await loadPlan(file, options);
    const { plan, catalogue, changedModules, moduleChanges } = loaded;
    if (options.scenario !== null && plan.scenario !== options.scenario) return null;
    const hasChanged = changedModules.length > 0;
    return { kind: 'plan', file, plan, catalogue, hasChanged, moduleChanges, loaded };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { kind: 'damaged', file, lines: error.lines };
  }
}

/**
 * Returns true if the text names another scenario. Parsing hundreds of plans would take most of the
 * startup time of a run.
 */
function isOfAnother(file: string, scenario: string): boolean {
  try {
    const text = readFileSync(file, 'utf8');
    const scenarioName = /^scenario:[ \t]+([\p{L}\p{N}._-]+)[ \t]*\r?$/mu.exec(text)?.[1];
    return scenarioName !== undefined && scenarioName !== scenario;
  } catch {
    // The code that reads the file next reports the error.
    return false;
  }
}

/** Returns one line about a kept plan with an unexpected outcome. */
export function keptLine({ file, outcome, expected, divergedAt }: KeptOutcome): string {
  const where = divergedAt === null ? '' : `; no match for ${divergedAt}`;
  return `✗ kept plan ${file} is ${outcome}, expected ${expected}${where}`;
}

/** Returns advice for a kept plan that needs attention, one line per item. */
export function adviceOf(kept: Pick<ReplayedPlan, 'file' | 'replay'>): readonly string[] {
  const { replay } = kept;
  return [...otherCauseLines(replay), ...changeLines(kept)];
}

function changeLines({ file, replay }: Pick<ReplayedPlan, 'file' | 'replay'>): readonly string[] {
  const { changes, difference, lost, plan } = replay;
  // A changed module is run only from a folder that the user names.
  const modules = plan.use === undefined ? [] : ['--modules', scenarioFolderOf(file)];
  const words = [...FENCEPOST, 'corpus', 'update', '--corpus', dirname(file), ...modules];
  const command = shellWords(words).join(' ');
  if (difference !== null) return [`two runs differ: ${difference}`];
  if (changes.length > 0) {
    return [`the code changed; reproduced with ${changes.join(', ')}; to keep it: ${command}`];
  }
  if (lost === null) return [];
  const { from, namesakes, nearest, rename } = lost;
  if (namesakes.length > 0) return [`the run has ${namesakes.join(', ')} instead`];
  if (rename !== null) {
    const renames = shellWords([...words, '--rename', `${rename.from}=${rename.to}`]).join(' ');
    return [`reproduced with "${from}" renamed to "${rename.to}"; to keep it: ${renames}`];
  }
  const there = nearest.length === 0 ? '' : `; nearest: ${nearest.slice(0, 5).join(', ')}`;
  return [`no operation, mark or timer is named "${from}" any more${there}`];
}

/** A breach by another cause proves nothing about the cause for which the plan was kept. */
function otherCauseLines({ claim, outcome, plan, otherCause }: KeptReplay): readonly string[] {
  if (otherCause === null) return [];
  const kept = plan.expect?.cause;
  const wanted = kept === undefined ? '' : `, expected ${causeName(kept)}`;
  const clause = outcome === 'reproduced' ? 'it breaks' : 'a similar plan breaks';
  return [`${clause} ${claim}, but by another cause: ${otherCause}${wanted}`];
}

export interface CorpusOptions extends ModuleOptions {
  /** The folder of kept plans, or null for `plans` beside the scenarios. */
  readonly corpus: string | null;
  readonly isJson: boolean;
}

/** A corpus entry with the text of its file at the time of the replay. */
export interface FiledEntry extends CorpusEntry {
  readonly text: string;
}

/**
 * Replays the plans of a corpus, or of one scenario, one after the other. Throws if a folder does
 * not exist, since a mistyped folder would otherwise look like an empty corpus.
 */
export async function* replayCorpus(
  { corpus, modules }: CorpusOptions,
  scenario: string | null = null,
): AsyncGenerator<ReplayedFile> {
  const folders = corpus === null ? foldersKept() : [corpus];
  for (const folder of folders) {
    if (existsSync(folder) && statSync(folder).isDirectory()) continue;
    const advice = 'name one with --corpus <folder>';
    throw new UserError([`${folder}:1:1: no such folder; ${advice}`]);
  }
  for await (const kept of readFolders(folders, { modules, scenario })) {
    const replay = await replayKeptPlan(kept, ({ what }, work) => withLabel(what, work));
    if (kept.kind === 'damaged') yield kept;
    else if (replay !== null) {
      yield { kind: 'replayed', file: kept.file, loaded: kept.loaded, replay };
    }
  }
}

export function entryOf({ file, loaded, replay }: ReplayedPlan): FiledEntry {
  const { plan, text } = loaded;
  const signature = signatureOf(plan, replay.verdict);
  const { outcome, expected } = replay;
  return { file, plan, text, signature, outcome, expected };
}

/** Returns the fields of a kept plan for a line of `--json`. */
export function keptPlanFields(kept: ReplayedFile): object {
  const { file } = kept;
  if (kept.kind === 'damaged') return { file, outcome: DAMAGED, problems: kept.lines };
  const { plan, outcome, expected, signature } = entryOf(kept);
  const { divergedAt, digest, changes, lost } = kept.replay;
  const { otherCause } = kept.replay;
  return {
    file,
    outcome,
    expected,
    claim: signature.claim,
    otherCause,
    scenario: plan.scenario,
    system: plan.system.name,
    signature: signatureFields(signature),
    divergedAt,
    digest,
    changes,
    nearest: lost?.nearest ?? [],
  };
}

/** Returns the fields of a signature for a line of `--json`, except the claim. */
export function signatureFields(signature: Signature): object {
  const { shape, roles } = signature;
  return { id: idOf(signature), shape, roles };
}

export async function* keptPlansOf(
  { scenario, file }: Subject,
  { corpus, modules }: Pick<CorpusOptions, 'corpus' | 'modules'>,
  terminal: Pick<Terminal, 'warn'>,
): AsyncGenerator<KeptPlan> {
  const folders = corpus === null ? plansFoldersOf(file) : [corpus];
  if (corpus !== null && !existsSync(corpus)) {
    terminal.warn(`warning: no folder ${corpus}; no kept plan replayed`);
  }
  const { name, use: known = {} } = scenario;
  yield* readFolders(folders, { modules, known, scenario: name });
}
