/**
 * What the `corpus` commands do with a folder of kept plans. `ls` and `check` say what is kept and
 * what has become of it, `prune` what tests nothing any more; `add` keeps a plan if it shows a
 * failure that no kept plan shows, and is the one that has rivals when several keep plans at once.
 * All replay what is there (`kept-plans.ts`) and know a failure by its signature.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseFile } from '../core/plan/document.ts';
import type { Plan } from '../core/plan/plan.ts';
import { renderPlan } from '../core/plan/plan-text.ts';
import { examineAsync } from '../host/async/run-async.ts';
import { admit, type Superfluous, superfluousIn } from '../search/corpus/entry.ts';
import { type Replay, replay } from '../search/corpus/replay.ts';
import { idOf, signatureOf } from '../search/corpus/signature.ts';
import { type CorpusChange, changeWhole, createWhole } from '../search/corpus/write-whole.ts';
import { claimsJudged } from '../search/sweep/examiner.ts';
import type { KeptOutcome } from '../search/sweep/shards.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { countOf } from '../text/prose.ts';
import { wrap } from '../text/visible.ts';
import { fileName } from './conclude.ts';
import { type Exit, exits, UserError, worstOf } from './exit.ts';
import { makeFolder, systemMessage } from './files.ts';
import {
  type CorpusOptions,
  DAMAGED,
  entryOf,
  exitsOfKept,
  type FiledEntry,
  type KeptPlanFile,
  keptOutcomeOf,
  keptPlanLine,
  replayCorpus,
  replayFolder,
  signatureFields,
} from './kept-plans.ts';
import { loadPlan, type PlanFile, requireClaim } from './sources.ts';
import { noteChanges, openTerminal, type Terminal } from './terminal.ts';

/** Lists what is kept; a plan that cannot be read is told, and makes the exit code 2. */
export async function listCorpus(options: CorpusOptions): Promise<Exit> {
  const terminal = openTerminal({ ...options, isQuiet: false });
  let exit: Exit = exits.met;
  let plans = 0;
  for await (const kept of replayCorpus(options)) {
    plans += 1;
    if (options.isJson) process.stdout.write(`${keptPlanLine(kept)}\n`);
    if (kept.kind === 'damaged') {
      exit = exits.usage;
      for (const line of kept.lines) terminal.warn(line);
    } else for (const line of listed(kept, terminal.width)) terminal.print(line);
  }
  terminal.note(`${countOf(plans, 'kept plan')} in ${options.corpus}`);
  return exit;
}

function listed(kept: KeptPlanFile, width: number): readonly string[] {
  const entry = entryOf(kept);
  if (entry === null) return [];
  const { file, expected, signature } = entry;
  const roles = signature.roles === null ? [] : [signature.roles.join(', ')];
  return [
    `${file}: ${signature.claim} ${expected} (${idOf(signature)})`,
    ...[signature.shape, ...roles].flatMap((text) =>
      wrap(text, Math.max(20, Math.min(width, 100) - 4)).map((line) => `    ${line}`),
    ),
  ];
}

/** Replays all that is kept and says which is not what it says of itself. */
export async function checkCorpus(options: CorpusOptions): Promise<Exit> {
  const terminal = openTerminal({ ...options, isQuiet: false });
  const outcomes: KeptOutcome[] = [];
  for await (const kept of replayCorpus(options)) {
    outcomes.push(keptOutcomeOf(kept));
    if (options.isJson) process.stdout.write(`${keptPlanLine(kept)}\n`);
    printChecked(kept, terminal);
  }
  const exit = worstOf(exitsOfKept(outcomes));
  const counts = Object.fromEntries(
    OUTCOMES.map((name) => [name, outcomes.filter(({ outcome }) => outcome === name).length]),
  );
  const met = outcomes.filter(({ outcome, expected }) => outcome === expected).length;
  const parts = OUTCOMES.filter((name) => counts[name] !== 0).map((name) => {
    return `${counts[name]} ${name}`;
  });
  terminal.print(
    `${[countOf(outcomes.length, 'kept plan'), ...parts].join(', ')}; ${met} as expected`,
  );
  if (options.isJson) {
    const { length: plans } = outcomes;
    const line = { type: 'corpus-summary', version: 1, exit, plans, asExpected: met, ...counts };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
  return exit;
}

const OUTCOMES = ['reproduced', 'fixed', 'inert', 'diverged', DAMAGED] as const;

function printChecked(kept: KeptPlanFile, terminal: Terminal): void {
  if (kept.kind === 'damaged') {
    for (const line of kept.lines) terminal.warn(line);
    terminal.print(`✗ ${kept.file}: damaged: it cannot be read`);
    return;
  }
  const { file, loaded, replay, expected } = kept;
  const { outcome, claim } = replay;
  noteChanges(file, loaded.changedModules, terminal);
  if (outcome === expected) {
    const role = outcome === 'fixed' ? ', kept as a guard' : '';
    terminal.print(`✓ ${file}: ${outcome}${role} (${claim})`);
    return;
  }
  terminal.print(`✗ ${file}: ${outcome}, expected ${expected} (${claim})`);
  terminal.print(`  ${adviceFor(kept)}`);
}

/** What to do about a plan that is not what it says of itself. */
function adviceFor(kept: Extract<KeptPlanFile, { kind: 'replayed' }>): string {
  const { file, loaded, replay } = kept;
  switch (replay.outcome) {
    case 'reproduced':
      return 'what it guards against is back';
    case 'fixed':
      return `the claim held: write \`outcome: fixed\` at ${placeOf(file, loaded)}, and it is a guard`;
    case 'inert':
      return 'the hazard no longer arises, so it guards nothing: search again, or prune it';
    case 'diverged':
      return `no match for ${replay.divergedAt ?? 'a name'}: search again, and keep what is found`;
  }
}

/** Where a plan says what it expects. */
function placeOf(file: string, { text }: PlanFile): string {
  const parsed = parseFile({ file, text });
  const path = ['expect', 'outcome'];
  const [place] =
    parsed.kind === 'document' ? parsed.locate([{ path, isKey: false, what: '' }]) : [];
  return place === undefined ? file : `${file}:${place.line}:${place.column}`;
}

/** Lists or deletes; a plan that cannot be read is told, left alone, and makes the exit code 2. */
export async function pruneCorpus(options: CorpusOptions, isConfirmed: boolean): Promise<Exit> {
  const { isJson } = options;
  const terminal = openTerminal({ ...options, isQuiet: false });
  const entries: FiledEntry[] = [];
  let exit: Exit = exits.met;
  for await (const kept of replayCorpus(options)) {
    const entry = entryOf(kept);
    if (entry !== null) entries.push(entry);
    if (kept.kind !== 'damaged') continue;
    exit = exits.usage;
    for (const line of kept.lines) terminal.warn(line);
  }
  const superfluous = superfluousIn(entries);
  for (const one of superfluous) {
    const { file } = one.entry;
    const isDeleted = isConfirmed && deleted(file, entries);
    terminal.print(`${isDeleted ? 'deleted ' : ''}${file}: ${whyOf(one)}`);
    if (isConfirmed && !isDeleted) terminal.warn(`${file}:1:1: was changed meanwhile, and is kept`);
    if (!isJson) continue;
    const of = one.kind === 'duplicate' ? one.of.file : null;
    const line = { type: 'superfluous-plan', version: 1, file, why: one.kind, of, isDeleted };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
  const isListed = superfluous.length > 0 && !isConfirmed;
  const rest = isListed ? '; --yes deletes them' : '';
  terminal.note(`${superfluous.length} of ${countOf(entries.length, 'plan')} superfluous${rest}`);
  return exit;
}

/** Deletes a file that is still what was replayed. */
function deleted(file: string, entries: readonly FiledEntry[]): boolean {
  const before = entries.find((entry) => entry.file === file)?.text ?? '';
  const change = written(file, () => changeWhole(file, before, null));
  requireUnreserved(file, change);
  return change.kind === 'done';
}

function whyOf(one: Superfluous): string {
  if (one.kind === 'inert') return 'the hazard no longer arises';
  return `${one.of.file} shows the same failure and is as simple`;
}

export interface AddOptions extends CorpusOptions {
  /** The claim that the plan is kept for; null takes its own, or the first that it breaks. */
  readonly claim: string | null;
  /** Keeps it also where it breaks nothing. */
  readonly isForced: boolean;
  /** Lets it take the place of a less simple one. */
  readonly replaces: boolean;
}

/** Keeps a plan; 2 where one of its kind is kept, 1 or 4 where it does not break its claim. */
export async function addToCorpus(file: string, options: AddOptions): Promise<Exit> {
  const terminal = openTerminal({ ...options, isQuiet: false });
  const loaded = await loadPlan(file, options);
  await prepare([loaded.plan.system], loaded.catalogue);
  const claim = await claimFor(file, loaded, options);
  const result = await replay(loaded.plan, claim, loaded.catalogue);
  if (result.outcome !== 'reproduced' && !options.isForced) {
    const why = `${result.outcome}, so nothing was kept; --force keeps it as that`;
    tell({ status: 'refused', file: null, why }, { file, result, loaded }, options, terminal);
    return result.outcome === 'diverged' ? exits.nondeterministic : exits.broken;
  }
  makeFolder(options.corpus);
  const kept = keptAs(loaded, result);
  const added = await retrying(() => addOnce(kept, loaded, result, options));
  tell(added, { file, result, loaded }, options, terminal);
  return added.status === 'refused' ? exits.usage : exits.met;
}

async function claimFor(file: string, loaded: PlanFile, { claim }: AddOptions): Promise<string> {
  const { plan, catalogue } = loaded;
  if (claim !== null) requireClaim(claim, '--claim', catalogue);
  const known = claim ?? plan.expect?.claim;
  if (known !== undefined) return known;
  const { verdicts } = await examineAsync(plan, claimsJudged([], catalogue), catalogue);
  const broken = verdicts.find(({ kind }) => kind === 'invalid')?.claim;
  if (broken !== undefined) return broken;
  throw new UserError([`${file}:1:1: this plan breaks no claim; name the one with --claim`]);
}

/** A plan as it is kept: as it was written where it already says what it expects. */
interface Kept {
  readonly plan: Plan;
  readonly text: string;
}

function keptAs({ plan, text }: PlanFile, { claim, outcome }: Replay): Kept {
  if (plan.expect?.claim === claim && plan.expect.outcome === outcome) return { plan, text };
  const kept: Plan = { ...plan, expect: { claim, outcome } };
  const comment = /^(?:#.*\n)*/.exec(text)?.[0] ?? '';
  return { plan: kept, text: renderPlan(kept, comment.replace(/^# ?/gm, '').trimEnd()) };
}

type Added =
  | { readonly status: 'added' | 'replaced'; readonly file: string; readonly why: null }
  | { readonly status: 'refused'; readonly file: string | null; readonly why: string };

/** How often it is tried again where another writer was faster. */
const MOST_TRIES = 100;

async function retrying(attempt: () => Promise<Added | null>): Promise<Added> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const added = await attempt();
    if (added !== null) return added;
  }
  throw new UserError([`others kept changing the corpus: ${MOST_TRIES} tries were in vain`]);
}

/** Null where somebody else changed the corpus since it was read. */
async function addOnce(
  kept: Kept,
  loaded: PlanFile,
  result: Replay,
  { corpus, modules, replaces }: AddOptions,
): Promise<Added | null> {
  const { scenario } = kept.plan;
  const entries: FiledEntry[] = [];
  for await (const other of replayFolder(corpus, { modules, scenario, shouldStop: () => false })) {
    const entry = entryOf(other);
    if (entry !== null) entries.push(entry);
  }
  const signature = signatureOf(loaded.plan, result.verdict);
  const admission = admit({ plan: kept.plan, signature }, entries);
  switch (admission.kind) {
    case 'new': {
      const file = freeName(corpus, kept.plan, result.claim);
      const isCreated = written(file, () => createWhole(file, kept.text));
      return isCreated ? { status: 'added', file, why: null } : null;
    }
    case 'known': {
      const { file } = admission.of;
      return { status: 'refused', file, why: `${file} shows the same failure and is as simple` };
    }
    case 'simpler': {
      const { file } = admission.than;
      if (replaces) return replaced(file, entries, kept.text);
      const why = `${file} shows the same failure, less simply; --replace puts this in its place`;
      return { status: 'refused', file, why };
    }
  }
}

function replaced(file: string, entries: readonly FiledEntry[], text: string): Added | null {
  const before = entries.find((entry) => entry.file === file)?.text ?? '';
  const change = written(file, () => changeWhole(file, before, text));
  if (change.kind === 'changed') return null;
  requireUnreserved(file, change);
  return { status: 'replaced', file, why: null };
}

/** Refuses a file that somebody else is changing, or did not come to the end of changing. */
function requireUnreserved(file: string, change: CorpusChange): void {
  if (change.kind !== 'reserved') return;
  throw new UserError([
    `${file}:1:1: another process is changing it; if none is, it was killed: delete ${change.by}`,
  ]);
}

/** Tells what the file system refuses as a mistake of the user's. */
function written<T>(file: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw new UserError([`${file}:1:1: cannot be written: ${systemMessage(error)}`]);
  }
}

/** `<scenario>-<system>-<claim>.yaml`, numbered where another kind has the name. */
function freeName(folder: string, plan: Plan, claim: string): string {
  const name = fileName([plan.scenario, plan.system.name, claim]);
  for (let number = 1; ; number += 1) {
    const file = join(folder, `${name}${number === 1 ? '' : `-${number}`}.yaml`);
    if (!existsSync(file)) return file;
  }
}

function tell(
  added: Added,
  { file, result, loaded }: { file: string; result: Replay; loaded: PlanFile },
  { isJson }: AddOptions,
  terminal: Terminal,
): void {
  const { claim, outcome, verdict } = result;
  if (isJson) {
    const signature = signatureFields(signatureOf(loaded.plan, verdict));
    const line = {
      type: 'added-plan',
      version: 1,
      plan: file,
      ...added,
      claim,
      outcome,
      signature,
    };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }
  if (added.status === 'refused') terminal.print(`✗ ${file} (${claim}): ${added.why}`);
  else terminal.print(`✓ ${file} (${claim}): ${outcome}, ${added.status} as ${added.file}`);
}
