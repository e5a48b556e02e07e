/** Writes histories by hand, for tests: calls of a register, and operations of a client `a`. */
import type { Operation } from './model.ts';
import type { RegisterCall, Value } from './models/register.ts';

export function write(value: number, key = 'x'): RegisterCall {
  return { name: 'write', key, value };
}

export function read(value: Value, key = 'x'): RegisterCall {
  return { name: 'read', key, value };
}

/** An operation that was answered, at once unless `end` says when. */
export function done<Call>(call: Call, invoke: number, end: number = invoke + 1): Operation<Call> {
  return operation(call, invoke, end);
}

/** An operation, without an answer where `end` is null. */
export function operation<Call>(
  call: Call,
  invoke: number,
  end: number | null,
  outcome: Operation['outcome'] = end === null ? 'info' : 'ok',
): Operation<Call> {
  return { client: 'a', call, invoke, return: end, outcome };
}

export function by<Call>(
  client: string,
  call: Call,
  invoke: number,
  end: number | null,
): Operation<Call> {
  return { ...operation(call, invoke, end), client };
}
