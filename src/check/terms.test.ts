import { expect, test } from 'vitest';
import { CLIENT_DEFAULTS, longestTtlUs, type Plan } from '../core/plan/plan.ts';
import { termsOf } from './terms.ts';

const never = { minUs: 0, maxUs: 0 };

const plan: Plan = {
  fencepost: 1,
  scenario: 'long-renew',
  system: { name: 'fenced', lock: 'lock-service', store: 'fenced', options: {} },
  clients: [
    {
      ...CLIENT_DEFAULTS,
      name: 'alice',
      sections: [
        { id: 1, thinkUs: 0, lock: 'db', work: [{ kind: 'renew', id: 1, ttlUs: 40_000 }] },
      ],
    },
    { ...CLIENT_DEFAULTS, name: 'bob', ttlUs: 20_000, sections: [] },
  ],
  network: { link: 'connection', latencyUs: 1_000 },
  faults: [],
  chance: null,
  decisions: {},
  order: [],
  limits: { healAtUs: 0, probe: true, slackUs: 0, endUs: 1, maxEvents: 1 },
  bounds: { latency: never, think: never, durations: {}, skewUs: null, driftPpm: null },
};

test('clocks are judged by their declared bounds, even if faults may exceed them', () => {
  const judged = (bounds: Plan['bounds']): object => {
    const { skewUs, driftPpm } = termsOf({ ...plan, bounds }, { model: null, isFenced: true }, 1);
    return { skewUs, driftPpm };
  };
  const drawn = { ...plan.bounds, skewUs: 9, driftPpm: 50_000 };
  expect(judged(drawn)).toEqual({ skewUs: 9, driftPpm: 50_000 });
  const declared = { skewUs: null, driftPpm: 200 };
  expect(judged({ ...drawn, declared })).toEqual(declared);
});

test('the probe has a write to send if its lock guards writes or reads, but not for jobs', () => {
  const client = { ...CLIENT_DEFAULTS, name: 'alice' };
  const section = { id: 1, thinkUs: 0, lock: 'db' };
  const read = { kind: 'read', id: 1, store: 'store', key: 'x' } as const;
  const job = { kind: 'job', id: 1, tick: 1, retries: 0, forUs: 1 } as const;
  const sections = [
    { ...section, work: [read] },
    { ...section, id: 2, lock: 'cron', work: [job] },
  ];
  const { probeWrites } = termsOf(
    { ...plan, clients: [{ ...client, sections }] },
    { model: null, isFenced: true },
    1,
  );
  expect([...probeWrites]).toEqual(['db']);
});

test('the longest ttl is that of any client or renew', () => {
  expect(termsOf(plan, { model: null, isFenced: true }, 1).ttlUs).toBe(40_000);
  expect(longestTtlUs({ ...plan, clients: plan.clients.slice(1) })).toBe(20_000);
});
