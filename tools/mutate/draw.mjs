// What `npm run mutation` adds to Stryker: it asks a checker whether a mutant compiles, and this
// one turns away what is not drawn but stands inside of it, and puts the others in order of their
// lots, so that the first hundred of a run that is stopped are a sample too. How each ended is
// noted at once, a line each.
import { appendFileSync } from 'node:fs';
import { isDrawn, lotOf } from './lots.mjs';

const NOTES = process.env['FENCEPOST_MUTATION_NOTES'] ?? 'reports/mutation.jsonl';

class Drawn {
  async init() {}

  async group(mutants) {
    const drawn = mutants.filter(isDrawn).sort((a, b) => lotOf(a) - lotOf(b));
    const rest = mutants.filter((mutant) => !isDrawn(mutant));
    return [...drawn.map(({ id }) => [id]), rest.map(({ id }) => id)].filter(
      (group) => group.length > 0,
    );
  }

  async check(mutants) {
    return Object.fromEntries(
      mutants.map((mutant) => [
        mutant.id,
        isDrawn(mutant) ? { status: 'passed' } : { status: 'compileError', reason: 'not drawn' },
      ]),
    );
  }
}

class Notes {
  onMutantTested({ fileName, location, mutatorName, replacement, status, static: isStatic }) {
    if (status === 'CompileError' || status === 'Ignored') return;
    const note = { fileName, location, mutatorName, replacement, status, isStatic };
    appendFileSync(NOTES, `${JSON.stringify(note)}\n`);
  }
}

export const strykerPlugins = [
  { kind: 'Checker', name: 'drawn', factory: () => new Drawn() },
  { kind: 'Reporter', name: 'notes', factory: () => new Notes() },
];
