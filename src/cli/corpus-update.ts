/**
 * `fencepost corpus update` updates kept plans after their code has changed: it replaces names and
 * adjusts the amounts of faults. It also adds missing causes. A plan is written only if its new
 * version has the expected outcome. Comments are preserved, and concurrent changes are not
 * overwritten.
 */

import { resolve } from 'node:path';
import { amendedText, labelIn, type Rename, renamedPlan } from '../core/plan/amend.ts';
import { placeNamed } from '../core/plan/fault.ts';
import type { Plan } from '../core/plan/plan.ts';
import { digestsOf } from '../load.ts';
import { exitsOfKept } from '../search/campaign/conclude.ts';
import { type Exit, exits, worstOf } from '../search/campaign/exit-codes.ts';
import { DAMAGED } from '../search/campaign/setting.ts';
import { type KeptReplay, replayKept } from '../search/corpus/kept-replay.ts';
import { changeAtomically } from '../search/corpus/write-atomically.ts';
import { suggest } from '../text/problem.ts';
import { countOf } from '../text/prose.ts';
import { UserError } from './exit.ts';
import { allowed } from './files.ts';
import {
  adviceOf,
  type CorpusOptions,
  keptLine,
  type ReplayedPlan,
  replayCorpus,
} from './kept-plans.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** Parses `release=unlock`. */
export function parseRename(text: string): Rename {
  const [, from, to] = /^([^\s=/]+)=([^\s=/]+)$/.exec(text) ?? [];
  if (from !== undefined && to !== undefined) return { from, to };
  throw new UserError([`--rename ${text}: expected two names, e.g. release=unlock`]);
}

/** Updates the kept plans. Exits with 2 on unreadable or unwritable files or unknown names. */
export async function updateCorpus(
  options: CorpusOptions,
  renames: readonly Rename[],
): Promise<Exit> {
  const terminal = openTerminal(options);
  const codes: Exit[] = [exits.met];
  const labels = new Set<string>();
  let plans = 0;
  let updated = 0;
  for await (const kept of replayCorpus(options)) {
    plans += 1;
    if (kept.kind === 'damaged') {
      for (const line of kept.lines) terminal.warn(line);
      codes.push(exits.usage);
      continue;
    }
    const { faults, decisions, order } = kept.loaded.plan;
    const names = [...faults.map(placeNamed), ...Object.keys(decisions), ...order];
    for (const name of names) labels.add(labelIn(name));
    const result = await afterRenames(kept, renames);
    const done = update(kept, result, terminal);
    if (done === 'updated') updated += 1;
    if (done === 'blocked') codes.push(exits.usage);
    codes.push(...exitsOfKept([{ file: kept.file, ...result }]));
  }
  for (const { from, to } of renames) {
    if (labels.has(from)) continue;
    const hint = suggest(from, [...labels]);
    terminal.warn(`--rename ${from}=${to}: no kept plan names "${from}"${hint}`);
    codes.push(exits.usage);
  }
  terminal.note(`${updated} of ${countOf(plans, 'kept plan')} updated`);
  return worstOf(codes);
}

async function afterRenames(
  { loaded, replay }: ReplayedPlan,
  renames: readonly Rename[],
): Promise<KeptReplay> {
  const { plan, catalogue, changedModules } = loaded;
  const renamed = renamedPlan(plan, renames);
  if (JSON.stringify(renamed) === JSON.stringify(plan)) return replay;
  return await replayKept(renamed, { catalogue, hasChanged: changedModules.length > 0 });
}

/** Updates a file. Returns `blocked` if another process has changed or locked it. */
function update(
  kept: ReplayedPlan,
  result: KeptReplay,
  terminal: Terminal,
): 'updated' | 'as it was' | 'blocked' {
  const { file, loaded } = kept;
  const { outcome, expected, changes } = result;
  const say = (status: string, why: string | null): void => {
    terminal.printJson('updated-plan', { file, status, outcome, changes, why });
  };
  if (outcome !== expected) {
    terminal.print(keptLine({ file, ...result }));
    for (const line of adviceOf({ ...kept, replay: result })) terminal.print(`  ${line}`);
    say('left', `it is ${outcome}, expected ${expected}`);
    return 'as it was';
  }
  const after = textAfter(kept, result);
  if (after === loaded.text) {
    say('unchanged', null);
    return 'as it was';
  }
  const change = allowed(`${file}:1:1: cannot be written`, () =>
    changeAtomically(file, loaded.text, after),
  );
  if (change.kind === 'done') {
    const detail = changes.length === 0 ? '' : `, with ${changes.join(', ')}`;
    terminal.print(`✓ ${file}: updated, ${outcome}${detail}`);
    say('updated', null);
    return 'updated';
  }
  const why =
    change.kind === 'changed'
      ? 'another process changed it'
      : `locked by ${change.by}; delete that if no process is running`;
  terminal.warn(`${file}:1:1: not updated: ${why}`);
  say('left', why);
  return 'blocked';
}

function textAfter({ loaded }: ReplayedPlan, result: KeptReplay): string {
  const { text, catalogue, changedModules } = loaded;
  const { digest } = result;
  const plan = withCause(result, changedModules.length > 0);
  const digests = digestsOf(catalogue.modules);
  const used = Object.keys(plan.use ?? {}).map((path) => [path, digests[path] ?? ''] as const);
  const after = plan.use === undefined ? plan : { ...plan, use: Object.fromEntries(used) };
  if (JSON.stringify(after) === JSON.stringify(loaded.plan)) return text;
  const amended = amendedText(text, loaded.plan, after);
  return amended.replace(/^# sha256:[0-9a-f]{64}$/m, `# ${digest}`);
}

/**
 * Adds a missing cause. Replaces a cause only if the code is unchanged but the name of the cause
 * differs.
 */
function withCause(result: KeptReplay, hasChanged: boolean): Plan {
  const { plan, claim, outcome, cause, otherCause } = result;
  const { expect } = plan;
  if (expect?.claim !== claim || outcome !== 'reproduced' || cause === null) return plan;
  const isOutdated = otherCause !== null && !hasChanged;
  if (expect.cause !== undefined && !isOutdated) return plan;
  return { ...plan, expect: { ...expect, cause } };
}

/**
 * Writes `outcome: fixed` into kept plans whose hazard arises but whose claim now holds: all of
 * them, or those in `files`. Exits with 1 if one of `files` is not fixed.
 */
export async function acceptPlans(files: readonly string[], options: CorpusOptions): Promise<Exit> {
  const terminal = openTerminal(options);
  const left = new Set(files.map((file) => resolve(file)));
  const codes: Exit[] = [exits.met];
  let accepted = 0;
  for await (const kept of replayCorpus(options)) {
    if (files.length > 0 && !left.delete(resolve(kept.file))) continue;
    const fate = kept.kind === 'damaged' ? DAMAGED : kept.replay.outcome;
    const isAccepted = kept.kind === 'replayed' && fate === 'fixed' && accept(kept);
    if (isAccepted) accepted += 1;
    if (isAccepted) terminal.print(`✓ ${kept.file}: fixed; kept as a guard`);
    else if (files.length > 0 && fate !== 'fixed') {
      terminal.print(`✗ ${kept.file}: not accepted: ${fate}`);
      codes.push(exits.broken);
    }
    terminal.printJson('accepted-plan', { file: kept.file, outcome: fate, isAccepted });
  }
  if (left.size > 0) throw new UserError([...left].map((file) => `${file}:1:1: not a kept plan`));
  terminal.note(`${countOf(accepted, 'plan')} accepted as fixed`);
  return worstOf(codes);
}

/** Writes `outcome: fixed` into a plan. Returns false if the plan already contains it. */
function accept({ file, loaded, replay }: ReplayedPlan): boolean {
  const { plan, text } = loaded;
  if (replay.expected === 'fixed') return false;
  const after: Plan = { ...plan, expect: { claim: replay.claim, outcome: 'fixed' } };
  const change = allowed(`${file}:1:1: cannot be written`, () =>
    changeAtomically(file, text, amendedText(text, plan, after)),
  );
  if (change.kind === 'done') return true;
  throw new UserError([`${file}:1:1: not updated: another process is changing it`]);
}
