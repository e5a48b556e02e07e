/** The commands that a report asks people to paste, quoted for a shell. */
import type { Finding } from './finding.ts';

/** `npx fencepost replay <plan>`, as words. */
export function replayCommand(finding: Finding): readonly string[] {
  return ['npx', 'fencepost', 'replay', finding.planFile];
}

/** Copies the plan to where `run` replays it first, as words; makes the folder if there is none. */
export function keepCommand({ planFile, keptIn, isKeptInNew }: Finding): readonly string[] {
  const copy = ['cp', planFile, keptIn];
  return isKeptInNew ? ['mkdir', '-p', keptIn, '&&', ...copy] : copy;
}

/** Words that a POSIX shell reads back as they are. */
export function shellWords(words: readonly string[]): readonly string[] {
  return words.map((word) =>
    word === '&&' || /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`,
  );
}
