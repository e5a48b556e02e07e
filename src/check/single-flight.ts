/**
 * Judges `single-flight` from the marks that a memoize sets: `computing` and `computed`. A program
 * that is paused while it computes, or that has lost its lock meanwhile, still computes.
 *
 * Exercised: computations of a value that another program had missed, before they began or
 * meanwhile.
 */
import { causesSince } from './causes.ts';
import { type Breach, conclude, evidenceOf, type Part } from './conclude.ts';
import { type Computation, computationsOf } from './stampede.ts';
import type { Survey } from './survey.ts';
import type { Verdict } from './verdict.ts';

/** "While one computes a memoized value, whoever misses it waits for it instead." */
export function singleFlight(survey: Survey): Verdict {
  const { all, contested } = computationsOf(survey);
  const second = all.find(({ rivals }) => rivals.length > 0);
  const breach = second === undefined ? null : breachOf(survey, second);
  return conclude('single-flight', { exercised: contested, breach });
}

function breachOf(survey: Survey, later: Computation): Breach {
  const [earlier] = later.rivals;
  return {
    rule: 'computed-at-once',
    evidence: evidenceOf([
      ['earlier grant', earlier?.grant],
      ['wait in vain', earlier?.without],
      ['earlier computation', earlier?.began],
      ['later grant', later.grant],
      ['wait in vain', later.without],
      ['later computation', later.began],
      ...causes(survey, earlier, later),
    ]),
  };
}

/** What struck whoever computed first, or the lock, since it was granted. */
function causes(
  survey: Survey,
  earlier: Computation | undefined,
  later: Computation,
): readonly Part[] {
  return earlier?.grant === undefined ? [] : causesSince(survey, earlier.grant, later.began);
}
