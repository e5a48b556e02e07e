/** Tests whether a run did the work that broke its twin. */
import { expect, test } from 'vitest';
import {
  acquire,
  answer,
  enter,
  grant,
  leave,
  traceOf,
  verdictOn,
} from '../../check/trace-builder.fixture.ts';
import { indexTrace } from '../../check/trace-index.ts';
import type { Job, TraceEvent } from '../../core/history/events.ts';
import { standsBeside } from './avoided.ts';

function job(ms: number, process: string, phase: Job['phase']): Job {
  const what = { process, phase, section: `${process}/1`, lock: 'db', tick: 1, ordinal: 0 };
  return { kind: 'job', atUs: ms * 1000, ...what };
}

/** The sections of alice and bob ask, and are denied. */
const denied = ['alice', 'bob'].flatMap((client): TraceEvent[] => [
  acquire(1, `${client}/1/set`),
  answer(2, `${client}/1/set`, { kind: 'denied', holder: '' }),
]);

test('denied sections avoid no breach, unless another section did the work', () => {
  const events = [job(1, 'alice', 'begin'), job(2, 'bob', 'begin')];
  const breach = verdictOn('at-most-once', events);
  if (breach.kind !== 'invalid') throw new Error('the job runs twice');
  const stands = (...more: readonly TraceEvent[]): boolean =>
    standsBeside(indexTrace(traceOf(events)), breach, indexTrace(traceOf([...denied, ...more])));
  expect(stands()).toBe(false);
  expect(stands(job(5, 'carol', 'begin'))).toBe(true);
  expect(stands(job(5, 'probe', 'begin'))).toBe(false);
  const inside = [grant(5, 'carol', 1), enter(6, 'carol', 1, 15)];
  expect(stands(...inside)).toBe(false);
  expect(stands(...inside, leave(7, 'carol', 1))).toBe(true);
});
