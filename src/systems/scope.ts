/**
 * The scope of a lock: waited for, held while a body runs, and given back however far the body
 * came. A body that returns false has not done all of its work.
 */
import { under } from '../core/kernel/name.ts';
import { answerOf, backOff, type Program } from '../core/world/program.ts';
import { part, type Section } from './section-calls.ts';

/**
 * Runs `body` while the section's lock is held. Where it cannot be had in time, runs `without`
 * instead, if there is something to be done without it.
 */
export function* underLock(
  at: Section,
  body: () => Program<unknown>,
  without: (() => Program<void>) | null = null,
): Program<void> {
  const taken = yield* takeLock(at);
  if (taken === 'not-had' && without !== null) yield* without();
  if (taken !== 'held') return;
  const isWhole = (yield* body()) !== false;
  yield* awaitAnswers(at);
  if (at.driver.worked !== undefined) yield* at.driver.worked(at, isWhole);
  at.self.leave();
  if (at.plan.releases) yield* at.driver.release(at);
  if (at.driver.settle !== undefined) yield* at.driver.settle(at);
}

/** Waits for the answers to what was sent and not waited for. */
export function* awaitAnswers(at: Section): Program<void> {
  for (const call of at.unanswered) yield* answerOf(call);
}

/** `not-had`: it was waited for in vain; `refused`: it must not even be asked for. */
type Taken = 'held' | 'not-had' | 'refused';

function* takeLock(at: Section): Program<Taken> {
  for (let attempt = 1; attempt <= at.plan.attempts; attempt += 1) {
    if (attempt > 1)
      yield* backOff(under(at.name, part('backoff', attempt - 1)), at.plan.backoffUs);
    const answer = yield* at.driver.acquire(at, attempt);
    if (answer === true) return 'held';
    if (answer === 'refused') return answer;
    if (answer === 'given up') return 'not-had';
  }
  return 'not-had';
}
