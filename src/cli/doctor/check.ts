/** The result of one check of this machine, package or folder. */

export interface Check {
  /** A one-word name, for programs. */
  readonly name: string;
  /** `warning`: fencepost runs, but may behave unexpectedly. `problem`: it cannot run. */
  readonly status: 'ok' | 'warning' | 'problem';
  /** The finding, as a clause. */
  readonly what: string;
  /** The remedy, or null if there is nothing to do. */
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

/** Returns the first line of an error message. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n', 1)[0] ?? '';
}
