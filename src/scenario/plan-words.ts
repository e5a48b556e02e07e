/** Checks the words of a plan that other parts of fencepost provide, as those of a scenario are. */
import type { Plan } from '../core/plan/plan.ts';
import type { Finding } from '../text/problem.ts';
import { partFindings, unknownWord } from './build-systems.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Every word in a plan's system and its expectation that is unknown, in the order of the file. */
export function planWordFindings(
  { system, expect }: Pick<Plan, 'system' | 'expect'>,
  vocabulary: Vocabulary,
): readonly Finding[] {
  const path = ['expect', 'claim'];
  const known = vocabulary.claims;
  return [
    ...partFindings(system, ['system'], vocabulary),
    ...(expect === undefined ? [] : unknownWord(expect.claim, { noun: 'claim', known, path })),
  ];
}
