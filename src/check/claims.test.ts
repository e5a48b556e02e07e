import { expect, test } from 'vitest';
import { defineClaim } from './claim.ts';
import { claims, judge } from './claims.ts';
import { grant, pause, terms, traceOf, write } from './trace-builder.fixture.ts';

const names = [...claims.keys()];

test('a run without events keeps every claim and exercises none', () => {
  for (const verdict of judge(traceOf([]), terms, names)) {
    expect(verdict).toEqual({ kind: 'valid', claim: verdict.claim, exercised: 0 });
  }
});

test('verdicts carry the requested names, in the requested order', () => {
  const verdicts = judge(traceOf([]), terms, names);
  expect(verdicts.map(({ claim }) => claim)).toEqual(names);
});

test('a truncated run proves no claim, but a claim that it broke stays broken', () => {
  const events = [
    grant(0, 'alice', 1),
    pause(3, 'alice', 20),
    grant(12, 'bob', 2),
    write(15, 'bob', 2, 2),
    write(20, 'alice', 1, 1),
  ];
  const trace = traceOf(events, { kind: 'cut', limit: 'maxEvents' });
  const asked = ['fence-monotone', 'tokens-unique'];
  expect(judge(trace, terms, asked)).toMatchObject([
    { kind: 'invalid' },
    { kind: 'unknown', reason: 'the run was truncated by its limit `maxEvents`' },
  ]);
});

test('a run in which a system threw names the process and the error', () => {
  const trace = traceOf([], { kind: 'failed', process: 'store', error: 'out of cheese' });
  expect(judge(trace, terms, ['grant-order'])).toMatchObject([
    { kind: 'unknown', reason: '`store` failed: out of cheese' },
  ]);
});

test('a claim does not compile if it can break a rule that it does not list, or one without words', () => {
  const fields = { name: 'punctual', about: 'no client is late', source: '', hazard: '' };
  const judgeIt = () => ({ exercised: 1, breach: { rule: 'deadlock', evidence: [] } as const });
  // @ts-expect-error 'deadlock' is not listed
  defineClaim({ ...fields, rules: [], judge: judgeIt });
  // @ts-expect-error 'no-order' is listed, 'deadlock' is not
  defineClaim({ ...fields, rules: ['no-order'], judge: judgeIt });
  const judgeNothing = () => ({ exercised: 1 });
  // @ts-expect-error 'too-late' is not a built-in rule, so it has no words
  defineClaim({ ...fields, rules: ['too-late'], judge: judgeNothing });
  const punctual = defineClaim({ ...fields, rules: ['deadlock'], judge: judgeIt });
  expect(punctual.rules).toEqual(['deadlock']);
});
