import { expect, test } from 'vitest';
import type { TraceEvent } from '../core/history/events.ts';
import type { Ending, SectionEnd, SectionRun, Trace } from '../core/history/trace.ts';
import { judge } from './claims.ts';
import { explain } from './explain.ts';
import { inWords } from './in-words.fixture.ts';
import {
  acquire,
  answer,
  deny,
  enter,
  fault,
  grant,
  invoke,
  keyChange,
  leave,
  terms,
  traceOf,
} from './trace-builder.fixture.ts';

const HEALED: TraceEvent = { kind: 'healed', atUs: 60_000 };
const OPEN: SectionEnd = { kind: 'open', wait: null };
const RETURNED: SectionEnd = { kind: 'returned', atUs: 50_000, isUnguarded: false };
const TRUNCATED: Ending = { kind: 'cut', limit: 'end' };

function runOf(section: string, end: SectionEnd, beganMs = 0): SectionRun {
  return { process: section.split('/')[0] ?? '', section, beganUs: beganMs * 1000, end };
}

function traceWith(
  events: readonly TraceEvent[],
  sections: readonly SectionRun[],
  ending?: Ending,
): Trace {
  return { ...traceOf(events, ending), sections };
}

function verdictOn(trace: Trace, claim = 'progress', endUs = terms.endUs) {
  const [verdict] = judge(trace, { ...terms, endUs }, [claim]);
  if (verdict === undefined) throw new Error('no verdict');
  return verdict;
}

function storyOf(trace: Trace) {
  const verdict = verdictOn(trace);
  if (verdict.kind !== 'invalid') throw new Error(`progress is ${verdict.kind}`);
  const evidence = verdict.evidence.map(({ role, event }) => `${event} ${role}`);
  return { evidence, words: inWords(explain(trace, verdict)) };
}

test('a section that never ended breaks `progress`; one that ended or crashed does not', () => {
  const of = (end: SectionEnd) => verdictOn(traceWith([HEALED], [runOf('alice/1', end)])).kind;
  expect(of(OPEN)).toBe('invalid');
  expect(of(RETURNED)).toBe('valid');
  expect(of({ kind: 'crashed', atUs: 50_000 })).toBe('valid');
  expect(of({ kind: 'failed', atUs: 50_000, error: { text: 'no', place: null } })).toBe('valid');
});

test('the words name the wait, the call without an answer and the faults of the section', () => {
  const wait = { sinceUs: 12_000, place: 'mutex.mjs:7' };
  const sections = [runOf('alice/1', RETURNED), runOf('alice/2', { kind: 'open', wait }, 3)];
  const events = [
    acquire(3, 'alice/2/acquire'),
    fault(4, 'pause', 'alice'),
    answer(5, 'alice/2/acquire', { kind: 'denied', holder: 'bob' }),
    acquire(12, 'alice/2/acquire-2'),
    fault(13, 'drop', 'alice', { target: 'alice/2/acquire-2/1/request' }),
    HEALED,
  ];
  const { evidence, words } = storyOf(traceWith(events, sections));
  expect(evidence).toEqual(['1 pause', '3 open call', '4 drop']);
  expect(words).toMatchInlineSnapshot(
    `"alice's section 2 never ended; waiting since 12 ms at mutex.mjs:7. Then alice took its last step at 12 ms. However, its section never ended, although its process was up and the world had healed: its call \`alice/2/acquire-2\`, sent at 12 ms, has no answer: alice was paused from 4 ms, before its acquire and alice's acquire (\`alice/2/acquire-2\`) was lost."`,
  );
});

test('among several unended sections, the one that holds the lock is named', () => {
  const events = [
    grant(1, 'bob', 1),
    enter(2, 'bob', 1, 20),
    acquire(3, 'alice/1/acquire'),
    deny(4, 'alice', 1),
    HEALED,
  ];
  const sections = [runOf('alice/1', OPEN), runOf('bob/1', OPEN)];
  expect(storyOf(traceWith(events, sections)).words).toMatch(/^bob's section 1 never ended\./);
  const left = [...events.slice(0, 4), leave(5, 'bob', 1), HEALED];
  expect(storyOf(traceWith(left, sections)).words).toMatchInlineSnapshot(
    `"alice's section 1 never ended. Then alice took its last step at 3 ms. However, its section never ended, although its process was up and the world had healed: alice held \`db\` at 4 ms and its call \`alice/1/acquire\`, sent at 3 ms, has no answer."`,
  );
});

test('a section that is denied a key waits for the client that took it', () => {
  const taking = 'bob/1/set/1/request';
  const denied = keyChange(6, 'alice', { isDone: false, holder: 'bob', taking });
  const events = [keyChange(1, 'bob', { message: taking }), denied, HEALED];
  const { words } = storyOf(traceWith(events, [runOf('alice/1', OPEN)]));
  expect(words).toContain('the world had healed: bob held `db` at 6 ms');
});

test('a section without events is named all the same', () => {
  const { evidence, words } = storyOf(traceWith([HEALED], [runOf('alice/1', OPEN)]));
  expect(evidence).toEqual(['0 healed']);
  expect(words).toMatchInlineSnapshot(
    `"alice's section 1 never ended. However, its section never ended, although its process was up and the world had healed."`,
  );
});

test('a truncated run breaks the claim 2 × ttl + slack after healing and the section’s start', () => {
  const at = (endMs: number, beganMs = 0, events: readonly TraceEvent[] = [HEALED]) =>
    verdictOn(
      traceWith(events, [runOf('alice/1', OPEN, beganMs)], TRUNCATED),
      'progress',
      endMs * 1000,
    ).kind;
  expect([at(80.999), at(81)]).toEqual(['unknown', 'invalid']);
  expect([at(90.999, 70), at(91, 70)]).toEqual(['unknown', 'invalid']);
  expect(at(1000, 0, [])).toBe('unknown');
  const probe = { process: 'probe', section: 'probe/1', beganUs: 0, end: OPEN };
  expect(verdictOn(traceWith([HEALED], [probe], TRUNCATED)).kind).toBe('unknown');
  expect(verdictOn(traceWith([HEALED], [probe])).kind).toBe('invalid');
  const events = traceWith([HEALED], [runOf('alice/1', OPEN)], { kind: 'cut', limit: 'maxEvents' });
  expect(verdictOn(events).kind).toBe('unknown');
});

test('an unended section that waits in line and used no store leaves other claims judged', () => {
  const sections = [runOf('bob/9', OPEN)];
  const inLine = { ...deny(4, 'bob', 1), waits: true } as const;
  const events = [grant(1, 'alice', 1), acquire(3, 'bob/9/acquire'), inLine, HEALED];
  const of = (more: readonly TraceEvent[]) =>
    verdictOn(traceWith([...events, ...more], sections), 'mutual-exclusion').kind;
  expect(of([])).toBe('valid');
  expect(of([invoke(5, 'bob/9/read')])).toBe('unknown');
  expect(verdictOn(traceWith(events, sections)).kind).toBe('invalid');
  const sentAway = [grant(1, 'alice', 1), deny(4, 'bob', 1)];
  expect(verdictOn(traceWith(sentAway, sections), 'mutual-exclusion').kind).toBe('unknown');
});

test('if a section never ended, no claim holds, but a broken claim stays broken', () => {
  const sections = [runOf('alice/1', OPEN)];
  const reason = "alice's section 1 never ended";
  const quiet = verdictOn(traceWith([grant(1, 'alice', 1)], sections), 'mutual-exclusion');
  expect(quiet).toMatchObject({ kind: 'unknown', reason });
  const both = [grant(1, 'alice', 1), grant(2, 'bob', 2)];
  expect(verdictOn(traceWith(both, sections), 'mutual-exclusion').kind).toBe('invalid');
});

function took(ms: number, client: string, key: string): TraceEvent {
  const taking = `${client}/1/${key}/1/request`;
  return keyChange(ms, client, { key, message: taking, holder: client, taking, untilUs: null });
}

function wanted(ms: number, client: string, key: string, holder: string): TraceEvent {
  const message = `${client}/1/${key}/1/request`;
  const taking = `${holder}/1/${key}/1/request`;
  return keyChange(ms, client, { key, message, holder, taking, isDone: false });
}

const PAIR = [runOf('alice/1', OPEN), runOf('bob/1', OPEN)];
const CROSSED = [
  took(1, 'alice', 'a'),
  took(2, 'bob', 'b'),
  wanted(3, 'alice', 'b', 'bob'),
  wanted(4, 'bob', 'a', 'alice'),
];

test('sections that wait for each other are a deadlock, which names who holds what', () => {
  const { evidence, words } = storyOf(traceWith([...CROSSED, HEALED], PAIR));
  expect(evidence).toEqual(['0 held in circle', '1 held in circle', '2 denial', '3 denial']);
  expect(words).toBe(
    'Deadlock over `a` and `b`: each waits for the other. Then alice has held `a` since 1 ms and waits for `b`; bob has held `b` since 2 ms and waits for `a`. However, none of their sections ended, although the world had healed.',
  );
  const itself = [took(1, 'alice', 'a'), wanted(3, 'alice', 'a', 'alice'), HEALED];
  expect(storyOf(traceWith(itself, PAIR.slice(0, 1))).words).toMatch(/^Deadlock over `a`: /);
});

test('a key that was removed since, or whose section ended, closes no circle', () => {
  const removed = keyChange(5, 'bob', {
    key: 'b',
    change: 'removed',
    holder: 'bob',
    taking: 'bob/1/b/1/request',
  });
  const { words } = storyOf(traceWith([...CROSSED, removed, HEALED], PAIR));
  expect(words).toMatch(/never ended/);
  const sections = [runOf('alice/1', OPEN), runOf('bob/1', RETURNED)];
  expect(storyOf(traceWith([...CROSSED, HEALED], sections)).words).toMatch(/^alice's section 1/);
});

test('clients of a lock service that wait for each other are a deadlock too', () => {
  const grants = [grant(1, 'alice', 1, { untilUs: null }), grant(2, 'bob', 2, { untilUs: null })];
  const denials = [deny(3, 'alice', 2), deny(4, 'bob', 1)].map((event) => {
    return { ...event, holder: event.client === 'alice' ? 'bob' : 'alice' };
  });
  const { words } = storyOf(traceWith([...grants, ...denials, HEALED], PAIR));
  expect(words).toMatch(/alice has held `db` since 1 ms and waits for `db`; bob has held `db`/);
});
