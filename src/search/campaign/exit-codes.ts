/** The exit codes of a command, and which of several wins. */

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

/** What each code means, as `fencepost explain` and the docs say it. */
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

/** Returns the code to exit with if several apply. */
export function worstOf(codes: Iterable<Exit>): Exit {
  const given = new Set(codes);
  return WORST_FIRST.find((code) => given.has(code)) ?? exits.met;
}
