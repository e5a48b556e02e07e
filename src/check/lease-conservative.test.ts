import { describe, expect, test } from 'vitest';
import type { KeyChange } from '../core/history/events.ts';
import {
  breachOf,
  enter,
  fault,
  grant,
  keyChange,
  leaseTest,
  leave,
  pause,
  release,
  renew,
  verdictOn,
} from './trace-builder.fixture.ts';

const claim = 'lease-conservative';
const granted = grant(1, 'alice', 1, { sentAtUs: 0 });

test('a holder that counts from its request is never later than the service', () => {
  const events = [granted, enter(2, 'alice', 1, 10), leaseTest(9, 'alice', 1, 10)];
  expect(verdictOn(claim, events)).toMatchObject({ kind: 'valid', exercised: 2 });
});

test('a holder that counts from the reply is later than the service', () => {
  const breach = breachOf(claim, [granted, enter(2, 'alice', 1, 12)]);
  expect(breach.rule).toBe('believes-longer');
  expect(breach.evidence).toEqual(['0 grant', '1 belief']);
  expect(breach.words).toMatchInlineSnapshot(
    `"alice counts on \`db\` longer than \`lock\` does. Let A be alice's grant 1 of \`db\` (from 1 ms, ttl 10 ms). Then \`lock\` ends A at 11 ms. However, at 2 ms alice counted on it until 12 ms."`,
  );
});

test('a renew that the service handled moves the end to compare with', () => {
  const events = [granted, renew(6, 'alice', 1), enter(7, 'alice', 1, 16)];
  expect(verdictOn(claim, events)).toMatchObject({ kind: 'valid', exercised: 1 });
  const denied = [granted, renew(6, 'alice', 1, { extended: 0 }), enter(7, 'alice', 1, 16)];
  expect(breachOf(claim, denied).rule).toBe('believes-longer');
});

test('a lease that its holder finds live after its end breaks the claim', () => {
  const breach = breachOf(claim, [granted, leaseTest(11.5, 'alice', 1, 11)]);
  expect(breach.rule).toBe('live-past-end');
  expect(breach.words).toMatchInlineSnapshot(
    `"alice counts on \`db\` longer than \`lock\` does. Let A be alice's grant 1 of \`db\` (from 1 ms, ttl 10 ms). Then \`lock\` ends A at 11 ms. However, alice found at 11.5 ms that its lease was live."`,
  );
});

test('at its very end a live lease breaks the claim only if a successor was granted before', () => {
  const before = [granted, leaseTest(11, 'alice', 1, 11), grant(11, 'bob', 2)];
  expect(verdictOn(claim, before).kind).toBe('valid');
  const breach = breachOf(claim, [granted, grant(11, 'bob', 2), leaseTest(11, 'alice', 1, 11)]);
  expect(breach.rule).toBe('live-at-end');
  expect(breach.evidence).toEqual(['0 grant', '1 successor', '2 belief']);
  expect(breach.words).toMatchInlineSnapshot(
    `"alice counts on \`db\` longer than \`lock\` does. Let A be alice's grant 1 of \`db\` (from 1 ms, ttl 10 ms) and B be bob's grant 2 (from 11 ms). Then \`lock\` ends A at 11 ms, and bob was granted B at 11 ms. However, alice found at 11 ms that its lease was live."`,
  );
});

test('a clock fault beyond the declared bounds excuses its process', () => {
  const slow = fault(0, 'clock', 'alice', { target: 'rate', amount: -500 });
  const events = [slow, granted, enter(2, 'alice', 1, 12)];
  expect(verdictOn(claim, events, { driftPpm: 200 })).toMatchObject({
    kind: 'valid',
    exercised: 0,
  });
  expect(verdictOn(claim, events, { driftPpm: 500 }).kind).toBe('invalid');
  const stepped = fault(0, 'clock', 'lock', { target: 'step', amount: 6000 });
  const behind = [stepped, granted, enter(2, 'alice', 1, 12)];
  expect(verdictOn(claim, behind, { skewUs: 5000 })).toMatchObject({ kind: 'valid', exercised: 0 });
  expect(verdictOn(claim, behind, { skewUs: 6000 }).kind).toBe('invalid');
});

test('a lease without end is never compared', () => {
  const endless = grant(0, 'alice', 1, { untilUs: null });
  expect(verdictOn(claim, [endless, enter(2, 'alice', 1, 99)])).toMatchObject({
    kind: 'valid',
    exercised: 0,
  });
});

test('a holder that relies on its lease after the lock is granted again breaks the claim', () => {
  const stepped = fault(2, 'clock', 'lock', { target: 'step', amount: 8000 });
  const events = [granted, stepped, grant(4, 'bob', 2), leaseTest(5, 'alice', 1, 10)];
  const breach = breachOf(claim, events, { skewUs: 8000 });
  expect(breach.rule).toBe('live-past-end');
  expect(breach.evidence).toEqual(['0 grant', '1 clock', '2 successor', '3 belief']);
  expect(breach.words).toMatchInlineSnapshot(
    `"alice counts on \`db\` longer than \`lock\` does. Let A be alice's grant 1 of \`db\` (from 1 ms, ttl 10 ms) and B be bob's grant 2 (from 4 ms). Then \`lock\` ends A at 11 ms, and bob was granted B at 4 ms. However, alice found at 5 ms that its lease was live: \`lock\`'s clock was set 8 ms ahead at 2 ms."`,
  );
  const released = [granted, release(3, 'alice', 1), grant(4, 'bob', 2)];
  expect(verdictOn(claim, [...released, leaseTest(5, 'alice', 1, 10)]).kind).toBe('valid');
  const regranted = [granted, grant(4, 'alice', 2), leaseTest(5, 'alice', 1, 10)];
  expect(verdictOn(claim, regranted).kind).toBe('valid');
});

test.each([
  [11_000, ''],
  [8_000, ', before its ttl of 10 ms is over'],
])(
  'a service that ends a lease at %i us is described with its ttl if that is early',
  (untilUs, said) => {
    const events = [grant(1, 'alice', 1, { untilUs }), enter(2, 'alice', 1, 12)];
    const ends = `\`lock\` ends A at ${untilUs / 1000} ms${said}. However`;
    expect(breachOf('lease-conservative', events).words).toContain(ends);
  },
);

test('a noted grant exercises the claim only if another end, or a successor, is known', () => {
  const taken = (ms: number, client: string, ordinal: number): ReturnType<typeof grant> =>
    grant(ms, client, ordinal, { process: client, message: '' });
  const mine = taken(0, 'alice', 1);
  const view = leaseTest(2, 'alice', 1, 10);
  const exercised = (...events: Parameters<typeof verdictOn>[1]): number =>
    verdictOn(claim, events).exercised;
  expect(exercised(mine, view)).toBe(0);
  expect(exercised(mine, view, taken(3, 'bob', 2))).toBe(0);
  expect(exercised(mine, taken(1, 'alice', 2), view)).toBe(0);
  expect(exercised(mine, leaseTest(2, 'alice', 1, 9))).toBe(1);
  expect(exercised(taken(0, 'alice', 1), taken(1, 'bob', 2), view)).toBe(1);
});

test('the evidence of a view that is too long includes the last renewal before it', () => {
  const events = [granted, renew(5, 'alice', 1), renew(6, 'alice', 1), enter(7, 'alice', 1, 17)];
  const breach = breachOf(claim, [...events, renew(8, 'alice', 1)]);
  expect(breach.evidence).toEqual(['0 grant', '2 renewal', '3 belief']);
});

describe('a program that does not know the end of its lease', () => {
  const entered = [
    keyChange(1, 'alice', { untilUs: 20_000 }),
    grant(2, 'alice', 1, { process: 'alice', message: '', untilUs: null }),
    enter(2, 'alice', 1, 1e13),
  ];
  const removes = (ms: number): KeyChange => keyChange(ms, 'alice', { change: 'removed' });

  test('relies on it until it leaves', () => {
    expect(breachOf(claim, [...entered, leave(21, 'alice', 1)]).rule).toBe('left-past-end');
  });

  test('no longer relies on it once it has removed its key', () => {
    const verdict = verdictOn(claim, [...entered, removes(15), leave(16, 'alice', 1)]);
    expect(verdict.kind).toBe('valid');
  });

  test('exercises the claim only if a fault could outlast the lease', () => {
    const paused = (untilMs: number) =>
      verdictOn(claim, [...entered, pause(3, 'alice', untilMs), leave(19, 'alice', 1)]);
    expect(paused(10)).toMatchObject({ kind: 'valid', exercised: 0 });
    expect(paused(30)).toMatchObject({ kind: 'valid', exercised: 1 });
  });
});
