import { expect, test } from 'vitest';
import type { Receive, TraceEvent } from '../core/history/events.ts';
import { intentOf, isCarriedOut, unheardReads } from './contents.ts';
import {
  accepted,
  answer,
  grant,
  invoke,
  read,
  traceOf,
  unknown,
  verdictOn,
  write,
} from './trace-builder.fixture.ts';
import { indexTrace } from './trace-index.ts';

/** The reply to one attempt of a read reaches bob. */
function reply(ms: number, operation: string, attempt: number): Receive {
  const message = `${operation}/${attempt}/reply`;
  const ends = { from: 'store', to: 'bob', message, isCopy: false };
  return { kind: 'receive', atUs: ms * 1000, ...ends };
}

function countUnheard(events: readonly TraceEvent[]): number {
  return unheardReads(indexTrace(traceOf(events))).size;
}

const twice = { message: 'bob/1/read/2/request' };
const zero = { kind: 'value', value: 0 } as const;

test('the answer to a read is heard unless its client gave up', () => {
  const asked = [grant(1, 'bob', 1), invoke(2, 'bob/1/read'), read(3, 'bob', 1, 0)];
  expect(countUnheard([...asked, answer(4, 'bob/1/read', zero)])).toBe(0);
  expect(countUnheard([...asked, unknown(4, 'bob/1/read')])).toBe(1);
  expect(countUnheard(asked)).toBe(1);
});

test('a copy of a read that is executed after the write changes no verdict', () => {
  const events = [
    grant(1, 'bob', 1),
    invoke(2, 'bob/1/read'),
    read(3, 'bob', 1, 0),
    reply(4, 'bob/1/read', 1),
    answer(4, 'bob/1/read', zero),
    write(5, 'bob', 1, 1, { issue: 2 }),
    read(6, 'bob', 1, 1),
  ];
  expect(countUnheard(events)).toBe(1);
  expect(verdictOn('grant-order', events).kind).toBe('valid');
});

test('of two attempts only the one whose reply arrived is heard', () => {
  const events = [
    grant(1, 'bob', 1),
    invoke(2, 'bob/1/read'),
    read(3, 'bob', 1, 0, twice),
    reply(4, 'bob/1/read', 2),
    answer(4, 'bob/1/read', zero),
    write(5, 'bob', 1, 1, { issue: 2 }),
    read(6, 'bob', 1, 1),
  ];
  expect(countUnheard(events)).toBe(1);
  expect(verdictOn('grant-order', events).kind).toBe('valid');
});

test('a heard value that does not fit still breaks grant-order', () => {
  const events = [
    grant(1, 'bob', 1),
    invoke(2, 'bob/1/read'),
    read(3, 'bob', 1, 7),
    answer(4, 'bob/1/read', { kind: 'value', value: 7 }),
  ];
  expect(verdictOn('grant-order', events).kind).toBe('invalid');
});

test('an operation is carried out if it or a repetition of it succeeds', () => {
  const first = invoke(1, 'alice/1/write');
  const means = { repeats: 'alice/1/write' };
  const again = [invoke(3, 'alice/1/write-2', means), invoke(5, 'alice/1/write-3', means)];
  const refused = answer(6, 'alice/1/write-2', { kind: 'refused', highest: 2 });
  const isDone = (...events: readonly TraceEvent[]): boolean => {
    const indexed = indexTrace(traceOf([first, ...events]));
    expect(intentOf(indexed, 'alice/1/write-2')).toBe(
      events.length > 1 ? 'alice/1/write' : 'alice/1/write-2',
    );
    const operation = indexed.operations.get('alice/1/write');
    return operation !== undefined && isCarriedOut(indexed, operation);
  };
  expect(isDone()).toBe(false);
  expect(isDone(accepted(2, 'alice/1/write'))).toBe(true);
  expect(isDone(...again, refused)).toBe(false);
  expect(isDone(...again, accepted(6, 'alice/1/write-2'))).toBe(true);
  expect(isDone(...again, refused, accepted(7, 'alice/1/write-3'))).toBe(true);
});
