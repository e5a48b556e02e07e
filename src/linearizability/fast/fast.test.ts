/** Compares the fast paths with the search on many small histories to which they apply. */
import { describe, expect, it } from 'vitest';
import { runs } from '../../../properties/runs.ts';
import { drawPairedLock } from '../../../tools/oracle/paired-locks.ts';
import { drawHistory, type HistoryShape } from '../../../tools/oracle/random-history.ts';
import { registers, versionedRegisters } from '../../../tools/oracle/repertoires.ts';
import type { Json } from '../../core/kernel/json.ts';
import { decideHistory } from '../check-history.ts';
import type { CallData, History, Model, Operation } from '../model.ts';
import { type FencedMutexCall, fencedMutex } from '../models/fenced-mutex.ts';
import { anonymousMutex, type MutexCall, mutex } from '../models/mutex.ts';
import { type RegisterCall, register } from '../models/register.ts';
import { refuteOrder } from '../verify-order.ts';

const histories = runs(5_000);
const shape: HistoryShape = {
  operations: 12,
  clients: 4,
  longest: 8,
  wrong: 9,
  unknown: 10,
  failed: 5,
};

/** Returns the number of histories per verdict of the fast path. */
function compare<State extends Json, Call extends CallData>(
  model: Model<State, Call>,
  draw: (seed: number) => History<Call>,
): Record<'valid' | 'invalid' | 'left', number> {
  const decided = { valid: 0, invalid: 0, left: 0 };
  for (let seed = 0; seed < histories; seed++) {
    const history = draw(seed);
    const fast = model.fastPath?.(history, model) ?? null;
    decided[fast?.kind ?? 'left'] += 1;
    if (fast === null) continue;
    const searched = decideHistory(history, model, { isSearchOnly: true });
    const found = { kind: fast.kind, at: fast.kind === 'invalid' ? fast.at : null };
    const expected = { kind: searched.kind, at: searched.kind === 'invalid' ? searched.at : null };
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      expect.fail(`seed ${seed}: ${JSON.stringify({ found, expected, history })}`);
    }
    if (fast.kind !== 'valid') continue;
    const flaw = refuteOrder(history, model, fast.order);
    if (flaw !== null) expect.fail(`seed ${seed}: ${flaw} ${JSON.stringify({ fast, history })}`);
  }
  return decided;
}

function withoutToken(operation: Operation<FencedMutexCall>): Operation<MutexCall> {
  const { call } = operation;
  if (call.name === 'release') return { ...operation, call };
  const { name, lock, owner, answer } = call;
  return { ...operation, call: { name, lock, owner, answer } };
}

const values = Array.from({ length: 40 }, (_, value) => value);
const uniqueRegisters = {
  ...registers,
  calls: [
    ...values.map((value): RegisterCall => ({ name: 'write', key: 'x', value })),
    ...[null, ...values].map((value): RegisterCall => ({ name: 'read', key: 'x', value })),
  ],
};

describe('a fast path and the search agree on the verdict and on the first bad return', () => {
  it('on registers of unique values', () => {
    const draw = (seed: number): History<RegisterCall> => {
      const written = new Set<unknown>();
      // Few reads fit, so most calls would be writes.
      return drawHistory(seed, uniqueRegisters, { ...shape, operations: 16 }).filter(({ call }) => {
        if (call.name === 'read') return true;
        const isNew = !written.has(call.value) && written.size < 5;
        written.add(call.value);
        return isNew;
      });
    };
    const { valid, invalid } = compare(register(), draw);
    expect(Math.min(valid, invalid)).toBeGreaterThan(histories / 5);
  });
  it('on paired locks', () => {
    const draw = (seed: number): ReturnType<typeof drawPairedLock> => drawPairedLock(seed, shape);
    const plain = (seed: number): History<MutexCall> => draw(seed).map(withoutToken);
    for (const decided of [compare(mutex(), plain), compare(anonymousMutex(), plain)]) {
      expect(Math.min(decided.valid, decided.invalid)).toBeGreaterThan(histories / 5);
    }
    const fenced = compare(fencedMutex(), draw);
    expect(Math.min(fenced.valid, fenced.invalid)).toBeGreaterThan(histories / 5);
  });
  it('on versions, if it finds an order', () => {
    const { model } = versionedRegisters;
    const { valid } = compare(model, (seed) =>
      drawHistory(seed, versionedRegisters, { ...shape, unknown: 3 }),
    );
    expect(valid).toBeGreaterThan(histories / 10);
  });
});
