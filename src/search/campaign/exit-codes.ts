/** Defines the exit codes of a command and their precedence. */

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

/** Meaning of each code, for `--help`, `fencepost explain` and the docs. */
export const EXIT_WORDS: Readonly<Record<Exit, string>> = {
  0: 'expectations met',
  1: 'a `holds` claim broke, or a `breaks` claim held',
  2: 'invalid usage or input',
  3: 'the code under test failed, did not finish, or used an unsimulated protocol',
  4: 'nondeterminism: two runs of one plan differ',
  5: 'not judged or not exercised; event limit reached; kept plan diverged',
  130: 'interrupted',
};

/** Precedence of the codes, for every command. The first that applies is the exit code. */
export const WORST_FIRST: readonly Exit[] = [130, 2, 4, 1, 3, 5, 0];

/** Returns the exit code of a command to which all of `codes` apply. */
export function worstOf(codes: Iterable<Exit>): Exit {
  const codeSet = new Set(codes);
  return WORST_FIRST.find((code) => codeSet.has(code)) ?? exits.met;
}
