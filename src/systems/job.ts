/**
 * The body that a lock is to keep from running twice: it begins, takes its time, and ends, each
 * noted for the observer.
 */
import { under } from '../kernel/name.ts';
import type { Work } from '../plan/plan.ts';
import { type Program, sleep } from '../world/program.ts';
import { part, type Section } from './section-calls.ts';

/** Runs one occurrence of a job. */
export function* runJob(at: Section, work: Extract<Work, { kind: 'job' }>): Program<boolean> {
  const job = { section: at.name, lock: at.section.lock, tick: work.tick };
  at.self.job('begin', job);
  yield* sleep(under(at.name, part('job', work.id)), work.forUs);
  at.self.job('end', job);
  return true;
}
