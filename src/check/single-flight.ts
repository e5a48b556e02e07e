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
      [withoutRole(survey, earlier), earlier?.without],
      ['earlier computation', earlier?.began],
      ['later grant', later.grant],
      [withoutRole(survey, later), later.without],
      ['later computation', later.began],
      ...causes(survey, earlier, later),
    ]),
  };
}

/** Whoever asked for the lock once, and was denied it, did not wait for it. */
function withoutRole(survey: Survey, computation: Computation | undefined): string {
  const without = computation?.without;
  if (without === undefined) return 'wait in vain';
  const { process } = without.event;
  const before = survey.trace.events.slice(0, without.index);
  const asked = before.flatMap((event) =>
    event.kind === 'invoke' && event.process === process && event.call.verb === 'acquire'
      ? [event.operation]
      : [],
  );
  const section = sectionOf(asked.at(-1));
  const asks = asked.filter((operation) => sectionOf(operation) === section);
  const wasDenied = before.some(
    (event) =>
      event.kind === 'return' && event.operation === asks[0] && event.answer?.kind === 'denied',
  );
  return asks.length === 1 && wasDenied ? 'denied once' : 'wait in vain';
}

/** `bob/1` of `bob/1/acquire`. */
function sectionOf(operation: string = ''): string {
  return operation.split('/').slice(0, 2).join('/');
}

/** What struck whoever computed first, or the lock, since it was granted. */
function causes(
  survey: Survey,
  earlier: Computation | undefined,
  later: Computation,
): readonly Part[] {
  return earlier?.grant === undefined ? [] : causesSince(survey, earlier.grant, later.began);
}
