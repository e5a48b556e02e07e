/** Problems of users' files: where, what, and what was probably meant, in the file's order. */
export interface Problem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** The place in the file's own terms, `faults[0].pause.for`; '' for the file as a whole. */
  readonly path: string;
  readonly what: string;
}

/** A part of a path into parsed YAML: a key or an index. */
export type PathStep = string | number;

/** A problem whose place in the text is still to be looked up. */
export interface UnplacedProblem {
  readonly path: readonly PathStep[];
  /** Whether the key is meant and not its value. */
  readonly isKey: boolean;
  readonly what: string;
}

/** `zombie.yaml:5:7 faults[0].pausee: unknown fault "pausee"; did you mean "pause"?` */
export function renderProblem(problem: Problem): string {
  const path = problem.path === '' ? '' : ` ${problem.path}`;
  return `${problem.file}:${problem.line}:${problem.column}${path}: ${problem.what}`;
}

/** What needs no quotes in a path: a word, also one with hyphens. */
const PLAIN = /^[\p{L}\p{N}_$-]+$/u;

/** `['faults', 0, 'pause']` as `faults[0].pause`, and `['use', './a.mjs']` as `use["./a.mjs"]`. */
export function renderPath(path: readonly PathStep[]): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (!PLAIN.test(step)) text += `[${JSON.stringify(step)}]`;
    else text += text === '' ? step : `.${step}`;
  }
  return text;
}

/** `; did you mean "pause"?` when a known word is near, else the list of them when it is short. */
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

/** Words, those first that need the fewest changes to become `word`; equals as they were. */
export function nearestFirst(word: string, known: readonly string[]): readonly string[] {
  const measured = known.map((one) => ({ one, steps: distance(word, one) }));
  return measured.sort((a, b) => a.steps - b.steps).map(({ one }) => one);
}

/** How many letters must be added, taken away or changed to make `from` into `to` (Levenshtein). */
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
