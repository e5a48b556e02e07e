/** Compares the search with the definition, on many small histories of every model. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/kernel/json.ts';
import { checkHistory } from '../../src/linearizability/check-history.ts';
import type { CallData } from '../../src/linearizability/model.ts';
import { refuteOrder } from '../../src/linearizability/verify-order.ts';
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
  swapRegisters,
  versionedRegisters,
} from './repertoires.ts';

const histories = 10_000;
const small: HistoryShape = {
  operations: 7,
  clients: 4,
  longest: 8,
  wrong: 18,
  unknown: 15,
  failed: 5,
};

function compare<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
): { readonly invalid: number; readonly unknowns: number } {
  let invalid = 0;
  let unknowns = 0;
  for (let seed = 0; seed < histories; seed++) {
    const history = drawHistory(seed, repertoire, small);
    const verdict = checkHistory(history, repertoire.model);
    const expected = isLinearizable(history, repertoire.model) ? 'valid' : 'invalid';
    if (verdict.kind !== expected) {
      expect.fail(`seed ${seed}: ${verdict.kind}, not ${expected}\n${JSON.stringify(history)}`);
    }
    if (verdict.kind === 'valid') {
      const flaw = refuteOrder(history, repertoire.model, verdict.order);
      if (flaw !== null) expect.fail(`seed ${seed}: ${flaw}\n${JSON.stringify(history)}`);
    } else {
      invalid += 1;
    }
    unknowns += history.filter(({ outcome }) => outcome === 'info').length;
  }
  return { invalid, unknowns };
}

function expectAgreement<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
): void {
  const { invalid, unknowns } = compare(repertoire);
  // Otherwise the comparison would prove little.
  expect(invalid).toBeGreaterThan(histories / 5);
  expect(invalid).toBeLessThan(histories / 1.25);
  expect(unknowns).toBeGreaterThan(histories / 2);
}

describe('the search agrees with every order tried', () => {
  it('on registers', () => expectAgreement(registers));
  it('on CAS registers', () => expectAgreement(casRegisters));
  it('on registers that swap unseen', () => expectAgreement(swapRegisters));
  it('on counters', () => expectAgreement(counters));
  it('on mutexes', () => expectAgreement(mutexes));
  it('on maps', () => expectAgreement(keyValues));
  it('on anonymous mutexes', () => expectAgreement(anonymousMutexes));
  it('on reentrant mutexes', () => expectAgreement(reentrantMutexes));
  it('on fenced mutexes', () => expectAgreement(fencedMutexes));
  it('on reentrant fenced mutexes', () => expectAgreement(reentrantFencedMutexes));
  it('on semaphores', () => expectAgreement(semaphores));
  it('on leases', () => expectAgreement(leases));
  it('on versioned registers', () => expectAgreement(versionedRegisters));
  it('on fenced registers', () => expectAgreement(fencedRegisters));
  it('on strict fenced registers', () => expectAgreement(strictFencedRegisters));
  it('on fenced registers with reads', () => expectAgreement(fencedRegistersWithReads));
});
