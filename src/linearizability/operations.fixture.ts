/** Builds histories for tests: calls of a register, and operations of a client `a`. */
import type { Operation } from './model.ts';
import type { RegisterCall, Value } from './models/register.ts';

export function write(value: number, key = 'x'): RegisterCall {
  return { name: 'write', key, value };
}

export function read(value: Value, key = 'x'): RegisterCall {
  return { name: 'read', key, value };
}

/** Returns an operation that was answered at `end`, by default one position later. */
export function done<Call>(call: Call, invoke: number, end: number = invoke + 1): Operation<Call> {
  return operation(call, invoke, end);
}

/** Returns an operation; it has no answer if `end` is null. */
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
