import { expect, test } from 'vitest';
import type { Job, Trace } from '../history/trace.ts';
import { surroundingsOf, textOf } from './step-text.ts';

const trace: Trace = {
  processes: [],
  events: [],
  ending: { kind: 'complete' },
  unmatched: [],
};

test.each<[Job['phase'], string]>([
  ['begin', 'starts job 7 of db'],
  ['end', 'ends job 7 of db'],
  ['skip', 'skips job 7 of db'],
])('a job whose phase is %s reads "%s"', (phase, words) => {
  const what = { process: 'alice', section: 'alice/1', lock: 'db', tick: 7, ordinal: 1 };
  const event: Job = { kind: 'job', atUs: 0, phase, ...what };
  expect(textOf(event, surroundingsOf(trace, []))).toBe(words);
});

test('a claimed key that was taken reads as one that an earlier delivery holds', () => {
  const answer = { kind: 'denied', holder: 'an earlier delivery' } as const;
  const event = {
    ...({ kind: 'return', atUs: 0, process: 'alice', outcome: 'ok' } as const),
    ...{ operation: 'alice/1/claim', answer },
  };
  expect(textOf(event, surroundingsOf(trace, []))).toContain('an earlier delivery holds it');
});
