/** Problems in users' files: location, description and, if possible, a suggestion. */
export interface Problem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** Path of the value in the file, such as `faults[0].pause.for`; '' for the entire file. */
  readonly path: string;
  readonly what: string;
}

/** A part of a path into parsed YAML: a key or an index. */
export type PathStep = string | number;

/** A problem whose line and column are not known yet. */
export interface UnplacedProblem {
  readonly path: readonly PathStep[];
  /** True if the problem is about the key, false if it is about the key's value. */
  readonly isKey: boolean;
  readonly what: string;
}

/** Returns `zombie.yaml:5:7 faults[0].pausee: unknown fault "pausee"; did you mean "pause"?` */
export function renderProblem(problem: Problem): string {
  const path = problem.path === '' ? '' : ` ${problem.path}`;
  return `${problem.file}:${problem.line}:${problem.column}${path}: ${problem.what}`;
}

/** Path steps that need no quotes: words, possibly with hyphens. */
const PLAIN = /^[\p{L}\p{N}_$-]+$/u;

/** Returns `faults[0].pause` for `['faults', 0, 'pause']`; a step may need quotes: `use["./a"]`. */
export function renderPath(path: readonly PathStep[]): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!PLAIN.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

/** Returns `; did you mean "pause"?`, a list of at most 20 known words, or ''. */
export function suggest(word: string, known: readonly string[]): string {
  let best: string | undefined;
  let least = Math.min(3, Math.floor(word.length / 3) + 1);
  for (const candidate of known) {
    const steps = distance(word.toLowerCase(), candidate.toLowerCase());
    if (steps < least || (steps === least && best === undefined)) {
      best = candidate;
      least = steps;
    }
  }
  if (best !== undefined) return `; did you mean "${best}"?`;
  return known.length > 0 && known.length <= 20 ? `; known: ${known.join(', ')}` : '';
}

/** Sorts `known` by edit distance to `word`; equally distant words keep their order. */
export function nearestFirst(word: string, known: readonly string[]): readonly string[] {
  const measured = known.map((one) => ({ one, steps: distance(word, one) }));
  return measured.sort((a, b) => a.steps - b.steps).map(({ one }) => one);
}

/** Returns the Levenshtein distance: the number of letters to add, remove or change. */
function distance(from: string, to: string): number {
  if (from.length > 100 || to.length > 100) return Number.MAX_SAFE_INTEGER;
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let at = 1; at <= from.length; at += 1) {
    const next = [at];
    for (let column = 1; column <= to.length; column += 1) {
      const kept = (row[column - 1] ?? 0) + (from[at - 1] === to[column - 1] ? 0 : 1);
      next.push(Math.min(kept, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
