/** `fencepost corpus ls` and `check`: what is kept, and what has become of it. */

import { parseFile } from '../core/plan/document.ts';
import { idOf } from '../search/corpus/signature.ts';
import type { KeptOutcome } from '../search/sweep/shard-file.ts';
import { countOf } from '../text/prose.ts';
import { wrap } from '../text/visible.ts';
import { type CorpusOptions, entryOf, keptPlanLine, replayCorpus } from './corpus-entries.ts';
import { type Exit, exits, worstOf } from './exit.ts';
import type { PlanFile } from './files.ts';
import { DAMAGED, exitsOfKept, type KeptPlan, outcomeOf } from './kept-plans.ts';
import { noteChanges } from './note-changes.ts';
import { openTerminal, type Terminal } from './terminal.ts';

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

function listed(kept: KeptPlan, width: number): readonly string[] {
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
    outcomes.push(outcomeOf(kept));
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

function printChecked(kept: KeptPlan, terminal: Terminal): void {
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
function adviceFor(kept: Extract<KeptPlan, { kind: 'replayed' }>): string {
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
