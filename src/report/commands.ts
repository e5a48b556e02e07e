/** The commands that a report asks people to paste, quoted for a shell. */
import type { Finding } from './finding.ts';

/** `npx fencepost replay <plan>`, as words. */
export function replayCommand(finding: Finding): readonly string[] {
  return ['npx', 'fencepost', 'replay', finding.planFile];
}

/** `cp <plan> <folder of the scenario>/plans/`, as words: what lies there, `run` replays first. */
export function keepCommand(finding: Finding): readonly string[] {
  const { scenarioFile } = finding;
  const folder = scenarioFile.slice(0, scenarioFile.lastIndexOf('/') + 1);
  return ['cp', finding.planFile, `${folder}plans/`];
}

/** Words that a POSIX shell reads back as they are. */
export function shellWords(words: readonly string[]): readonly string[] {
  return words.map((word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`,
  );
}
