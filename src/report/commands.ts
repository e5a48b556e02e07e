/** The commands that a report asks people to paste, quoted for a shell. */
import type { Finding } from './finding.ts';

/** `npx fencepost replay <plan>`, as words; it says where the plan's modules lie, if it has any. */
export function replayCommand({
  plan,
  planFile,
  scenarioFile,
}: Pick<Finding, 'plan' | 'planFile' | 'scenarioFile'>): readonly string[] {
  const replay = ['npx', 'fencepost', 'replay', planFile];
  if (plan.use === undefined) return replay;
  const at = scenarioFile.lastIndexOf('/');
  return [...replay, '--modules', at <= 0 ? '.' : scenarioFile.slice(0, at)];
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
