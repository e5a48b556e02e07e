interface Place {
  readonly original: string;
  readonly within?: string | undefined;
}

interface Entry extends Place {
  readonly file: string;
  readonly replacement: string;
  readonly because: string;
}

interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly original: string;
  readonly replacement: string;
}

export function readEquivalents(path: string): readonly Entry[];
export function linesOfEntry(entry: Place, text: string): readonly number[];
export function isEquivalent(mutant: Mutant, entries: readonly Entry[]): boolean;
