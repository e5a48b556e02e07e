/** What one look at this machine, this package or this folder came to. */

export interface Check {
  /** One word, for machines. */
  readonly name: string;
  /** `warning`: it runs, but something may surprise. `problem`: it cannot run like this. */
  readonly status: 'ok' | 'warning' | 'problem';
  /** What was found, in a clause. */
  readonly what: string;
  /** What to do about it; null where all is well. */
  readonly fix: string | null;
}

export function ok(name: string, what: string): Check {
  return { name, status: 'ok', what, fix: null };
}

export function warning(name: string, what: string, fix: string): Check {
  return { name, status: 'warning', what, fix };
}

export function problem(name: string, what: string, fix: string): Check {
  return { name, status: 'problem', what, fix };
}

/** What an error says, in its first line. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? '';
}
