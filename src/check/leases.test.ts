/** Grants that a client takes from a quorum of servers, judged and told as such. */
import { expect, test } from 'vitest';
import { breachOf, enter, fault, grant, verdictOn } from './trace-builder.fixture.ts';

const taken = (ms: number, client: string, ordinal: number): ReturnType<typeof grant> =>
  grant(ms, client, ordinal, { process: client, message: '' });

test('a quorum that gives a live lock again has its servers’ faults named', () => {
  const step = fault(2, 'clock', 'lock', { target: 'step', amount: 8000 });
  const breach = breachOf('mutual-exclusion', [
    taken(0, 'alice', 1),
    step,
    fault(3, 'pause', 'alice', { untilMs: 5 }),
    fault(3, 'pause', 'store', { untilMs: 5 }),
    taken(4, 'bob', 2),
  ]);
  expect(breach.evidence).toEqual(['0 earlier grant', '1 clock', '2 pause', '4 later grant']);
  expect(breach.words).toMatchInlineSnapshot(
    `"\`db\` granted to bob while alice held it. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 4 ms). Then bob took B at 4 ms. However A was live (alice counted on it until 10 ms): \`lock\`'s clock was set 8 ms ahead at 2 ms and alice was paused from 3 ms to 5 ms."`,
  );
});

test('a clock beyond the declared drift, on any of its servers, excuses who counts on it', () => {
  const fast = (process: string, ppm: number): ReturnType<typeof fault> =>
    fault(0, 'clock', process, { target: 'rate', amount: ppm });
  const late = [taken(1, 'alice', 1), enter(2, 'alice', 1, 12)];
  const terms = { driftPpm: 1000 };
  expect(verdictOn('lease-conservative', late, terms).kind).toBe('invalid');
  expect(verdictOn('lease-conservative', [fast('lock', 1000), ...late], terms).kind).toBe(
    'invalid',
  );
  const excused = verdictOn('lease-conservative', [fast('lock', 1001), ...late], terms);
  expect(excused).toMatchObject({ kind: 'valid', exercised: 0 });
  expect(verdictOn('lease-conservative', [fast('store', 1001), ...late], terms).kind).toBe(
    'invalid',
  );
});
