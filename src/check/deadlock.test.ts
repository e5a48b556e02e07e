import { expect, test } from 'vitest';
import type { Deadlock, TraceEvent } from '../core/history/events.ts';
import { breachOf, fault, grant, release, renew, verdictOn } from './trace-builder.fixture.ts';

const circle = (ms: number): Deadlock => ({
  kind: 'deadlock',
  atUs: ms * 1000,
  process: 'lock',
  waits: [
    { client: 'alice', lock: 'b' },
    { client: 'bob', lock: 'a' },
  ],
});

const held = { untilUs: null };
const closed: readonly TraceEvent[] = [
  grant(1, 'alice', 1, { ...held, lock: 'a' }),
  grant(2, 'bob', 2, { ...held, lock: 'b' }),
  circle(5),
];

test('a circle in which no client releases its lock breaks `progress`, and is named', () => {
  const breach = breachOf('progress', closed);
  expect(breach.rule).toBe('deadlock');
  expect(breach.evidence).toEqual(['0 holder grant', '1 holder grant', '2 circle']);
  expect(breach.words).toMatchInlineSnapshot(
    `"Deadlock over \`b\` and \`a\`: each waits for the other. Let A be alice's grant 1 of \`a\` (from 1 ms, no end) and B be bob's grant 2 of \`b\` (from 2 ms, no end). Then alice waits for b, held by bob, who waits for a, held by alice. However, the cycle closed at 5 ms, and no client released its lock."`,
  );
});

test('in a circle of three, each waits for the next', () => {
  const waits = [
    { client: 'alice', lock: 'b' },
    { client: 'bob', lock: 'c' },
    { client: 'carol', lock: 'a' },
  ];
  const third = grant(3, 'carol', 3, { ...held, lock: 'c' });
  const { words } = breachOf('progress', [...closed.slice(0, 2), third, { ...circle(5), waits }]);
  expect(words).toMatch(/^Deadlock over `b` and `c` and `a`: each waits for the next\./);
  expect(words).toContain(
    'Then alice waits for b, held by bob, who waits for c, held by carol, who waits for a, held by ' +
      'alice.',
  );
});

test('a fault that affected a holder before the circle closed is part of the evidence', () => {
  const [first, ...rest] = closed;
  const events = first === undefined ? [] : [first, fault(1.5, 'pause', 'alice'), ...rest];
  expect(breachOf('progress', events).evidence).toContain('1 pause');
});

test('the holders are those of the event, even if a failover undid a later grant', () => {
  const [first, second] = closed;
  if (first === undefined || second === undefined) throw new Error('two grants');
  // The new primary knew neither bob's release of `b` nor carol's grant of it.
  const undone = [
    { ...release(3, 'bob', 2), lock: 'b' },
    grant(4, 'carol', 3, { ...held, lock: 'b' }),
    fault(4.5, 'failover', 'lock'),
  ];
  const breach = breachOf('progress', [first, second, ...undone, circle(5)]);
  expect(breach.rule).toBe('deadlock');
  expect(breach.evidence).toEqual(['0 holder grant', '1 holder grant', '4 failover', '5 circle']);
});

test('a circle ends when its lock is granted again', () => {
  const events = [...closed, grant(9, 'carol', 3, { ...held, lock: 'b' })];
  expect(verdictOn('progress', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a circle that a client leaves exercises the claim without breaking it', () => {
  const events = [...closed, { ...release(9, 'bob', 2), lock: 'b' }];
  expect(verdictOn('progress', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('neither a renewal nor a fault after the cycle changes the breach', () => {
  const later = [{ ...renew(9, 'bob', 2), lock: 'b' }, fault(10, 'pause', 'alice')];
  const breach = breachOf('progress', [...closed, ...later]);
  expect(breach.rule).toBe('deadlock');
  expect(breach.evidence).toEqual(['0 holder grant', '1 holder grant', '2 circle']);
});

test('a lock that its holder had released before the current grant stays in the circle', () => {
  const before = [
    grant(0, 'bob', 3, { ...held, lock: 'b' }),
    { ...release(0.5, 'bob', 3), lock: 'b' },
  ];
  const breach = breachOf('progress', [...before, ...closed]);
  expect(breach.evidence).toEqual(['2 holder grant', '3 holder grant', '4 circle']);
});
