/** The exit codes, which of several wins, and the error that a user's mistake is. */
import { visible } from '../text/visible.ts';

export const exits = {
  met: 0,
  broken: 1,
  usage: 2,
  failed: 3,
  nondeterministic: 4,
  incomplete: 5,
  interrupted: 130,
} as const;

export type Exit = (typeof exits)[keyof typeof exits];

/** What each means, as in `docs/stability.md`. */
export const EXIT_WORDS: Readonly<Record<Exit, string>> = {
  0: 'expectations met',
  1: 'a claim broke that should hold, or the reverse',
  2: 'bad usage or input',
  3: 'the system under test failed to run',
  4: 'nondeterminism: two runs of one plan differ',
  5: 'unknown or untested; a kept plan whose names find no match',
  130: 'interrupted',
};

const WORST_FIRST: readonly Exit[] = [130, 2, 4, 3, 1, 5, 0];

/** The one to exit with when several apply. */
export function worstOf(codes: Iterable<Exit>): Exit {
  const given = new Set(codes);
  return WORST_FIRST.find((code) => given.has(code)) ?? exits.met;
}

/** A mistake of the user: `lines` say what is wrong and where, and the command exits with 2. */
export class UserError extends Error {
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}

/** What `act` makes of each item; every mistake of the user's in any of them is told at once. */
export async function makeAll<Item, Made>(
  items: readonly Item[],
  act: (item: Item) => Made | Promise<Made>,
): Promise<readonly Made[]> {
  const made: Made[] = [];
  const lines: string[] = [];
  for (const item of items) {
    try {
      made.push(await act(item));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      lines.push(...error.lines);
    }
  }
  if (lines.length > 0) throw new UserError(lines);
  return made;
}

/** A line of a `UserError` as people see it: it shows no credentials, and steers no terminal. */
export function shownLine(line: string): string {
  return visible(withoutCredentials(line));
}

/** A text in which every `//user:password@` is `//***@`: people give URLs where none is wanted. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/\/\/[^\s/@:]*:\S*@/g, '//***@');
}
