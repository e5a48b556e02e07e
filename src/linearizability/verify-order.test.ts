import { expect, it } from 'vitest';
import type { History } from './model.ts';
import { type RegisterCall, register } from './models/register.ts';
import { operation, read, write } from './operations.fixture.ts';
import { refuteOrder } from './verify-order.ts';

const history: History<RegisterCall> = [
  operation(write(1), 0, 4),
  operation(read(1), 4, 6),
  operation(write(2), 7, null),
  operation(write(3), 8, 9, 'fail'),
  operation(write(5, 'y'), 1, 2),
  operation(read(5, 'y'), 10, 11),
];

it.each([
  [[0, 4, 1, 5], null],
  [[4, 0, 1, 5, 2], null],
  [[4, 1, 0, 5], 'operation 1 is illegal at its place in the order'],
  [[0, 4, 1, 5, 6], 'there is no operation 6'],
  [[0, 4, 1, 5, -1], 'there is no operation -1'],
  [[0, 4, 1, 3, 5], 'operation 3 did not happen'],
  [[0, 1, 4, 5], 'operation 4 returned before the call of an operation that is placed earlier'],
  [[0, 0, 4, 1, 5], 'an operation is placed twice'],
  [[0, 4, 1], 'operation 5 is not placed'],
  [[], 'operation 0 is not placed'],
  [[4, 0, 2, 1, 5], 'operation 1 returned before the call of an operation that is placed earlier'],
])('the flaw of the order %j is: %s', (order, flaw) => {
  expect(refuteOrder(history, register(), order)).toBe(flaw);
});
it('an order is refuted for a model without partitions, too', () => {
  const { partition: _, ...unpartitioned } = register();
  expect(refuteOrder(history.slice(0, 2), unpartitioned, [0, 1])).toBeNull();
  expect(refuteOrder(history, unpartitioned, [0, 4, 1, 5])).toBe(
    'operation 1 is illegal at its place in the order',
  );
});
