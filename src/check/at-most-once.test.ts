import { describe, expect, test } from 'vitest';
import type { Deliver, Job, TraceEvent } from '../core/history/events.ts';
import {
  breachOf,
  fault,
  grant,
  keyChange,
  pause,
  release,
  verdictOn,
} from './trace-builder.fixture.ts';

/** `alice/1` begins, ends or skips the tick under grant 1; `alice/0` does so under no grant. */
function job(ms: number, section: string, phase: Job['phase'], tick: number): Job {
  const [process = '', number = ''] = section.split('/');
  const what = { process, phase, section, lock: 'db', tick, ordinal: Number(number) };
  return { kind: 'job', atUs: ms * 1000, ...what };
}

const once: readonly TraceEvent[] = [
  grant(0, 'alice', 1),
  job(1, 'alice/1', 'begin', 1),
  job(2, 'alice/1', 'end', 1),
  release(3, 'alice', 1),
  grant(4, 'bob', 2),
];

describe('a job', () => {
  test('that runs once per tick keeps the claim without exercising it', () => {
    const events = [...once, job(5, 'bob/2', 'begin', 2), job(6, 'bob/2', 'end', 2)];
    expect(verdictOn('at-most-once', events)).toMatchObject({ kind: 'valid', exercised: 0 });
  });

  test('whose second delivery is skipped keeps the claim', () => {
    const events = [...once, job(5, 'bob/2', 'skip', 1)];
    expect(verdictOn('at-most-once', events)).toMatchObject({ kind: 'valid', exercised: 1 });
  });

  test('whose second delivery is denied the key of the first keeps the claim', () => {
    const taken = keyChange(0, 'alice', { message: 'alice/1/set/1/request' });
    const denied = (client: string): TraceEvent =>
      keyChange(5, client, {
        message: `${client}/1/set/1/request`,
        isDone: false,
        taking: 'alice/1/set/1/request',
      });
    const ran = [taken, ...once];
    expect(verdictOn('at-most-once', [...ran, denied('bob')])).toMatchObject({ exercised: 1 });
    expect(verdictOn('at-most-once', [...ran, denied('probe')])).toMatchObject({ exercised: 0 });
    // A denial does not count if its section ran the job as well.
    expect(verdictOn('at-most-once', [...ran, denied('alice')])).toMatchObject({ exercised: 0 });
  });

  test('of a section may not run while a job under another guard of that section runs', () => {
    const other = (ms: number, phase: Job['phase']): Job => {
      return { ...job(ms, 'alice/1', phase, 2), ordinal: 2 };
    };
    const inside = [...once.slice(0, 2), other(2, 'begin'), other(3, 'end')];
    expect(breachOf('at-most-once', inside).rule).toBe('ran-at-once');
    const before = [...once, job(5, 'alice/1', 'begin', 3), job(6, 'alice/1', 'end', 3)];
    expect(verdictOn('at-most-once', [...before, other(7, 'begin')]).kind).toBe('valid');
  });

  test('of another lock is another job', () => {
    const other = { ...job(5, 'bob/2', 'begin', 1), lock: 'mail' };
    expect(verdictOn('at-most-once', [...once, other]).kind).toBe('valid');
  });

  test('that is delivered twice runs again if the first run is not recorded', () => {
    const breach = breachOf('at-most-once', [...once, job(5, 'bob/2', 'begin', 1)]);
    expect(breach.rule).toBe('ran-again');
    expect(breach.evidence).toEqual([
      '0 earlier grant',
      '1 earlier run',
      '4 later grant',
      '5 later run',
    ]);
    expect(breach.words).toMatchInlineSnapshot(
      `"Job 1 of \`db\` ran again. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 4 ms). Then alice began job 1 under A at 1 ms. However, bob began job 1 under B at 5 ms."`,
    );
  });

  const paused = [
    grant(0, 'alice', 1),
    job(1, 'alice/1', 'begin', 1),
    pause(2, 'alice', 30),
    grant(12, 'bob', 2),
  ];

  test('that outlives its lease runs at the same time as the next', () => {
    const breach = breachOf('at-most-once', [...paused, job(13, 'bob/2', 'begin', 1)]);
    expect(breach.rule).toBe('ran-at-once');
    expect(breach.evidence).toContain('2 pause');
    expect(breach.words).toMatchInlineSnapshot(
      `"Job 1 of \`db\` ran twice at once. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 12 ms). Then alice began job 1 under A at 1 ms. However, bob began job 1 under B at 13 ms, before alice had ended its own: alice was paused from 2 ms to 30 ms."`,
    );
    const next = breachOf('at-most-once', [...paused, job(13, 'bob/2', 'begin', 2)]);
    expect(next.words).toMatchInlineSnapshot(
      `"Jobs 1 and 2 of \`db\` ran at once. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 12 ms). Then alice began job 1 under A at 1 ms. However, bob began job 2 under B at 13 ms, before alice had ended its own: alice was paused from 2 ms to 30 ms."`,
    );
  });

  test('that a crash interrupted counts as run but no longer runs', () => {
    const crashed = [...paused.slice(0, 2), fault(2, 'crash', 'alice'), grant(12, 'bob', 2)];
    expect(breachOf('at-most-once', [...crashed, job(13, 'bob/2', 'begin', 1)]).rule).toBe(
      'ran-again',
    );
    expect(verdictOn('at-most-once', [...crashed, job(13, 'bob/2', 'begin', 2)]).kind).toBe(
      'valid',
    );
  });

  test('that no lock guards is explained without grants', () => {
    const events = [
      job(0, 'alice/0', 'begin', 1),
      pause(1, 'alice', 4),
      job(2, 'bob/0', 'begin', 1),
    ];
    const breach = breachOf('at-most-once', events);
    expect(breach.evidence).toEqual(['0 earlier run', '1 pause', '2 later run']);
    expect(breach.words).toContain('alice began job 1 under no grant at 0 ms');
  });
});

test.each([
  [', since the queue delivered a copy of its message at 12 ms', { isCopy: true, deliveries: 1 }],
  [', since the queue delivered its message again at 12 ms', { isCopy: false, deliveries: 2 }],
  ['', { isCopy: false, deliveries: 1 }],
  ['', { isCopy: true, client: 'carol' }],
  ['', { isCopy: true, lock: 'mail' }],
])(
  'jobs that run at once are explained with the last delivery of the message: %j',
  (words, more) => {
    const deliver: Deliver = {
      kind: 'deliver',
      atUs: 12_000,
      process: 'queue',
      client: 'bob',
      lock: 'db',
      steps: 1,
      retries: 0,
      deliveries: 1,
      untilUs: 20_000,
      ...more,
    };
    const events = [
      grant(0, 'alice', 1),
      job(1, 'alice/1', 'begin', 1),
      grant(11, 'bob', 2),
      deliver,
      job(13, 'bob/2', 'begin', 1),
      { ...deliver, isCopy: true, atUs: 14_000 },
    ];
    const breach = breachOf('at-most-once', events);
    expect(breach.rule).toBe('ran-at-once');
    const ended = `before alice had ended its own${words}.`;
    expect(breach.words.slice(-ended.length)).toBe(ended);
  },
);

test('a breach shows faults of the holder and its lock server since the acquire was sent', () => {
  const asked = grant(2, 'alice', 1, { sentAtUs: 0 });
  const faults = [pause(1, 'alice', 1.5), fault(3, 'crash', 'lock'), pause(3, 'store', 4)];
  const [paused, ...rest] = faults;
  if (paused === undefined) throw new Error('nobody is paused');
  const events = [paused, asked, ...rest, job(5, 'alice/1', 'begin', 1)];
  const breach = breachOf('at-most-once', [...events, job(6, 'bob/0', 'begin', 1)]);
  expect(breach.evidence).toEqual([
    '0 pause',
    '1 earlier grant',
    '2 crash',
    '4 earlier run',
    '5 later run',
  ]);
});
