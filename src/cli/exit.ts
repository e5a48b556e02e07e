/** Defines the error for user mistakes, and how its lines are shown. */
import { visible } from '../text/visible.ts';

/** A mistake by the user. `lines` describe the problem and its place. The command exits with 2. */
export class UserError extends Error {
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}

/** Maps `items` with `act`, and throws all user errors together as one `UserError`. */
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

/** Makes a line of a `UserError` safe to print: no credentials, no control characters. */
export function shownLine(line: string): string {
  return visible(withoutCredentials(line));
}

/** Replaces `//user:password@` with `//***@`: users may pass a URL to the wrong option. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/\/\/[^\s/@:]*:\S*@/g, '//***@');
}
