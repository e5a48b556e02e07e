import { expect, test } from 'vitest';
import {
  accepted,
  acquire,
  answer,
  enter,
  invoke,
  leave,
  traceOf,
  unknown,
  write,
} from '../../check/trace-builder.fixture.ts';
import type { TraceEvent } from '../../core/history/events.ts';
import type { SectionRun, Trace } from '../../core/history/trace.ts';
import { clientOf, planOf, writeOf } from '../../systems/plan.fixture.ts';
import {
  errorPlace,
  fateText,
  KEPT_ERRORS,
  mergeSections,
  mostFirst,
  NO_SECTIONS,
  SectionCounter,
} from './sections.ts';

const DENIED = { kind: 'denied', holder: 'bob' } as const;
const PLAN = { clients: [] };

const runOf = (section: string, end: SectionRun['end']): SectionRun => {
  return { process: section.split('/')[0] ?? '', section, beganUs: 0, end };
};
const returned = (section: string, isUnguarded = false): SectionRun =>
  runOf(section, { kind: 'returned', atUs: 0, isUnguarded });
const failed = (section: string, text: string, place: string | null = null): SectionRun =>
  runOf(section, { kind: 'failed', atUs: 0, error: { text, place } });
const crashed = (section: string): SectionRun => runOf(section, { kind: 'crashed', atUs: 0 });
const open = (section: string): SectionRun => runOf(section, { kind: 'open', wait: null });

function countsOf(
  events: readonly TraceEvent[],
  sections: readonly SectionRun[],
  rest: Partial<Trace> = {},
) {
  const counter = new SectionCounter();
  counter.add(7, PLAN, { ...traceOf(events), sections, ...rest });
  return counter.counts();
}

const granted = [acquire(1, 'alice/1/acquire'), enter(2, 'alice', 1, 20)];
const denied = [acquire(1, 'bob/1/acquire'), answer(3, 'bob/1/acquire', DENIED)];

test('a section that holds its lock was entered', () => {
  const events = [...granted, invoke(3, 'alice/1/write'), accepted(5, 'alice/1/write')];
  const counts = { ...NO_SECTIONS, began: 1, entered: 1, ended: 1 };
  expect(countsOf(events, [returned('alice/1')])).toEqual(counts);
});

test('a section that asked for its lock and returned without it gave up; others ended', () => {
  const one = { ...NO_SECTIONS, began: 1 };
  expect(countsOf(denied, [returned('bob/1')])).toEqual({ ...one, gaveUp: 1 });
  expect(countsOf(denied, [open('bob/1')])).toEqual({ ...one, open: 1 });
  expect(countsOf([], [returned('bob/1')])).toEqual({ ...one, ended: 1 });
});

test('every section of a plan counts as planned, whether it began or not', () => {
  const counter = new SectionCounter();
  const plan = planOf({ clients: [clientOf('alice', [writeOf(1)]), clientOf('bob', [])] });
  counter.add(7, plan, { ...traceOf([]), sections: [] });
  counter.add(8, plan, { ...traceOf([]), sections: [returned('alice/1')] });
  expect(counter.counts()).toEqual({ ...NO_SECTIONS, planned: 4, began: 1, ended: 1 });
});

test('a section with several refused accesses counts as refused once', () => {
  const no = { isAccepted: false, highest: 9 };
  const again = [write(4, 'alice', 1, 5, no), write(5, 'alice', 1, 6, no)];
  const events = [...granted, invoke(3, 'alice/1/write'), ...again];
  const counts = { began: 1, entered: 1, refused: 1, ended: 1 };
  expect(countsOf(events, [returned('alice/1')])).toMatchObject(counts);
});

test('a section that crashed, failed or is open has no other ending', () => {
  const one = { ...NO_SECTIONS, began: 1, entered: 1 };
  expect(countsOf(granted, [crashed('alice/1')])).toEqual({ ...one, crashed: 1 });
  expect(countsOf(granted, [open('alice/1')])).toEqual({ ...one, open: 1 });
  const error = { error: 'Error: no', place: null, count: 1, firstSeed: 7 };
  const counts = { ...NO_SECTIONS, began: 1, failed: [error] };
  expect(countsOf(denied, [failed('bob/1', 'Error: no')])).toEqual(counts);
});

test('calls outside a section are not counted', () => {
  expect(countsOf([invoke(1, 'alice/start/read')], [])).toEqual(NO_SECTIONS);
});

test('without a lock, a section that reached a store was entered', () => {
  const events = [invoke(3, 'alice/1/write'), accepted(5, 'alice/1/write')];
  const runs = [returned('alice/1')];
  expect(countsOf(events, runs, { processes: [] })).toMatchObject({ began: 1, entered: 1 });
  const lock = { name: 'lock', role: 'lock' } as const;
  expect(countsOf(events, runs, { processes: [lock] })).toMatchObject({ began: 1, entered: 0 });
});

test('the probe is not counted', () => {
  const probe = { name: 'alice', role: 'probe' } as const;
  const runs = [failed('alice/1', 'Error: no'), open('alice/2')];
  expect(countsOf(granted, runs, { processes: [probe] })).toEqual(NO_SECTIONS);
});

test('a section that returned without a guard gave up if denied, else it was unguarded', () => {
  const runs = [returned('bob/1', true)];
  expect(countsOf(denied, runs)).toMatchObject({ gaveUp: 1, unguarded: 0, ended: 0 });
  const unheard = [acquire(1, 'bob/1/acquire'), unknown(3, 'bob/1/acquire')];
  expect(countsOf(unheard, runs)).toMatchObject({ gaveUp: 1, unguarded: 0, ended: 0 });
  expect(countsOf([], runs)).toEqual({ ...NO_SECTIONS, began: 1, ended: 1, unguarded: 1 });
});

test('errors that differ only in ids are listed once, with their count and first seed', () => {
  const counter = new SectionCounter();
  for (const seed of [3, 4]) {
    const of = (who: string): SectionRun =>
      failed(`${who}/1`, `LockTimeout: lock-${seed} held by ${seed}f3-a`, 'lock.mjs:1:2');
    counter.add(seed, PLAN, { ...traceOf([]), sections: [of('alice'), of('bob')] });
  }
  const error = 'LockTimeout: lock-3 held by 3f3-a';
  const errors = [{ error, place: 'lock.mjs:1:2', count: 4, firstSeed: 3 }];
  expect(counter.counts()).toEqual({ ...NO_SECTIONS, began: 4, failed: errors });
});

test('errors that differ only in the name of their process are one error', () => {
  const of = (who: string) => failed(`${who}/1`, `LeftTheWorld: ${who} leaves: fetch by alice`);
  expect(countsOf([], [of('bob'), of('carol')]).failed).toMatchObject([
    { error: 'LeftTheWorld: it leaves: fetch by alice', count: 2 },
  ]);
});

test('the same error at two places is listed twice, in order of place', () => {
  const at = (section: number, line: number): SectionRun =>
    failed(`bob/${section}`, 'Error: no', `lock.mjs:${line}:1`);
  const counts = countsOf([], [at(1, 2), at(2, 1), at(3, 2)]);
  expect(counts.failed.map(({ place, count }) => [place, count])).toEqual([
    ['lock.mjs:1:1', 1],
    ['lock.mjs:2:1', 2],
  ]);
});

test('the same errors are kept, in whatever order parts are merged', () => {
  const one = (letter: string, seed: number) => {
    const counter = new SectionCounter();
    counter.add(seed, PLAN, { ...traceOf([]), sections: [failed('bob/1', `Error: ${letter}`)] });
    return counter.counts();
  };
  const all = [...'qwertyuiopasdfghjklqazwsx'].map(one);
  const ahead = all.reduce(mergeSections, NO_SECTIONS);
  const backwards = [...all].reverse().reduce(mergeSections, NO_SECTIONS);
  const half = all.slice(0, 12).reduce(mergeSections, NO_SECTIONS);
  const rest = all.slice(12).reduce(mergeSections, NO_SECTIONS);
  expect(ahead.failed.length).toBe(KEPT_ERRORS);
  expect(ahead.failed.map(({ error }) => error).slice(0, 2)).toEqual(['Error: a', 'Error: d']);
  expect(ahead.failed[0]).toMatchObject({ count: 2, firstSeed: 10 });
  expect(backwards).toEqual(ahead);
  expect(mergeSections(rest, half)).toEqual(ahead);
});

test('the outcomes of sections are listed, the most frequent error first', () => {
  const errors = [
    { error: 'Error: a', place: null, count: 2, firstSeed: 1 },
    { error: 'Error: b', place: 'lock.mjs:12:5', count: 1200, firstSeed: 2 },
  ];
  const ends = { began: 1300, otherFailed: 8, gaveUp: 90, unguarded: 1, open: 20 };
  expect(fateText({ ...NO_SECTIONS, ...ends, failed: errors })).toBe(
    '1,200 ended by Error: b at lock.mjs:12:5, 10 by other errors, 90 gave up, ' +
      '1 returned without section.guard(), 20 never ended',
  );
  expect(fateText(NO_SECTIONS)).toBe('none began');
  const one = { ...NO_SECTIONS, began: 1234 };
  expect(fateText(one)).toBe('1,234 began');
  expect(fateText({ ...one, crashed: 1000 })).toBe('1,000 crashed');
  expect(fateText({ ...one, otherFailed: 2000 })).toBe('2,000 by other errors');
});

test.each([
  ['Error: no lock.', 'lock.mjs:1:2', 'Error: no lock at lock.mjs:1:2'],
  ['Error: 1.5 s. Too late', 'lock.mjs:1:2', 'Error: 1.5 s. Too late at lock.mjs:1:2'],
  ['Error: no lock.', null, 'Error: no lock.'],
  ['Error: at lock.mjs:1:2.', 'lock.mjs:1:2', 'Error: at lock.mjs:1:2.'],
])('the error %j at %s reads: %s', (error, place, expected) => {
  expect(errorPlace({ error, place, count: 1, firstSeed: 0 })).toBe(expected);
});

test('equally frequent errors are listed by their lowest seed', () => {
  const of = (firstSeed: number, count: number) => ({ error: '', place: null, count, firstSeed });
  const sorted = mostFirst([of(3, 1), of(9, 2), of(1, 1), of(5, 2)]);
  expect(sorted.map(({ firstSeed }) => firstSeed)).toEqual([5, 9, 1, 3]);
});

test.each(['renew', 'release'] as const)(
  'a section that only calls %s has not asked for the lock',
  (verb) => {
    const call = { verb, lock: 'db', token: 1 };
    const called = { ...acquire(1, 'alice/1/other'), call };
    const ended = { ...NO_SECTIONS, began: 1, ended: 1 };
    expect(countsOf([called], [returned('alice/1')])).toEqual(ended);
  },
);

test('events of unknown sections are not counted', () => {
  const no = { isAccepted: false, highest: 9 };
  const elsewhere = [write(4, 'bob', 7, 5, no), leave(5, 'bob', 7)];
  const runs = [returned('alice/1')];
  expect(countsOf([...granted, ...elsewhere], runs)).toEqual(countsOf(granted, runs));
});

test('each count of two parts adds up separately', () => {
  const one = { began: 9, entered: 8, gaveUp: 7, refused: 6, crashed: 5, unguarded: 4 };
  const other = { began: 1, entered: 2, gaveUp: 3, refused: 4, crashed: 5, unguarded: 6 };
  const errors = { failed: [], otherFailed: 5 };
  const parts = [
    { ...one, ...errors, planned: 9, ended: 7, open: 1 },
    { ...other, ...errors, planned: 1, ended: 3, open: 9 },
  ] as const;
  expect(mergeSections(...parts)).toEqual({
    planned: 10,
    ended: 10,
    open: 10,
    began: 10,
    entered: 10,
    gaveUp: 10,
    refused: 10,
    crashed: 10,
    unguarded: 10,
    failed: [],
    otherFailed: 10,
  });
});
