/**
 * `npm run lock-mutants -- [name...] [seeds]` tries each lock, store or client that has one
 * mistake, and the same one without it, on the same seeds, and prints whether the expected claim
 * found the mistake. Exits with 1 if a mistake was not found or a base did not hold.
 */
import { groupDigits } from '../../src/text/prose.ts';
import { columnWidths, tableLine } from '../../src/text/visible.ts';
import { mutants } from './mutants.ts';
import { type MutantTrial, tryMutant } from './trial.ts';

const HEAD = ['mutant', 'caught by', 'base', 'per 1,000 seeds', 'first seed', 'mistake'];

const words = process.argv.slice(2);
const seeds = Number(words.find((word) => /^\d+$/.test(word)) ?? 500);
const names = words.filter((word) => !/^\d+$/.test(word));
const unknown = names.filter((name) => !mutants.some((mutant) => mutant.name === name));
if (unknown.length > 0) throw new Error(`there is no mutant ${unknown.join(', ')}`);
const chosen = mutants.filter(({ name }) => names.length === 0 || names.includes(name));

const rows: (readonly string[])[] = [];
const notes: string[] = [];
let found = 0;
for (const mutant of chosen) {
  const trial = await tryMutant(mutant, seeds);
  const { baseFlaws, failed, firstSeed } = trial;
  if (failed > 0) notes.push(`${mutant.name}: ${failed} runs failed`);
  notes.push(...baseFlaws.map((flaw) => `${mutant.name}: the base: ${flaw}`));
  if (firstSeed !== null) found += 1;
  else notes.push(`${mutant.name}: not found`);
  const first = firstSeed === null ? '–' : groupDigits(firstSeed);
  const base = baseFlaws.length === 0 ? 'held' : 'did not hold';
  rows.push([mutant.name, mutant.caughtBy, base, rateText(trial), first, mutant.change]);
}
const widths = columnWidths([HEAD, ...rows]);
for (const row of [HEAD, ...rows]) console.log(tableLine(row, widths));
for (const note of notes) console.log(note);
console.log(`${found} of ${chosen.length} mutants found; ${seeds} seeds of each`);
if (notes.length > 0) process.exitCode = 1;

/** `610 (567–652)`: seeds per thousand that break the claim, with the Wilson interval. */
function rateText({ found: { count, runs, lower, upper } }: MutantTrial): string {
  const perThousand = (share: number): string => groupDigits(1000 * share);
  return `${perThousand(count / runs)} (${perThousand(lower)}–${perThousand(upper)})`;
}
