/**
 * Implements the `corpus` commands on a folder of kept plans. `ls` lists the plans and `check`
 * reports their outcomes; `prune` lists or deletes redundant plans; `add` keeps a plan if it shows
 * a failure that no kept plan shows. Only `add` has to handle several writers that compete for the
 * same name. All commands replay the kept plans (`kept-plans.ts`) and identify a failure by its
 * signature.
 */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Expectation, Plan } from '../core/plan/plan.ts';
import { renderPlan } from '../core/plan/plan-text.ts';
import { examineAsync } from '../host/async/run-async.ts';
import { keptOutcomeOf } from '../search/campaign/campaign.ts';
import { exitsOfKept } from '../search/campaign/conclude.ts';
import { type Exit, exits, worstOf } from '../search/campaign/exit-codes.ts';
import { DAMAGED } from '../search/campaign/setting.ts';
import { addIfNew, superfluousIn } from '../search/corpus/entry.ts';
import { type KeptReplay, replayKept } from '../search/corpus/kept-replay.ts';
import { idOf, signatureOf } from '../search/corpus/signature.ts';
import { changeAtomically, createAtomically } from '../search/corpus/write-atomically.ts';
import { claimsJudged } from '../search/sweep/examiner.ts';
import type { KeptOutcome } from '../search/sweep/shards.ts';
import { countOf, FENCEPOST, shellWords } from '../text/prose.ts';
import { wrap } from '../text/visible.ts';
import { foldersKept, folderToKeepIn } from './corpus-place.ts';
import { UserError } from './exit.ts';
import { allowed, makeFolder } from './files.ts';
import {
  adviceOf,
  type CorpusOptions,
  entryOf,
  type FiledEntry,
  keptPlanFields,
  type ReplayedFile,
  type ReplayedPlan,
  replayCorpus,
  signatureFields,
} from './kept-plans.ts';
import { fileName } from './output-files.ts';
import { loadPlan, type PlanFile } from './sources.ts';
import { noteChanges, openTerminal, type Terminal } from './terminal.ts';

/** Lists the kept plans. If a plan cannot be read, reports it and exits with 2. */
export async function listCorpus(options: CorpusOptions): Promise<Exit> {
  const terminal = openTerminal(options);
  let exit: Exit = exits.met;
  let plans = 0;
  for await (const kept of keptIn(options, terminal)) {
    plans += 1;
    terminal.printJson('kept-plan', keptPlanFields(kept));
    if (kept.kind === 'damaged') exit = exits.usage;
    else for (const line of listed(kept, terminal.width)) terminal.print(line);
  }
  terminal.note(`${countOf(plans, 'kept plan')} in ${options.corpus ?? foldersKept().join(', ')}`);
  return exit;
}

/** Yields the kept plans, each replayed on demand. Reports why a plan cannot be read. */
async function* keptIn(options: CorpusOptions, terminal: Terminal): AsyncGenerator<ReplayedFile> {
  for await (const kept of replayCorpus(options)) {
    if (kept.kind === 'damaged') for (const line of kept.lines) terminal.warn(line);
    yield kept;
  }
}

function listed(kept: ReplayedPlan, width: number): readonly string[] {
  const { file, expected, signature } = entryOf(kept);
  const roles = signature.roles === null ? [] : [signature.roles.join(', ')];
  return [
    `${file}: ${signature.claim} ${expected} (${idOf(signature)})`,
    ...[signature.shape, ...roles].flatMap((text) =>
      wrap(text, Math.max(20, Math.min(width, 100) - 4)).map((line) => `    ${line}`),
    ),
  ];
}

/** Replays all kept plans, and reports whether each has its expected outcome. */
export async function checkCorpus(options: CorpusOptions): Promise<Exit> {
  const terminal = openTerminal(options);
  const outcomes: KeptOutcome[] = [];
  for await (const kept of keptIn(options, terminal)) {
    outcomes.push(keptOutcomeOf(kept, kept.kind === 'damaged' ? null : kept.replay));
    terminal.printJson('kept-plan', keptPlanFields(kept));
    printChecked(kept, terminal);
  }
  const exit = worstOf(exitsOfKept(outcomes));
  const counts = Object.fromEntries(
    OUTCOMES.map((name) => [name, outcomes.filter(({ outcome }) => outcome === name).length]),
  );
  const met = outcomes.filter(({ outcome, expected }) => outcome === expected).length;
  const { length: plans } = outcomes;
  const parts = OUTCOMES.flatMap((name) => (counts[name] === 0 ? [] : [`${counts[name]} ${name}`]));
  terminal.print(`${[countOf(plans, 'kept plan'), ...parts].join(', ')}; ${met} as expected`);
  terminal.printJson('corpus-summary', { exit, plans, asExpected: met, ...counts });
  return exit;
}

const OUTCOMES = ['reproduced', 'fixed', 'inert', 'diverged', 'nondeterministic', DAMAGED];

function printChecked(kept: ReplayedFile, terminal: Terminal): void {
  if (kept.kind === 'damaged') {
    terminal.print(`✗ ${kept.file}: damaged: not readable`);
    return;
  }
  const { file, loaded, replay } = kept;
  const { outcome, expected, claim } = replay;
  noteChanges(file, loaded, terminal);
  if (outcome === expected) {
    const role = outcome === 'fixed' ? ', kept as a guard' : '';
    terminal.print(`✓ ${file}: ${outcome}${role} (${claim})`);
    for (const line of adviceOf(kept)) terminal.print(`  ${line}`);
  } else {
    terminal.print(`✗ ${file}: ${outcome}, expected ${expected} (${claim})`);
    for (const line of adviceFor(kept)) terminal.print(`  ${line}`);
  }
}

function adviceFor(kept: ReplayedPlan): readonly string[] {
  const { file, replay } = kept;
  switch (replay.outcome) {
    case 'reproduced':
      return ['regression: the guarded failure is back'];
    case 'fixed': {
      const words = [...FENCEPOST, 'corpus', 'accept', file, '--corpus', dirname(file)];
      return [`the claim held; to keep it as a guard: ${shellWords(words).join(' ')}`];
    }
    case 'inert':
      return ['tests nothing: its hazard no longer arises; search again, or prune it'];
    case 'diverged':
      return [
        `no match for ${replay.divergedAt ?? 'a name'}: rename it, or search again and keep the new plan`,
        ...adviceOf(kept),
      ];
    case 'nondeterministic':
      return adviceOf(kept);
  }
}

/** Lists or deletes redundant plans. If a plan cannot be read, reports it and exits with 2. */
export async function pruneCorpus(options: CorpusOptions, isConfirmed: boolean): Promise<Exit> {
  const terminal = openTerminal(options);
  const entries: FiledEntry[] = [];
  let exit: Exit = exits.met;
  for await (const kept of keptIn(options, terminal)) {
    if (kept.kind === 'damaged') exit = exits.usage;
    else entries.push(entryOf(kept));
  }
  const superfluous = superfluousIn(entries);
  for (const redundancy of superfluous) {
    const { file } = redundancy.entry;
    const isDeleted = isConfirmed && changed(file, entries, null);
    const why =
      redundancy.kind === 'inert'
        ? 'the hazard no longer arises'
        : `${redundancy.of.file} shows the same failure and is as simple`;
    terminal.print(`${isDeleted ? 'deleted ' : ''}${file}: ${why}`);
    if (isConfirmed && !isDeleted)
      terminal.warn(`${file}:1:1: not deleted: changed by another process`);
    const of = redundancy.kind === 'duplicate' ? redundancy.of.file : null;
    terminal.printJson('superfluous-plan', { file, why: redundancy.kind, of, isDeleted });
  }
  const isListed = superfluous.length > 0 && !isConfirmed;
  const rest = isListed ? '; delete them with --yes' : '';
  terminal.note(`${superfluous.length} of ${countOf(entries.length, 'plan')} superfluous${rest}`);
  return exit;
}

export interface AddOptions extends CorpusOptions {
  /** True to replace a kept plan that is less simple. */
  readonly replaces: boolean;
}

/** Keeps a plan of a new kind. Exits with 1, 4 or 5 if the plan does not break its claim. */
export async function addToCorpus(file: string, options: AddOptions): Promise<Exit> {
  const terminal = openTerminal(options);
  const loaded = await loadPlan(file, options);
  const claim = await claimFor(file, loaded);
  const result = await replayKept(loaded.plan, { claim, catalogue: loaded.catalogue });
  const { outcome } = result;
  if (outcome !== 'reproduced') {
    const why = `not kept: ${outcome}`;
    printAdded({ status: 'refused', file: null, why }, { file, result, loaded }, terminal);
    return worstOf(exitsOfKept([{ file, outcome, expected: 'reproduced', divergedAt: null }]));
  }
  const corpus = options.corpus ?? folderToKeepIn(loaded.plan.scenario);
  makeFolder(corpus);
  const { cause } = result;
  const kept = keptAs(loaded, cause === null ? { claim, outcome } : { claim, outcome, cause });
  const added = await retrying(() => addOnce(kept, loaded, result, { ...options, corpus }));
  printAdded(added, { file, result, loaded }, terminal);
  return added.status === 'refused' ? exits.usage : exits.met;
}

async function claimFor(file: string, { plan, catalogue }: PlanFile): Promise<string> {
  if (plan.expect !== undefined) return plan.expect.claim;
  const { verdicts } = await examineAsync(plan, claimsJudged([], catalogue), catalogue);
  const broken = verdicts.find(({ kind }) => kind === 'invalid')?.claim;
  if (broken !== undefined) return broken;
  throw new UserError([`${file}:1:1: plan breaks no claim`]);
}

/** A plan as it will be kept. A text that already contains the expectation is unchanged. */
interface Kept {
  readonly plan: Plan;
  readonly text: string;
}

function keptAs({ plan, text }: PlanFile, { claim, outcome, cause }: Expectation): Kept {
  const { expect } = plan;
  const isSaid = cause === undefined || expect?.cause !== undefined;
  if (isSaid && expect?.claim === claim && expect.outcome === outcome) return { plan, text };
  const result = { claim, outcome };
  const kept: Plan = { ...plan, expect: cause === undefined ? result : { ...result, cause } };
  const comment = /^(?:#.*\n)*/.exec(text)?.[0] ?? '';
  return { plan: kept, text: renderPlan(kept, comment.replace(/^# ?/gm, '').trimEnd()) };
}

type Added =
  | { readonly status: 'added' | 'replaced'; readonly file: string; readonly why: null }
  | { readonly status: 'known' | 'refused'; readonly file: string | null; readonly why: string };

const MOST_TRIES = 100;

async function retrying(attempt: () => Promise<Added | null>): Promise<Added> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const added = await attempt();
    if (added !== null) return added;
  }
  throw new UserError([
    `corpus not updated: other processes changed it during all ${MOST_TRIES} attempts`,
  ]);
}

/** Tries to add a plan. Resolves to null if another process changed the corpus meanwhile. */
async function addOnce(
  kept: Kept,
  loaded: PlanFile,
  result: KeptReplay,
  options: AddOptions & { readonly corpus: string },
): Promise<Added | null> {
  const entries: FiledEntry[] = [];
  for await (const other of replayCorpus(options, kept.plan.scenario)) {
    if (other.kind === 'replayed') entries.push(entryOf(other));
  }
  const signature = signatureOf(loaded.plan, result.verdict);
  const admission = addIfNew({ plan: kept.plan, signature }, entries);
  switch (admission.kind) {
    case 'new': {
      const file = freeName(options.corpus, kept.plan, result.claim);
      const isCreated = allowed(`${file}:1:1: cannot be written`, () =>
        createAtomically(file, kept.text),
      );
      return isCreated ? { status: 'added', file, why: null } : null;
    }
    case 'known': {
      const { file } = admission.of;
      return { status: 'known', file, why: `${file} shows the same failure and is as simple` };
    }
    case 'simpler': {
      const { file } = admission.than;
      if (options.replaces) {
        return changed(file, entries, kept.text) ? { status: 'replaced', file, why: null } : null;
      }
      const why = `${file} shows the same failure and is less simple; --replace replaces it`;
      return { status: 'known', file, why };
    }
  }
}

/**
 * Replaces the text of a file, or deletes the file if `text` is null. Returns false if the file has
 * changed since its replay. Throws if another process has reserved the file.
 */
function changed(file: string, entries: readonly FiledEntry[], text: string | null): boolean {
  const before = entries.find((entry) => entry.file === file)?.text ?? '';
  const change = allowed(`${file}:1:1: cannot be written`, () =>
    changeAtomically(file, before, text),
  );
  if (change.kind !== 'reserved') return change.kind === 'done';
  throw new UserError([
    `${file}:1:1: locked by another process; if none is running, delete ${change.by}`,
  ]);
}

/** Returns `<scenario>-<system>-<claim>.yaml`, with a number if that name is taken. */
function freeName(folder: string, plan: Plan, claim: string): string {
  const name = fileName([plan.scenario, plan.system.name, claim]);
  for (let number = 1; ; number += 1) {
    const file = join(folder, `${name}${number === 1 ? '' : `-${number}`}.yaml`);
    if (!existsSync(file)) return file;
  }
}

function printAdded(
  added: Added,
  { file, result, loaded }: { file: string; result: KeptReplay; loaded: PlanFile },
  terminal: Terminal,
): void {
  const { claim, outcome, verdict } = result;
  const signature = signatureFields(signatureOf(loaded.plan, verdict));
  terminal.printJson('added-plan', { plan: file, ...added, claim, outcome, signature });
  if (added.status === 'refused') terminal.print(`✗ ${file} (${claim}): ${added.why}`);
  else if (added.status === 'known')
    terminal.print(`✓ ${file} (${claim}): already kept: ${added.why}`);
  else terminal.print(`✓ ${file} (${claim}): ${outcome}, ${added.status} as ${added.file}`);
}
