/** Tells of jobs that ran when they should not have. */
import { at, whileFaults } from './phrases.ts';
import type { EventOf, Story } from './story.ts';
import { letterOf, need, type Teller } from './story.ts';

const CLAIM_FIRST =
  'A worker that claims a key of the occurrence before it runs would have skipped it';

const ranAgain: Teller = (story) => {
  const later = need(story, 'later run', 'job');
  const earlier = need(story, 'earlier run', 'job');
  return {
    headline: `Job ${later.tick} of \`${later.lock}\` ran again`,
    course: runPhrase(story, earlier),
    however: `${runPhrase(story, later)}${whileFaults(story)}`,
    cure: CLAIM_FIRST,
  };
};

const ranAtOnce: Teller = (story) => {
  const later = need(story, 'later run', 'job');
  const earlier = need(story, 'earlier run', 'job');
  const isSame = earlier.tick === later.tick;
  const jobs = isSame
    ? `Job ${later.tick} of \`${later.lock}\` ran twice at once`
    : `Jobs ${earlier.tick} and ${later.tick} of \`${later.lock}\` ran at once`;
  const before = `before ${earlier.process} had ended its own`;
  return {
    headline: jobs,
    course: runPhrase(story, earlier),
    however: `${runPhrase(story, later)}, ${before}${whileFaults(story)}`,
    cure: isSame
      ? CLAIM_FIRST
      : 'No lease rules this out once a process may pause: what a job touches must refuse its late acts',
  };
};

/** `alice began job 1 under A at 2 ms`. */
function runPhrase(story: Story, run: EventOf<'job'>): string {
  const { process, tick, ordinal } = run;
  const under = ordinal === 0 ? 'under no grant' : `under ${letterOf(story, ordinal)}`;
  return `${process} began job ${tick} ${under} ${at(run)}`;
}

/** By rule. */
export const jobTellers: readonly (readonly [rule: string, teller: Teller])[] = [
  ['ran-again', ranAgain],
  ['ran-at-once', ranAtOnce],
];
