import { expect, test } from 'vitest';
import type { KeyChange } from '../core/history/events.ts';
import type { SectionEnd } from '../core/history/trace.ts';
import { Contradiction } from './explanation.ts';
import { keepingPhrase } from './lock-rules.ts';
import { enter, grant, keyChange, renew, traceOf } from './trace-builder.fixture.ts';

const FAILED: SectionEnd = { kind: 'failed', atUs: 3000, error: { text: 'no', place: null } };
const RETURNED: SectionEnd = { kind: 'returned', atUs: 4000, isUnguarded: false };
const OPEN: SectionEnd = { kind: 'open', wait: null };
const broken = { claim: 'progress', rule: 'probe-not-granted', evidence: [] };

const taking = 'alice/1/set/1/request';
const kept = (ms: number, change: KeyChange['change'], isDone = true): KeyChange =>
  keyChange(ms, 'alice', { change, isDone, holder: 'alice', taking, message: taking });

test('a key is kept by its renewals, after the end of the section that took it', () => {
  const last = kept(9, 'prolonged');
  const events = [kept(0, 'taken'), kept(5, 'prolonged'), kept(6, 'prolonged', false), last];
  const words = (end: SectionEnd): string => {
    const sections = [{ process: 'alice', section: 'alice/1', beganUs: 0, end }];
    return keepingPhrase(new Contradiction({ ...traceOf(events), sections }, broken), last);
  };
  expect(words(FAILED)).toBe(', renewed 2 times, last at 9 ms; its section had failed at 3 ms');
  expect(words(RETURNED)).toContain('; its section had ended at 4 ms');
  expect(words(OPEN)).toBe(', renewed 2 times, last at 9 ms');
});

test('a grant is kept by the renewals of its server, for the section that entered under it', () => {
  const held = grant(0, 'alice', 1);
  const events = [held, { ...enter(1, 'alice', 1, 10), section: 'alice/2' }, renew(7, 'alice', 1)];
  const sections = [{ process: 'alice', section: 'alice/2', beganUs: 0, end: FAILED }];
  const shown = new Contradiction({ ...traceOf(events), sections }, broken);
  expect(keepingPhrase(shown, held)).toBe(
    ', renewed 1 time, last at 7 ms; its section had failed at 3 ms',
  );
});
