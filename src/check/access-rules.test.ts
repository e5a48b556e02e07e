/** Tests the words that several claims share for an access that the store should have refused. */
import { describe, expect, test } from 'vitest';
import type { TraceEvent, Write } from '../core/history/events.ts';
import { acceptance, issueOrder, lostInRecovery, writeAfterRead } from './access-rules.ts';
import { Contradiction, type Sentences } from './explanation.ts';
import {
  accepted,
  enter,
  fault,
  grant,
  read,
  recovered,
  traceOf,
  write,
} from './trace-builder.fixture.ts';

/** An event and its role; an event without a role is not evidence. */
type Shown = readonly [TraceEvent, string?];

function shownBy(...events: readonly Shown[]): Contradiction {
  const evidence = events.flatMap(([, role], event) => (role === undefined ? [] : { role, event }));
  const trace = traceOf(events.map(([event]) => event));
  return new Contradiction(trace, { claim: 'c', rule: 'r', evidence });
}

const FIRST = [grant(0, 'alice', 1), 'earlier grant'] as const;
const SECOND = [grant(12, 'bob', 2), 'later grant'] as const;

describe('the reason why a store took a stale write is', () => {
  const later = write(15, 'bob', 2, 2);
  const asked = (why: string, stale: Write, ...more: readonly Shown[]): void => {
    const shown = shownBy(FIRST, SECOND, [later, 'later write'], ...more, [stale, 'stale write']);
    expect(acceptance(shown, later, stale)).toBe(why);
  };
  const staleWith = (more: Partial<Write>): Write => write(21, 'alice', 1, 1, more);

  test.each<[string, Partial<Write>]>([
    [' without a token', { token: 0 }],
    [': its token, 2, is not below 2', { token: 2 }],
    [': its token, 3, is not below 2', { token: 3, key: 'y' }],
    [': for `y`, the store knew no token above 0', { key: 'y' }],
    [' although it had already accepted token 2', { highest: 0 }],
    [' although it had already accepted token 2', { highest: 2 }],
    [' although it had already accepted token 2', { highest: 1 }],
    [': for `y`, the store knew no token above 1', { key: 'y', highest: 1 }],
    [' although it had already accepted token 2', { key: 'y', highest: 2 }],
  ])('%j: %j', (why, more) => {
    asked(why, staleWith(more));
  });

  test('that it recovered with a lower highest token, if it did, and another reason if not', () => {
    const back = (highest: number): readonly [TraceEvent, string] => {
      return [recovered(18, highest, {}), 'recovery'];
    };
    asked(
      ': the store came back at 18 ms and had forgotten token 2',
      staleWith({ highest: 1 }),
      back(1),
    );
    asked(' although it had already accepted token 2', staleWith({ highest: 1 }), back(2));
  });

  test('empty if no access of the run has a token', () => {
    const none = { token: 0 };
    const stale = write(21, 'alice', 1, 1, none);
    const last = write(15, 'bob', 2, 2, none);
    const shown = shownBy([grant(0, 'alice', 1, none)], [last], [stale]);
    expect(acceptance(shown, last, stale)).toBe('');
  });
});

describe('a write after a later holder had read', () => {
  const sentencesAfter = (...more: readonly TraceEvent[]): Sentences =>
    writeAfterRead(
      shownBy(
        FIRST,
        SECOND,
        ...more.map((event) => [event] as const),
        [read(15, 'bob', 2, 0), 'later read'],
        [write(21, 'alice', 1, 1), 'stale write'],
        [write(22, 'bob', 2, 2)],
      ),
    );

  test('is described by its effect on the reader', () => {
    expect(sentencesAfter()).toEqual({
      headline: 'Write accepted by `store` after a later holder had read',
      next: 'bob read 0 from `x` with token 2 at 15 ms',
      however:
        "alice's write of 1 to `x` came with token 1 at 21 ms, and the store accepted it " +
        'although bob had already read `x`',
    });
  });

  test('is described by the higher token that the store had taken there, if any', () => {
    const words = sentencesAfter(write(14, 'bob', 2, 2));
    expect(words.headline).toBe('Stale write accepted by `store`');
    expect(words.however).toMatch(/ accepted it although it had already accepted token 2$/);
  });

  test('is described by the ended lease of the reader, if it had ended', () => {
    const words = sentencesAfter(enter(22.5, 'bob', 2, 30));
    expect(words.headline).toBe('bob read from `store` under a lease that was over');
    expect(words.next).toBe('alice wrote 1 to `x` with token 1 at 21 ms under A');
  });

  test.each<[string, TraceEvent]>([
    ['refused', write(14, 'bob', 2, 2, { isAccepted: false })],
    ['in another store', write(14, 'bob', 2, 2, { process: 'other' })],
    ['of another resource', write(14, 'bob', 2, 2, { resource: 'disk' })],
    ['of its own token', write(14, 'alice', 1, 2)],
    ['a read', read(14, 'bob', 2, 0)],
  ])('is not described by a higher token if that was %s', (_, event) => {
    expect(sentencesAfter(event).headline).toMatch(/after a later holder had read$/);
  });
});

test('writes out of order are described with their issue order', () => {
  const older = write(9, 'alice', 1, 1);
  const newer = write(5, 'alice', 1, 2, { issue: 2, operation: 'alice/1/write-2' });
  const grantOf = [grant(0, 'alice', 1), 'grant'] as const;
  const words = issueOrder(shownBy(grantOf, [newer, 'newer write'], [older, 'older write']));
  expect(words.next).toBe('alice wrote 2 to `x` with token 1 at 5 ms');
  expect(words.however).toMatch(/although it had been issued earlier under A$/);
  expect(issueOrder(shownBy([older, 'older write'])).next).toBe('');
});

describe('a write lost in a recovery is described', () => {
  const lost = [write(2, 'alice', 1, 7), 'lost write'] as const;
  const back = [recovered(9, 0, {}), 'recovery'] as const;

  test('with its acknowledgement, the recovery, and the read of the remaining value', () => {
    const words = lostInRecovery(
      shownBy(
        FIRST,
        lost,
        [accepted(3, 'alice/1/write'), 'acknowledgement'],
        [fault(5, 'crash', 'store'), 'crash'],
        back,
        [read(10, 'alice', 1, 0), 'read'],
      ),
    );
    expect(words).toMatchObject({
      headline: 'Accepted write lost by `store`',
      next: 'alice wrote 7 to `x` with token 1 at 2 ms, which was acknowledged at 3 ms',
      however:
        'the store came back at 9 ms without it, and alice read 0 from `x` with token 1 at 10 ms',
    });
  });

  test('with only the events that the evidence contains', () => {
    const none = { headline: 'Accepted write lost by `store`', next: '', however: '' };
    expect(lostInRecovery(shownBy())).toMatchObject(none);
    expect(lostInRecovery(shownBy(back))).toMatchObject({
      headline: 'Accepted write lost by `store`',
      however: 'the store came back at 9 ms without it',
    });
    expect(lostInRecovery(shownBy(FIRST, lost)).next).toBe(
      'alice wrote 7 to `x` with token 1 at 2 ms',
    );
  });
});
