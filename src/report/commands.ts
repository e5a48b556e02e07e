/** The commands that a report asks people to paste, quoted for a shell. */
import type { Finding } from './finding.ts';

/** `npx fencepost replay <plan>`, as words. */
export function replayCommand(finding: Finding): readonly string[] {
  return ['npx', 'fencepost', 'replay', finding.planFile];
}

/** `npx fencepost corpus add <plan>`, as words. */
export function keepCommand(finding: Finding): readonly string[] {
  return ['npx', 'fencepost', 'corpus', 'add', finding.planFile];
}

/** Words that a POSIX shell reads back as they are. */
export function shellWords(words: readonly string[]): readonly string[] {
  return words.map((word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`,
  );
}
