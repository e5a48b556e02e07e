/** Tells of jobs that ran when they should not have. */
import type { Json } from '../core/kernel/json.ts';
import { at, whileFaults } from './phrases.ts';
import type { EventOf, Story } from './story.ts';
import { letterOf, need, type Teller } from './story.ts';

const CLAIM_FIRST =
  'A worker that claims a key of the step before it runs it would have skipped it';

const CLAIM_WITHOUT_TOKEN =
  'A key with the fence token is new to every holder; a key of the step alone would have been known';

/** What would have kept a step from its second run: a claim, or one that knows the first. */
function cureOf(story: Story, runs: readonly EventOf<'job'>[]): string {
  return runs.every((run) => isClaimed(story, run)) ? CLAIM_WITHOUT_TOKEN : CLAIM_FIRST;
}

/** Whether the section of a run claimed a key with its token and was told that the key is new. */
function isClaimed({ trace }: Story, run: EventOf<'job'>): boolean {
  const claims = new Set<string>();
  for (const event of trace.events) {
    if (event === run) return false;
    if (event.kind === 'send' && isFencedClaim(event.body)) claims.add(event.message);
    if (event.kind !== 'return' || event.answer?.kind !== 'accepted') continue;
    const { operation } = event;
    if (!operation.startsWith(`${run.section}/`)) continue;
    if ([...claims].some((message) => message.startsWith(`${operation}/`))) return true;
  }
  return false;
}

/** A request that takes the key of a step and a fence token, before the step is run. */
function isFencedClaim(body: Json): boolean {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return false;
  return 'kind' in body && body['kind'] === 'claim' && 'fence' in body && body['fence'] !== null;
}

const ranAgain: Teller = (story) => {
  const later = need(story, 'later run', 'job');
  const earlier = need(story, 'earlier run', 'job');
  return {
    headline: `Job ${later.tick} of \`${later.lock}\` ran again`,
    course: runPhrase(story, earlier),
    however: `${runPhrase(story, later)}${deliveryPhrase(story, later)}${whileFaults(story)}`,
    cure: cureOf(story, [earlier, later]),
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
    however: `${runPhrase(story, later)}, ${before}${deliveryPhrase(story, later)}${whileFaults(story)}`,
    cure: isSame
      ? cureOf(story, [earlier, later])
      : 'No lease rules this out once a process may pause: what a job touches must refuse its late acts',
  };
};

/** `alice began job 1 under A at 2 ms`. */
function runPhrase(story: Story, run: EventOf<'job'>): string {
  const { process, tick, ordinal } = run;
  const under = ordinal === 0 ? 'under no grant' : `under ${letterOf(story, ordinal)}`;
  return `${process} began job ${tick} ${under} ${at(run)}`;
}

/** `, since the queue delivered a copy of its message at 511 ms`; '' for a first delivery. */
function deliveryPhrase({ trace }: Story, run: EventOf<'job'>): string {
  const earlier = trace.events.slice(0, trace.events.indexOf(run));
  const received = earlier.findLast(
    (event) => event.kind === 'deliver' && event.client === run.process && event.lock === run.lock,
  );
  if (received?.kind !== 'deliver') return '';
  if (received.isCopy) return `, since the queue delivered a copy of its message ${at(received)}`;
  if (received.deliveries === 1) return '';
  return `, since the queue delivered its message again ${at(received)}`;
}

/** By rule. */
export const jobTellers: readonly (readonly [rule: string, teller: Teller])[] = [
  ['ran-again', ranAgain],
  ['ran-at-once', ranAtOnce],
];
