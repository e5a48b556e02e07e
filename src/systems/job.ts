/**
 * The body that a lock is to keep from running twice: it begins, takes its time, and ends, each
 * noted for the observer. A protocol that knows of occurrences may have it skipped.
 */
import { under } from '../core/kernel/name.ts';
import { type Program, sleep } from '../core/world/program.ts';
import type { JobStep } from './protocol.ts';
import { part, type Section } from './section-calls.ts';

/** Runs one occurrence of a job, unless it has run already. */
export function* runJob(at: Section, work: JobStep): Program<boolean> {
  const { driver } = at;
  const job = { section: at.name, lock: at.section.lock, tick: work.tick };
  if (driver.claimJob !== undefined && !(yield* driver.claimJob(at, work))) {
    at.self.job('skip', job);
    return true;
  }
  at.self.job('begin', job);
  yield* sleep(under(at.name, part('job', work.id)), work.forUs);
  at.self.job('end', job);
  if (driver.finishJob !== undefined) yield* driver.finishJob(at, work);
  return true;
}
