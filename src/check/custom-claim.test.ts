/** Tests user-defined claims: the rulings that their judges may return, and invalid ones. */
import { describe, expect, test } from 'vitest';
import { Defect } from '../core/kernel/assert.ts';
import { type ClaimDefinition, customClaim, type Ruling } from './custom-claim.ts';
import { grant, terms, traceOf, write } from './trace-builder.fixture.ts';
import { indexTrace } from './trace-index.ts';
import type { Verdict } from './verdict.ts';

const events = [grant(0, 'alice', 1), write(2, 'alice', 1, 7), write(3, 'alice', 1, 8)];

/** Returns the verdict on a claim whose judge returns `ruling`, even one that its type forbids. */
function verdictFor(ruling: unknown, more: object = {}): Verdict {
  const judge = (): Ruling => JSON.parse(JSON.stringify(ruling));
  const claim = customClaim('few', { about: 'few are there', judge, ...more });
  return claim.judge(indexTrace(traceOf(events)), terms);
}

function verdictBy(judge: ClaimDefinition['judge']): Verdict {
  const claim = customClaim('few', { about: 'few are there', judge });
  return claim.judge(indexTrace(traceOf(events)), terms);
}

const evidence = [
  { role: 'second', event: 2 },
  { role: 'first', event: 0 },
];

describe('a definition', () => {
  test('is used unchanged and needs no source', () => {
    const judge = (): Ruling => ({ exercised: 0 });
    const claim = customClaim('few', { about: 'few are there', judge });
    expect(claim).toMatchObject({ name: 'few', about: 'few are there', source: '', rules: [] });
    expect(customClaim('few', { about: '', source: 'me', judge }).source).toBe('me');
  });

  test.each<[string, object]>([
    ['claims.few.about is not a string', { about: 3 }],
    ['claims.few.judge is not a function', { judge: 'yes' }],
  ])('is refused if %s', (message, wrong) => {
    expect(() => verdictFor({ exercised: 0 }, wrong)).toThrow(new Error(message));
  });
});

describe('a ruling', () => {
  test.each<[string, Ruling, object]>([
    ['holds', { exercised: 3 }, { kind: 'valid', exercised: 3 }],
    ['holds with no breach', { exercised: 0, breach: null }, { kind: 'valid', exercised: 0 }],
    [
      'is unknown',
      { exercised: 2, unknown: 'not examined' },
      { kind: 'unknown', exercised: 2, reason: 'not examined' },
    ],
  ])('that %s is the verdict', (_, ruling, verdict) => {
    expect(verdictBy(() => ruling)).toEqual({ claim: 'few', ...verdict });
  });

  test('can use the trace and the terms', () => {
    const seen = verdictBy((trace, { ttlUs }) => ({ exercised: trace.events.length + ttlUs }));
    expect(seen.exercised).toBe(10_003);
  });

  test('with a headline uses its own words, with its evidence in trace order', () => {
    const breach = { headline: 'Too many', evidence };
    expect(verdictBy(() => ({ exercised: 0, breach }))).toEqual({
      kind: 'invalid',
      claim: 'few',
      exercised: 1,
      rule: 'few',
      evidence: [evidence[1], evidence[0]],
      explanation: { headline: 'Too many', given: '', next: '', however: '', cure: '' },
    });
    const words = { headline: 'Too many', next: 'n', however: 'h', cure: 'c' };
    expect(verdictBy(() => ({ exercised: 4, breach: { ...words, evidence } }))).toMatchObject({
      exercised: 4,
      explanation: { ...words, given: '' },
    });
  });

  test('with a breach breaks the claim even if it also has a reason for unknown', () => {
    const breach = { headline: 'Too many', evidence };
    const ruling = { exercised: 1, breach, unknown: 'not examined' };
    expect(verdictBy(() => ruling).kind).toBe('invalid');
  });
});

describe('an invalid ruling leaves the claim unknown', () => {
  const message = 'its judge returned a breach without a headline or without evidence';
  const count = 'its judge did not return `exercised`, a count of hazards';
  const breach = (fields: unknown): object => ({ exercised: 1, breach: fields });
  const shown = (part: unknown): object => breach({ headline: 'x', evidence: [part] });
  const strange = (part: unknown): string =>
    `its judge returned evidence that is not an event of the trace: ${JSON.stringify(part)}`;
  const parts: readonly unknown[] = [
    null,
    'second',
    7,
    { event: 1 },
    { role: 'second' },
    { role: 2, event: 1 },
    ...['1', 1.5, -1, 3].map((event) => ({ role: 'second', event })),
  ];

  test.each<[string, unknown]>([
    ['its judge returned no ruling', null],
    ['its judge returned no ruling', 'fine'],
    [count, {}],
    [count, { exercised: 'often' }],
    [count, { exercised: 1.5 }],
    [message, breach('it broke')],
    [message, breach({})],
    [message, breach({ headline: 'x' })],
    [message, breach({ evidence: [] })],
    [message, breach({ headline: 3, evidence: [] })],
    [message, breach({ rule: 'crowd', evidence: [] })],
    [message, breach({ headline: 'x', evidence: 'all of it' })],
    ...parts.map((part): [string, unknown] => [strange(part), shown(part)]),
  ])('%s: %j', (reason, answer) => {
    expect(verdictFor(answer)).toEqual({ kind: 'unknown', claim: 'few', exercised: 0, reason });
  });

  test('the first and the last event may be evidence', () => {
    for (const event of [0, 2]) {
      expect(verdictFor(shown({ role: 'it', event })).kind).toBe('invalid');
    }
    expect(verdictFor(breach({ headline: 'x', evidence: [] })).kind).toBe('invalid');
  });

  test('a judge that throws leaves the claim unknown, but a defect is not caught', () => {
    const throwing = (error: Error) => () => {
      throw error;
    };
    expect(verdictBy(throwing(new Error('no such field')))).toEqual({
      kind: 'unknown',
      claim: 'few',
      exercised: 0,
      reason: 'its judge threw: no such field',
    });
    const defect = new Defect('this cannot be');
    expect(() => verdictBy(throwing(defect))).toThrow(defect);
  });
});
