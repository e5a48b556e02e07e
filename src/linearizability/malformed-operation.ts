/** Refuses what is no history, before anything is decided about it. */
import type { Json } from '../core/kernel/json.ts';
import { shown } from './call-shape.ts';
import type { Model } from './model.ts';
import type { CallData, History, Operation } from './operation.ts';

/** The caller's mistake in one operation; the message says in which, and what is wrong. */
export class MalformedOperation extends Error {
  override readonly name: string = 'MalformedOperation';
  /** Its index in the history. */
  readonly index: number;

  constructor(index: number, what: string) {
    super(`operation ${index}: ${what}`);
    this.index = index;
  }
}

/** Throws a `MalformedOperation` for the first operation that is none. Takes linear time. */
export function refuseMalformed<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
): void {
  for (const [index, operation] of history.entries()) {
    const mistake = mistakeIn(operation) ?? model.mistakeIn?.(operation.call) ?? null;
    if (mistake !== null) throw new MalformedOperation(index, mistake);
  }
}

const outcomes: readonly unknown[] = ['ok', 'fail', 'info'];

/** Whoever writes plain JavaScript may have put anything there. */
function mistakeIn(operation: Operation<unknown>): string | null {
  if (typeof operation !== 'object' || operation === null) return `${shown(operation)} is none`;
  const { client, call, invoke, return: end, outcome } = operation;
  if (typeof client !== 'string') return `"client" must be a text, not ${shown(client)}`;
  if (!outcomes.includes(outcome)) {
    return `"outcome" must be ok, fail or info, not ${shown(outcome)}`;
  }
  if (!hasName(call)) return `"call" must be an object with a "name", not ${shown(call)}`;
  if (!Number.isFinite(invoke)) return `"invoke" must be a number, not ${shown(invoke)}`;
  if (end === null) return outcome === 'ok' ? 'it is ok, so that "return" must be a number' : null;
  if (!Number.isFinite(end)) return `"return" must be a number or null, not ${shown(end)}`;
  return end < invoke ? `it returns at ${end}, before it is called at ${invoke}` : null;
}

function hasName(call: unknown): boolean {
  return (
    typeof call === 'object' && call !== null && 'name' in call && typeof call.name === 'string'
  );
}
