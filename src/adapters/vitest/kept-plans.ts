/**
 * The plans that were kept of a test, in `__fencepost__/<test file>/` beside it: read, written one
 * a kind of failure, and taken out. Nothing is written or deleted unless somebody asks for it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Plan } from '../../core/plan/plan.ts';
import { readPlan } from '../../core/plan/plan-text.ts';
import { wordsOf } from '../../load.ts';
import type { Finding } from '../../report/finding.ts';
import { whyRefused } from '../../run.ts';
import { planWordFindings } from '../../scenario/build-systems.ts';
import { idOf, signatureOf } from '../../search/corpus/signature.ts';
import { changeWhole, createWhole } from '../../search/corpus/write-whole.ts';
import { renderProblem } from '../../text/problem.ts';
import { keptText } from './failure-block.ts';
import type { SimRun } from './sim-run.ts';
import { SimTestError } from './sim-test-error.ts';
import { corpusFolderOf, typedPath } from './test-place.ts';

export interface KeptPlan {
  readonly file: string;
  readonly text: string;
  readonly plan: Plan;
}

/** The plans of this test, by the names of their files. */
export function keptPlansOf(run: SimRun): readonly KeptPlan[] {
  const folder = corpusFolderOf(run.place);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => /^[^.].*\.yaml$/.test(name));
  return names.sort().flatMap((name) => {
    const kept = readKept(join(folder, name));
    return kept.plan.scenario === run.slug ? [kept] : [];
  });
}

/** Throws a `SimTestError` where it is no plan, or there is no such file. */
export function readKept(given: string): KeptPlan {
  const file = resolve(given);
  const typed = typedPath(file);
  if (!existsSync(file)) throw new SimTestError([`${typed}: there is no such file`]);
  const text = readFileSync(file, 'utf8');
  const read = readPlan({ file: typed, text });
  if (read.kind === 'problems') throw new SimTestError(read.problems.map(renderProblem));
  return { file, text, plan: read.plan };
}

/** Why a kept plan cannot be run by this test, in words; null where it can. */
export function whyForeign({ plan }: KeptPlan, { systems, catalogue }: SimRun): string | null {
  const { name } = plan.system;
  if (!systems.some((system) => system.name === name)) return `the test has no system "${name}"`;
  const [unknown] = planWordFindings(plan, wordsOf(catalogue));
  return unknown?.what ?? whyRefused(plan, catalogue);
}

/** Keeps the plan of a finding, and returns its file; what is kept of the same kind gives way. */
export function keep(finding: Finding, run: SimRun): string {
  const id = idOf(signatureOf(finding.plan, finding.verdict));
  const claim = finding.claim.replace(/[^\p{L}\p{N}_.]+/gu, '-').replace(/^-+|-+$/g, '');
  const file = join(corpusFolderOf(run.place), `${run.slug}-${claim}-${id}.yaml`);
  const text = keptText(finding, run, file);
  mkdirSync(dirname(file), { recursive: true });
  if (createWhole(file, text)) run.print(`fencepost: wrote ${typedPath(file)}`);
  else if (changed({ file, text: readFileSync(file, 'utf8') }, text)) {
    run.print(`fencepost: changed ${typedPath(file)}`);
  }
  return file;
}

/** Takes a plan out that guards nothing. */
export function takeOut(kept: KeptPlan, run: SimRun): void {
  if (changed(kept, null)) run.print(`fencepost: took out ${typedPath(kept.file)}`);
}

/** Whether there was something to change; throws where another writes the same file. */
function changed({ file, text }: Pick<KeptPlan, 'file' | 'text'>, after: string | null): boolean {
  if (text === after) return false;
  const change = changeWhole(file, text, after);
  if (change.kind === 'done') return true;
  const why = change.kind === 'changed' ? 'somebody changed it' : `${change.by} reserves it`;
  throw new SimTestError([`${typedPath(file)}: was left as it is: ${why}`]);
}
