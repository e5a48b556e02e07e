/**
 * `fencepost corpus`: a folder of kept plans in git, one per kind of failure. `ls` and `check` say
 * what is kept and what has become of it, `prune` what tests nothing any more; `add`, the one that
 * has rivals when several keep plans at once, is `corpus-add.ts`. All of them replay what is there
 * (`kept-plans.ts`) and know a failure by its signature.
 */

import type { Command } from 'commander';
import { parseFile } from '../core/plan/document.ts';
import { type Superfluous, superfluousIn } from '../search/corpus/entry.ts';
import { idOf } from '../search/corpus/signature.ts';
import { changeWhole } from '../search/corpus/write-whole.ts';
import type { KeptOutcome } from '../search/sweep/shards.ts';
import { countOf } from '../text/prose.ts';
import { wrap } from '../text/visible.ts';
import { type Done, describedCommand } from './command.ts';
import { addToCorpus, requireUnreserved, written } from './corpus-add.ts';
import { type Exit, exits, worstOf } from './exit.ts';
import type { PlanFile } from './files.ts';
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
} from './kept-plans.ts';
import { noteChanges, openTerminal, type Terminal } from './terminal.ts';

interface CorpusFlags {
  readonly corpus: string;
  readonly json?: boolean;
  readonly modules?: string | false;
}

interface AddFlags extends CorpusFlags {
  readonly claim?: string;
  readonly force?: boolean;
  readonly replace?: boolean;
}

interface PruneFlags extends CorpusFlags {
  readonly yes?: boolean;
}

/** Adds `corpus` with `ls`, `add`, `check` and `prune`. */
export function addCorpus(program: Command, done: Done): void {
  const corpus = describedCommand(
    program,
    'corpus',
    'a folder of kept plans in git, one a kind of failure: list, add, check, prune',
    'npx fencepost corpus check',
  );
  subcommand(
    corpus,
    'ls',
    'the kept plans, the claim and outcome that each expects, and what kind of failure it is',
    'npx fencepost corpus ls',
  ).action(async (flags: CorpusFlags) => done(await listCorpus(corpusOptions(flags))));
  subcommand(
    corpus,
    'add <plan>',
    'keep a plan that breaks its claim, unless one of its kind is kept',
    'npx fencepost corpus add reports/zombie-writer-unfenced-grant-order.yaml',
  )
    .option('--claim <claim>', 'the claim that it is kept for (default: the plan’s own)')
    .option('--force', 'keep it also where it breaks nothing, as what it is')
    .option('--replace', 'let it take the place of one of its kind that is less simple')
    .action(async (plan: string, flags: AddFlags) => {
      const { claim = null, force, replace } = flags;
      const asked = { claim, isForced: force === true, replaces: replace === true };
      done(await addToCorpus(plan, { ...corpusOptions(flags), ...asked }));
    });
  subcommand(
    corpus,
    'check',
    'replay all kept plans: reproduced, fixed, inert or diverged; as expected?',
    'npx fencepost corpus check',
  ).action(async (flags: CorpusFlags) => done(await checkCorpus(corpusOptions(flags))));
  subcommand(
    corpus,
    'prune',
    'the kept plans that test nothing any more, and all but one of each kind',
    'npx fencepost corpus prune --yes',
  )
    .option('--yes', 'delete them')
    .action(async (flags: PruneFlags) =>
      done(await pruneCorpus(corpusOptions(flags), flags.yes === true)),
    );
}

/** With the options that all four have. */
function subcommand(corpus: Command, usage: string, about: string, example: string): Command {
  return describedCommand(corpus, usage, about, example)
    .option('--corpus <folder>', 'the folder of kept plans', 'plans')
    .option('--modules <folder>', 'the folder of the scenarios, whose modules the plans use')
    .option('--no-modules', 'refuse plans that use modules, which would be run')
    .option('--json', 'one JSON line a plan');
}

function corpusOptions({ corpus, json, modules }: CorpusFlags): CorpusOptions {
  return { corpus, isJson: json === true, modules: modules ?? null };
}

/** Lists what is kept; a plan that cannot be read is told, and makes the exit code 2. */
async function listCorpus(options: CorpusOptions): Promise<Exit> {
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
async function checkCorpus(options: CorpusOptions): Promise<Exit> {
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
async function pruneCorpus(options: CorpusOptions, isConfirmed: boolean): Promise<Exit> {
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
