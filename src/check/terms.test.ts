import { expect, test } from 'vitest';
import type { Plan } from '../plan/plan.ts';
import { CLIENT_DEFAULTS } from '../plan/plan-defaults.ts';
import { longestTtlUs, termsOf } from './terms.ts';

const never = { minUs: 0, maxUs: 0 };

const plan: Plan = {
  ...{ fencepost: 1, scenario: 'long-renew' },
  system: { name: 'fenced', lock: 'lock-service', store: 'fenced', options: {} },
  clients: [
    {
      ...{ ...CLIENT_DEFAULTS, name: 'alice' },
      sections: [
        { id: 1, thinkUs: 0, lock: 'db', work: [{ kind: 'renew', id: 1, ttlUs: 40_000 }] },
      ],
    },
    { ...CLIENT_DEFAULTS, name: 'bob', ttlUs: 20_000, sections: [] },
  ],
  network: { link: 'connection', latencyUs: 1_000 },
  ...{ faults: [], chance: null, decisions: {}, order: [] },
  limits: { healAtUs: 0, probe: true, slackUs: 0, endUs: 1, maxEvents: 1 },
  bounds: { ...{ latency: never, think: never }, durations: {}, skewUs: null, driftPpm: null },
};

test('the longest ttl is that of any client or renew', () => {
  expect(termsOf(plan, { model: null, isFenced: true }, 1).ttlUs).toBe(40_000);
  expect(longestTtlUs({ ...plan, clients: plan.clients.slice(1) })).toBe(20_000);
});
