/** `fencepost corpus add`: keeps a plan, if it shows a failure that no kept plan shows. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Plan } from '../core/plan/plan.ts';
import { renderPlan } from '../core/plan/plan-text.ts';
import { examineAsync } from '../host/async/run-async.ts';
import { admit } from '../search/corpus/entry.ts';
import { type Replay, replay } from '../search/corpus/replay.ts';
import { signatureOf } from '../search/corpus/signature.ts';
import { type CorpusChange, changeWhole, createWhole } from '../search/corpus/write-whole.ts';
import { claimsJudged } from '../search/sweep/examiner.ts';
import { prepare } from '../systems/store/store-kinds.ts';
import { fileName } from './conclude.ts';
import { type Exit, exits, UserError } from './exit.ts';
import { loadPlan, makeFolder, type PlanFile, requireClaim, systemMessage } from './files.ts';
import {
  type CorpusOptions,
  entryOf,
  type FiledEntry,
  replayFolder,
  signatureFields,
} from './kept-plans.ts';
import { openTerminal, type Terminal } from './terminal.ts';

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
export function requireUnreserved(file: string, change: CorpusChange): void {
  if (change.kind !== 'reserved') return;
  throw new UserError([
    `${file}:1:1: another process is changing it; if none is, it was killed: delete ${change.by}`,
  ]);
}

/** Tells what the file system refuses as a mistake of the user's. */
export function written<T>(file: string, write: () => T): T {
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
