/**
 * Tests the models' unknown answers: an operation that returned an unknown answer stands for all
 * its possible answers. So such a history is valid if and only if it is valid with some known
 * answer in place of each unknown one, which does not involve the models' own unknown answers. A
 * versioned register has none: a write that was not refused was accepted.
 */
import { expect, test } from 'vitest';
import { runs } from '../../properties/runs.ts';
import type { Json } from '../../src/core/kernel/json.ts';
import type { CallData, History } from '../../src/linearizability/model.ts';
import { isLinearizable } from './naive.ts';
import { drawHistory, type HistoryShape, type Repertoire } from './random-history.ts';
import {
  anonymousMutexes,
  casRegisters,
  counters,
  fencedMutexes,
  fencedRegisters,
  fencedRegistersWithReads,
  keyValues,
  leases,
  mutexes,
  reentrantFencedMutexes,
  reentrantMutexes,
  registers,
  semaphores,
  strictFencedRegisters,
} from './repertoires.ts';

const histories = runs(2_000);
const shape: HistoryShape = {
  operations: 5,
  clients: 3,
  longest: 5,
  wrong: 25,
  unknown: 0,
  failed: 0,
};

/** Returns the history with unknown answers of the operations at `places`. */
function forgotten<Call>(
  history: History<Call>,
  places: readonly number[],
  forget: (call: Call) => Call,
): History<Call> {
  return history.map((one, at) => (places.includes(at) ? { ...one, call: forget(one.call) } : one));
}

/** Returns every history with one of the known answers at each of `places`. */
function answered<Call extends CallData>(
  history: History<Call>,
  [place, ...rest]: readonly number[],
  { calls, forget }: Pick<Repertoire<Json, Call>, 'calls' | 'forget'>,
): readonly History<Call>[] {
  const operation = place === undefined ? undefined : history[place];
  if (operation === undefined) return [history];
  const unknown = JSON.stringify(operation.call);
  return calls
    .filter((call) => JSON.stringify(forget(call)) === unknown)
    .map((call) => history.map((one) => (one === operation ? { ...one, call } : one)))
    .flatMap((known) => answered(known, rest, { calls, forget }));
}

function expectAnyAnswer<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
  answers: readonly Call[] = repertoire.calls,
): void {
  const { model, forget } = repertoire;
  const counts = { valid: 0, invalid: 0 };
  for (let seed = 0; seed < histories; seed++) {
    const history = drawHistory(seed, repertoire, shape);
    const places = [seed % 5, (seed + 2) % 5].filter((at) => {
      const call = history[at]?.call;
      return call !== undefined && JSON.stringify(forget(call)) !== JSON.stringify(call);
    });
    const unknown = forgotten(history, places, forget);
    const isValid = isLinearizable(unknown, model);
    const known = answered(unknown, places, { calls: answers, forget });
    const expected = known.some((one) => isLinearizable(one, model));
    if (isValid !== expected) {
      expect.fail(`seed ${seed}: ${isValid ? '' : 'in'}valid\n${JSON.stringify(unknown)}`);
    }
    counts[isValid ? 'valid' : 'invalid'] += places.length;
  }
  // Otherwise the test would prove little.
  expect(Math.min(counts.valid, counts.invalid)).toBeGreaterThan(histories / 10);
}

test('of registers', () => {
  expectAnyAnswer(registers);
  expectAnyAnswer(casRegisters);
});
// The possible sums of so few operations.
const sums = Array.from({ length: 16 }, (_, at) => at - 5);
const reads = sums.map((value) => ({ name: 'read' as const, key: 'x', value }));
test('of counters', () => expectAnyAnswer(counters, [...counters.calls, ...reads]));
test('of maps', () => expectAnyAnswer(keyValues));
test('of mutexes', () => {
  expectAnyAnswer(mutexes);
  expectAnyAnswer(anonymousMutexes);
  expectAnyAnswer(reentrantMutexes);
});
test('of mutexes with tokens', () => {
  expectAnyAnswer(fencedMutexes);
  expectAnyAnswer(reentrantFencedMutexes);
});
test('of semaphores', () => expectAnyAnswer(semaphores));
test('of leases', () => expectAnyAnswer(leases));
test('of fenced registers', () => {
  expectAnyAnswer(fencedRegisters);
  expectAnyAnswer(strictFencedRegisters);
  expectAnyAnswer(fencedRegistersWithReads);
});
