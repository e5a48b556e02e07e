import { describe, expect, test } from 'vitest';
import { keyChange } from '../check/trace-builder.fixture.ts';
import type { Job, KeyChange, TraceEvent } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import { environmentOf } from './environment.ts';
import { eventText } from './event-phrases.ts';

const trace: Trace = {
  processes: [],
  events: [],
  ending: { kind: 'complete' },
  unmatched: [],
};

test.each<[Job['phase'], string]>([
  ['begin', 'starts job 7 of db'],
  ['end', 'ends job 7 of db'],
  ['skip', 'skips job 7 of db'],
])('a job whose phase is %s reads "%s"', (phase, words) => {
  const what = { process: 'alice', section: 'alice/1', lock: 'db', tick: 7, ordinal: 1 };
  const event: Job = { kind: 'job', atUs: 0, phase, ...what };
  expect(eventText(event, environmentOf(trace))).toBe(words);
});

test('a denied claim reads as a key that an earlier delivery holds', () => {
  const answer = { kind: 'denied', holder: 'an earlier delivery' } as const;
  const event: TraceEvent = {
    kind: 'return',
    atUs: 0,
    process: 'alice',
    outcome: 'ok',
    operation: 'alice/1/claim',
    answer,
  };
  expect(eventText(event, environmentOf(trace))).toContain('an earlier delivery holds it');
});

test.each([
  [0, 'enters db for 10 ms, until 12 ms'],
  [7, 'enters with token 7 for 10 ms, until 12 ms'],
])('a grant with token %s that only its client reports reads "%s"', (token, words) => {
  const event: TraceEvent = {
    kind: 'grant',
    atUs: 2000,
    process: 'alice',
    client: 'alice',
    lock: 'db',
    ordinal: 1,
    token,
    ttlUs: 10_000,
    sentAtUs: 2000,
    untilUs: 12_000,
    message: '',
  };
  expect(eventText(event, environmentOf(trace))).toBe(words);
});

describe('a lock of several nodes and no tokens', () => {
  const nodes = ['lock-1', 'lock-2'].map((name) => ({ name, role: 'lock' }) as const);
  const operation = 'alice/1/acquire/lock-2';
  const call = { verb: 'acquire', lock: 'db', token: 0 } as const;
  const between = { from: 'lock-2', to: 'alice', message: `${operation}/1/reply` };
  const asked = { from: 'alice', to: 'lock-2', message: `${operation}/1/request` };
  const set = { kind: 'set', key: 'db', value: 7, ttlUs: 10_000 };
  const events: readonly TraceEvent[] = [
    { kind: 'invoke', atUs: 0, process: 'alice', operation, call },
    { kind: 'send', atUs: 0, ...asked, body: set },
    { kind: 'send', atUs: 1000, ...between, body: { kind: 'done' } },
    { kind: 'receive', atUs: 2000, ...between, isCopy: false },
    {
      kind: 'return',
      atUs: 2000,
      process: 'alice',
      operation,
      outcome: 'ok',
      answer: { kind: 'granted', token: 0 },
    },
    {
      kind: 'grant',
      atUs: 2000,
      process: 'alice',
      client: 'alice',
      lock: 'db',
      ordinal: 1,
      token: 0,
      ttlUs: 10_000,
      sentAtUs: 0,
      untilUs: 11_000,
      message: '',
    },
    { kind: 'recovered', atUs: 3000, process: 'store', resource: 'db', highest: 0, values: {} },
  ];
  const around = environmentOf({ ...trace, processes: nodes, events });

  test('is described by the requests to each node, and what that node did', () => {
    expect(events.map((event) => eventText(event, around))).toEqual([
      'calls acquire at lock-2',
      'sends acquire → lock-2',
      'sets db for alice, ttl 10 ms',
      'gets answer to acquire at lock-2',
      'acquire at lock-2: granted',
      'grants db to alice for 10 ms, until 11 ms',
      'recovers',
    ]);
  });

  test('has no nodes if one of its servers grants it', () => {
    const byServer = events.map((event) =>
      event.kind === 'grant' ? { ...event, process: 'lock-1' } : event,
    );
    expect(environmentOf({ ...trace, processes: nodes, events: byServer }).nodes.size).toBe(0);
  });
});

test('a log of a service has no topic; that of a program names it', () => {
  const store = { ...trace, processes: [{ name: 'lock', role: 'lock' } as const] };
  const log = { kind: 'log', atUs: 0, topic: 'line', text: 'bob waits no more' } as const;
  const around = environmentOf(store);
  expect(eventText({ ...log, process: 'lock' }, around)).toBe('bob waits no more');
  expect(eventText({ ...log, process: 'bob' }, around)).toBe('logs line: bob waits no more');
});

describe('a key that another client took', () => {
  const change = { ...keyChange(2, 'bob', { holder: 'alice' }) };
  test.each<[KeyChange['change'], boolean, string]>([
    ['taken', false, 'denies bob `db`, which alice had taken'],
    ['untracked', true, 'bob writes to `db`, which alice had taken'],
    ['removed', false, "leaves `db` unchanged: it is not bob's"],
  ])('that is %s (done: %s) reads "%s"', (kind, isDone, words) => {
    const event = { ...change, change: kind, isDone };
    expect(eventText(event, environmentOf(trace))).toBe(words);
  });
});
