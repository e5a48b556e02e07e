/** The error that a user's mistake is, and how its lines are shown. */
import { visible } from '../text/visible.ts';

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
