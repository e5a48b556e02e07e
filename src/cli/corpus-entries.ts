/** The entries of a corpus: its kept plans with what became of each and what kind it is. */
import { existsSync, statSync } from 'node:fs';
import type { Entry } from '../search/corpus/entry.ts';
import { idOf, type Signature, signatureOf } from '../search/corpus/signature.ts';
import { UserError } from './exit.ts';
import type { ModuleOptions } from './files.ts';
import { DAMAGED, type KeptPlan, replayFolder } from './kept-plans.ts';

export interface CorpusOptions extends ModuleOptions {
  /** The folder. */
  readonly corpus: string;
  readonly isJson: boolean;
}

/** An entry, and the text that its file had as it was replayed. */
export interface FiledEntry extends Entry {
  readonly text: string;
}

/** Refuses a folder that is not there: a corpus that is looked for elsewhere would look empty. */
export function requireCorpus(folder: string): void {
  if (existsSync(folder) && statSync(folder).isDirectory()) return;
  throw new UserError([`${folder}:1:1: there is no such folder; name one with --corpus <folder>`]);
}

/** Replays the plans of a corpus one after the other. */
export function replayCorpus({ corpus, modules }: CorpusOptions): AsyncGenerator<KeptPlan> {
  requireCorpus(corpus);
  return replayFolder(corpus, { modules, scenario: null, shouldStop: () => false });
}

/** Null where the plan cannot be read. */
export function entryOf(kept: KeptPlan): FiledEntry | null {
  if (kept.kind === 'damaged') return null;
  const { file, loaded, replay, expected } = kept;
  const { plan, text } = loaded;
  const signature = signatureOf(plan, replay.verdict);
  return { file, plan, text, signature, outcome: replay.outcome, expected };
}

/** A kept plan as a line of `--json`. */
export function keptPlanLine(kept: KeptPlan): string {
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
