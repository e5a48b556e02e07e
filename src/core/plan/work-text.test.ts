import { describe, expect, test } from 'vitest';
import { check } from './document.ts';
import { CLIENT_DEFAULTS, type Work } from './plan.ts';
import { completeStep, otherwiseInPlan, stepFields, stepSchema } from './work-text.ts';

const TTL_US = CLIENT_DEFAULTS.ttlUs;
const place = { store: 'store', key: 'x' } as const;

/** Returns a step, read as the third of its section, or its errors as text. */
function read(step: unknown): Work | string | undefined {
  const checked = check(stepSchema, step);
  if (checked.kind === 'findings') return checked.findings.map(({ what }) => what).join();
  return completeStep(checked.value, 3, otherwiseInPlan(TTL_US));
}

const STEPS: readonly (readonly [unknown, Work])[] = [
  [{ write: { key: 'x', value: 7 } }, { kind: 'write', id: 3, ...place, value: 7, awaits: true }],
  [
    { write: { store: 's', key: 'y', value: -7, awaits: false } },
    { kind: 'write', id: 3, store: 's', key: 'y', value: -7, awaits: false },
  ],
  [{ read: { id: 9, key: 'x' } }, { kind: 'read', id: 9, ...place }],
  [{ increment: { key: 'x' } }, { kind: 'increment', id: 3, ...place }],
  [{ increment: { key: 'x', by: -1 } }, { kind: 'increment', id: 3, ...place, by: -1 }],
  [
    { transfer: { from: 'a', to: 'b', key: 'x', amount: 2 } },
    { kind: 'transfer', id: 3, from: 'a', to: 'b', key: 'x', amount: 2 },
  ],
  [{ compute: { for: '5ms' } }, { kind: 'compute', id: 3, forUs: 5_000 }],
  [{ renew: {} }, { kind: 'renew', id: 3, ttlUs: TTL_US }],
  [{ renew: { ttl: '1ms' } }, { kind: 'renew', id: 3, ttlUs: 1_000 }],
  [{ lock: { lock: 'b' } }, { kind: 'lock', id: 3, lock: 'b' }],
  [{ job: { tick: 2, for: '1ms' } }, { kind: 'job', id: 3, tick: 2, retries: 0, forUs: 1_000 }],
  [
    { job: { tick: 2, retries: 1, for: '1ms' } },
    { kind: 'job', id: 3, tick: 2, retries: 1, forUs: 1_000 },
  ],
  [{ transition: { for: '1ms' } }, { kind: 'transition', id: 3, forUs: 1_000 }],
  [
    { memoize: { key: 'x', value: 4, for: '1ms' } },
    { kind: 'memoize', id: 3, ...place, value: 4, forUs: 1_000, pieces: 1 },
  ],
  [
    { memoize: { key: 'x', value: 4, for: '1ms', pieces: 2, withoutLock: 'gives-up' } },
    {
      kind: 'memoize',
      id: 3,
      ...place,
      value: 4,
      forUs: 1_000,
      pieces: 2,
      withoutLock: 'gives-up',
    },
  ],
];

describe('a step of a plan', () => {
  test.each(STEPS)('%j is read and written', (written, work) => {
    expect(read(written)).toStrictEqual(work);
    expect(stepFields(work, 3, TTL_US)).toStrictEqual(written);
  });

  test.each([
    ['read', { kind: 'read', id: 3, ...place }],
    ['renew', { kind: 'renew', id: 3, ttlUs: TTL_US }],
    [{ compute: '5ms' }, { kind: 'compute', id: 3, forUs: 5_000 }],
    [{ lock: 'b' }, { kind: 'lock', id: 3, lock: 'b' }],
    [{ increment: { by: 1 } }, { kind: 'increment', id: 3, ...place }],
    ['transfer', { kind: 'transfer', id: 3, from: 'store-a', to: 'store-b', key: 'x', amount: 1 }],
    [
      { memoize: { for: '1ms', withoutLock: 'computes' } },
      { kind: 'memoize', id: 3, ...place, value: 1, forUs: 1_000, pieces: 1 },
    ],
  ])('%j is read', (written, work) => {
    expect(read(written)).toStrictEqual(work);
  });

  test.each([
    ['write', undefined],
    [{ job: { for: '1ms' } }, undefined],
    ['compute', 'compute needs a value; write compute: 5ms'],
    ['memoize', 'memoize needs a value; write memoize: { for: 10ms }'],
    ['raed', 'unknown step "raed"; did you mean "read"?'],
    ['jobb', 'unknown step "jobb"; did you mean "job"?'],
    [7, 'expected a map, not 7'],
    [{ read: {}, renew: {} }, 'a step is a map of one key'],
  ])('%j is not a step: %s', (written, what) => {
    expect(read(written)).toBe(what);
  });
});
