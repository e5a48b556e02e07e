/**
 * Puts a contradiction into words, in the form *Let … Then … However …* and what would have helped.
 */

import type { Trace } from '../core/history/trace.ts';
import { assert } from '../core/kernel/assert.ts';
import { accessTellers } from './explain-accesses.ts';
import { computationTellers } from './explain-computations.ts';
import { deadlockTellers } from './explain-deadlock.ts';
import { grantTellers } from './explain-grants.ts';
import { jobTellers } from './explain-jobs.ts';
import { promiseTellers } from './explain-promises.ts';
import { grantsOf } from './phrases.ts';
import { storyOf, type Teller } from './story.ts';
import type { Explanation, Invalid } from './verdict.ts';

const tellers: ReadonlyMap<string, Teller> = new Map([
  ...accessTellers,
  ...computationTellers,
  ...deadlockTellers,
  ...grantTellers,
  ...jobTellers,
  ...promiseTellers,
]);

/**
 * Why `verdict` contradicts its claim. The parts come without `Let`, `Then`, `However` and stops.
 */
export function explain(trace: Trace, verdict: Invalid): Explanation {
  if (verdict.explanation !== undefined) return verdict.explanation;
  const teller = tellers.get(verdict.rule);
  assert(teller !== undefined, `nobody tells the story of ${verdict.rule}`);
  const story = storyOf(trace, verdict);
  const { headline, course, however, cure } = teller(story);
  return { headline, given: grantsOf(story), next: course, however, cure };
}

/** The whole explanation as a paragraph. */
export function inWords({ headline, given, next, however, cure }: Explanation): string {
  const sentences = [
    headline,
    given === '' ? '' : `Let ${given}`,
    next === '' ? '' : `Then ${next}`,
    however === '' ? '' : `However ${however}`,
    cure,
  ];
  return sentences
    .filter((sentence) => sentence !== '')
    .map((sentence) => `${sentence}.`)
    .join(' ');
}
