/** Says of a plan that the user's systems in it are no longer those it was made with. */
import type { Terminal } from './terminal.ts';

/** One line a module, as progress; none where all are as they were. */
export function noteChanges(
  file: string,
  changedModules: readonly string[],
  terminal: Pick<Terminal, 'note'>,
): void {
  for (const path of changedModules) {
    terminal.note(`note: ${file} was made with another version of ${path}`);
  }
}
