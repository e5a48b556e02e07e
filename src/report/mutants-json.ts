/** The outcome of mutants as the JSON lines that `--json` writes; see `output-schema.ts`. */
import type { Mutant } from '../search/mutants/mutant.ts';
import type { MutantRow } from './mutants-text.ts';

/** One mutant's line. */
export function mutantLine({ trial, size }: MutantRow): string {
  const { mutant, seeds, base, found, seedsToFind, foundOn, alsoBreaks, failed } = trial;
  return JSON.stringify({
    type: 'mutant',
    version: 1,
    ...aboutOf(mutant),
    seeds,
    base,
    found,
    seedsToFind,
    firstSeed: foundOn[0] ?? null,
    alsoBreaks,
    failed,
    size,
  });
}

/** A line of `--list`: what a mutant is, not how it fared. */
export function listedMutant(mutant: Mutant): string {
  return JSON.stringify({ type: 'listed-mutant', version: 1, ...aboutOf(mutant) });
}

function aboutOf({ name, change, caughtBy, needs, base, mutant }: Mutant): object {
  return { name, change, caughtBy, needs, systems: { base, mutant } };
}

/** The last line. */
export function mutantsSummary(rows: readonly MutantRow[], exit: number): string {
  return JSON.stringify({
    type: 'mutants-summary',
    version: 1,
    exit,
    mutants: rows.length,
    found: rows.filter(({ trial }) => trial.found.hits > 0).length,
    basesHeld: rows.filter(({ trial }) => trial.base.verdict === 'held').length,
  });
}
