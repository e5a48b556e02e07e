import { expect, test } from 'vitest';
import {
  accepted,
  acquire,
  answer,
  enter,
  fault,
  invoke,
  leave,
  traceOf,
  unknown,
  write,
} from '../../check/trace-builder.fixture.ts';
import type { SectionEnd, Trace, TraceEvent } from '../../core/history/trace.ts';
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

/** The counts of one run. */
function countsOf(events: readonly TraceEvent[], rest: Partial<Trace> = {}) {
  const counter = new SectionCounter();
  counter.add(7, { ...traceOf(events), ...rest });
  return counter.counts();
}

function endOf(section: string, text: string | null, place: string | null = null): SectionEnd {
  const error = text === null ? null : { text, place };
  return { kind: 'section-end', atUs: 0, process: section.split('/')[0] ?? '', section, error };
}

const granted = [acquire(1, 'alice/1/acquire'), enter(2, 'alice', 1, 20)];

test('a section that has its lock was entered', () => {
  const events = [...granted, invoke(3, 'alice/1/write'), accepted(5, 'alice/1/write')];
  expect(countsOf(events)).toEqual({ ...NO_SECTIONS, began: 1, entered: 1 });
});

test('a section that asked and never had its lock gave up, unless the run was cut before', () => {
  const denied = [acquire(1, 'bob/1/acquire'), answer(3, 'bob/1/acquire', DENIED)];
  const gaveUp = { ...NO_SECTIONS, began: 1, gaveUp: 1 };
  const cut = { ending: { kind: 'cut', limit: 'end' } } as const;
  expect(countsOf(denied)).toEqual(gaveUp);
  expect(countsOf(denied, cut)).toEqual({ ...gaveUp, gaveUp: 0 });
  expect(countsOf([...denied, acquire(5, 'bob/2/acquire')], cut)).toMatchObject({ gaveUp: 1 });
});

test('a section whose access a store refused was refused, once', () => {
  const no = { isAccepted: false, highest: 9 };
  const again = [write(4, 'alice', 1, 5, no), write(5, 'alice', 1, 6, no)];
  const events = [...granted, invoke(3, 'alice/1/write'), ...again];
  expect(countsOf(events)).toMatchObject({ began: 1, entered: 1, refused: 1 });
});

test('a crash counts for a section that is under way, not for one that is over', () => {
  const crash = fault(9, 'crash', 'alice');
  expect(countsOf([...granted, crash])).toMatchObject({ entered: 1, crashed: 1 });
  expect(countsOf([...granted, leave(8, 'alice', 1), crash])).toMatchObject({ crashed: 1 });
  const over = [...granted, answer(2, 'alice/1/acquire', DENIED), leave(8, 'alice', 1), crash];
  expect(countsOf(over)).toMatchObject({ crashed: 0 });
  expect(countsOf([acquire(1, 'alice/1/acquire'), crash])).toMatchObject({ crashed: 1, gaveUp: 0 });
});

test('a crash counts for a section that waits, not for one that ended or is paused', () => {
  const asked = [acquire(1, 'bob/1/acquire'), answer(3, 'bob/1/acquire', DENIED)];
  const waiting = [...asked, fault(9, 'crash', 'bob')];
  expect(countsOf(waiting)).toEqual({ ...NO_SECTIONS, began: 1, crashed: 1 });
  const ended = countsOf(waiting, { sectionEnds: [endOf('bob/1', 'Error: no')] });
  expect(ended).toMatchObject({ began: 1, crashed: 0, gaveUp: 0, failed: [{ count: 1 }] });
  expect(countsOf([...granted, fault(9, 'pause', 'alice')])).toMatchObject({ crashed: 0 });
});

test('calls outside a section are not counted', () => {
  expect(countsOf([invoke(1, 'alice/start/read')])).toEqual(NO_SECTIONS);
});

test('without a lock, a section that reached a store was entered', () => {
  const events = [invoke(3, 'alice/1/write'), accepted(5, 'alice/1/write')];
  expect(countsOf(events, { processes: [] })).toMatchObject({ began: 1, entered: 1 });
  const lock = { name: 'lock', role: 'lock' } as const;
  expect(countsOf(events, { processes: [lock] })).toMatchObject({ began: 1, entered: 0 });
});

test('the probe does not count', () => {
  const probe = { name: 'alice', role: 'probe' } as const;
  const sectionEnds = [endOf('alice/1', 'Error: no')];
  expect(countsOf(granted, { processes: [probe], sectionEnds })).toEqual(NO_SECTIONS);
});

test('a section that returned without a guard gave up if it was denied, and was unguarded if not', () => {
  const denied = [acquire(1, 'bob/1/acquire'), answer(3, 'bob/1/acquire', DENIED)];
  const returned = { sectionEnds: [endOf('bob/1', null)] };
  expect(countsOf(denied, returned)).toMatchObject({ gaveUp: 1, unguarded: 0 });
  const unheard = [acquire(1, 'bob/1/acquire'), unknown(3, 'bob/1/acquire')];
  expect(countsOf(unheard, returned)).toMatchObject({ gaveUp: 1, unguarded: 0 });
  expect(countsOf([], returned)).toEqual({ ...NO_SECTIONS, began: 1, unguarded: 1 });
});

test('errors that differ only in ids are listed once, with their count and first seed', () => {
  const counter = new SectionCounter();
  for (const seed of [3, 4]) {
    const of = (who: string): SectionEnd =>
      endOf(`${who}/1`, `LockTimeout: lock-${seed} held by ${seed}f3-a`, 'lock.mjs:1:2');
    counter.add(seed, { ...traceOf([]), sectionEnds: [of('alice'), of('bob')] });
  }
  const error = 'LockTimeout: lock-3 held by 3f3-a';
  const failed = [{ error, place: 'lock.mjs:1:2', count: 4, firstSeed: 3 }];
  expect(counter.counts()).toEqual({ ...NO_SECTIONS, began: 4, failed });
});

test('the same error at two places is listed twice, in order of place', () => {
  const at = (line: number): SectionEnd => endOf(`bob/${line}`, 'Error: no', `lock.mjs:${line}:1`);
  const { failed } = countsOf([], { sectionEnds: [at(2), at(1), at(2)] });
  expect(failed.map(({ place, count }) => [place, count])).toEqual([
    ['lock.mjs:1:1', 1],
    ['lock.mjs:2:1', 1],
  ]);
});

test('the same few errors are kept in whatever order parts are merged', () => {
  const one = (letter: string, seed: number) => {
    const counter = new SectionCounter();
    counter.add(seed, { ...traceOf([]), sectionEnds: [endOf('bob/1', `Error: ${letter}`)] });
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

test('the fates of sections are listed, the most frequent error first', () => {
  const failed = [
    { error: 'Error: a', place: null, count: 2, firstSeed: 1 },
    { error: 'Error: b', place: 'lock.mjs:12:5', count: 1200, firstSeed: 2 },
  ];
  const counts = { ...NO_SECTIONS, began: 1300, failed, otherFailed: 8, gaveUp: 90, unguarded: 1 };
  expect(fateText(counts)).toBe(
    '1,200 ended by Error: b at lock.mjs:12:5, 10 by other errors, 90 gave up, ' +
      '1 returned without section.guard()',
  );
  expect(fateText(NO_SECTIONS)).toBe('none called a server or came to its end');
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
])('the error %j at %s reads: %s', (error, place, told) => {
  expect(errorPlace({ error, place, count: 1, firstSeed: 0 })).toBe(told);
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
    expect(countsOf([called])).toEqual({ ...NO_SECTIONS, began: 1 });
    const crashed = [called, answer(2, 'alice/1/other', DENIED), fault(3, 'crash', 'alice')];
    expect(countsOf(crashed)).toEqual({ ...NO_SECTIONS, began: 1 });
  },
);

test('events of sections that were never seen are not counted', () => {
  const no = { isAccepted: false, highest: 9 };
  const elsewhere = [write(4, 'bob', 7, 5, no), leave(5, 'bob', 7)];
  expect(countsOf([...granted, ...elsewhere])).toEqual(countsOf(granted));
});

test('each count of two parts adds up by itself', () => {
  const one = { began: 9, entered: 8, gaveUp: 7, refused: 6, crashed: 5, unguarded: 4 };
  const other = { began: 1, entered: 2, gaveUp: 3, refused: 4, crashed: 5, unguarded: 6 };
  const errors = { failed: [], otherFailed: 5 };
  expect(mergeSections({ ...one, ...errors }, { ...other, ...errors })).toEqual({
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
