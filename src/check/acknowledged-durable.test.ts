import { expect, test } from 'vitest';
import {
  accepted,
  breachOf,
  fault,
  grant,
  invoke,
  recovered,
  unknown,
  verdictOn,
  write,
} from './trace-builder.fixture.ts';

const written = [
  grant(0, 'alice', 1),
  invoke(1, 'alice/1/write'),
  write(2, 'alice', 1, 1),
  accepted(3, 'alice/1/write'),
];
const crash = fault(4, 'crash', 'store', { untilMs: 5 });
const second = { issue: 2, operation: 'alice/1/write-2' };

test('a store that recovers with the acknowledged value keeps the claim', () => {
  const events = [...written, crash, recovered(5, 1, { x: 1 })];
  expect(verdictOn('acknowledged-durable', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a store that recovers without the acknowledged value breaks the claim', () => {
  const breach = breachOf('acknowledged-durable', [...written, crash, recovered(5, 1, {})]);
  expect(breach.rule).toBe('lost-in-recovery');
  expect(breach.evidence).toEqual([
    '0 grant',
    '2 lost write',
    '3 acknowledgement',
    '4 crash',
    '5 recovery',
  ]);
  expect(breach.words).toMatchInlineSnapshot(
    `"Accepted write lost by \`store\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then alice wrote 1 to \`x\` with token 1 at 2 ms, which was acknowledged at 3 ms. However, the store came back at 5 ms without it: \`store\` crashed at 4 ms."`,
  );
});

test('a write that is not acknowledged before the crash may survive or be lost', () => {
  const pending = [
    ...written,
    invoke(3, 'alice/1/write-2'),
    write(4, 'alice', 1, 2, second),
    crash,
  ];
  for (const x of [1, 2]) {
    const events = [...pending, recovered(5, 1, { x })];
    expect(verdictOn('acknowledged-durable', events)).toMatchObject({
      kind: 'valid',
      exercised: 1,
    });
  }
  expect(breachOf('acknowledged-durable', [...pending, recovered(5, 1, {})]).rule).toBe(
    'lost-in-recovery',
  );
});

test('an answer that reaches its client after the recovery is not an acknowledgement', () => {
  const [first, second, third, fourth] = written;
  if (!first || !second || !third || !fourth) throw new Error('the trace is too short');
  const events = [first, second, third, crash, recovered(5, 1, {}), fourth];
  expect(verdictOn('acknowledged-durable', events)).toMatchObject({ kind: 'valid', exercised: 0 });
});

test('a write that one recovery lost is not missing again at the next', () => {
  const lost = [...written.slice(0, 3), recovered(2.5, 1, {}), ...written.slice(3)];
  expect(verdictOn('acknowledged-durable', [...lost, recovered(7, 1, {})])).toMatchObject({
    kind: 'valid',
    exercised: 1,
  });
});

test('neither an earlier write nor one after the recovery proves that the write survived', () => {
  const overwritten = [
    ...written,
    invoke(3, 'alice/1/write-2'),
    write(4, 'alice', 1, 2, second),
    accepted(5, 'alice/1/write-2'),
  ];
  const back = breachOf('acknowledged-durable', [...overwritten, recovered(6, 1, { x: 1 })]);
  expect(back.evidence).toContain('5 lost write');
  const rewritten = write(7, 'alice', 1, 9, second);
  const never = breachOf('acknowledged-durable', [
    ...written,
    recovered(6, 1, { x: 9 }),
    rewritten,
  ]);
  expect(never.evidence).toContain('2 lost write');
});

test('a write that is never acknowledged, or only after the recovery, may be lost', () => {
  const lost = [crash, recovered(5, 1, {})];
  const unheard = [...written.slice(0, 3), unknown(3, 'alice/1/write'), ...lost];
  const late = [...written.slice(0, 3), ...lost, accepted(6, 'alice/1/write')];
  for (const events of [unheard, late, [...written.slice(0, 3), ...lost]]) {
    expect(verdictOn('acknowledged-durable', events).kind).toBe('valid');
  }
});

test('a loss in a recovery before the write excuses no later recovery', () => {
  const events = [recovered(0, 0, { x: 7 }), ...written, crash, recovered(5, 1, {})];
  expect(breachOf('acknowledged-durable', events).evidence).toContain('6 recovery');
});
