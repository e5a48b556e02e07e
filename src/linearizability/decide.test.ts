/** Windows of a history that contradict themselves, by which a search is spared. */
import { describe, expect, it } from 'vitest';
import { runs } from '../../properties/runs.ts';
import { drawCasRegister, misreadOf } from '../../tools/oracle/long-history.ts';
import { decideHistory, type HistoryVerdict } from './check-history.ts';
import type { History } from './model.ts';
import { type CasRegisterCall, casRegister } from './models/register.ts';

const model = casRegister(0);

/** A legal history in which one read, that of index `at` or the next, got another value. */
function misread(seed: number, values: number, at: number): History<CasRegisterCall> {
  return misreadOf(drawCasRegister(seed, { operations: 120, clients: 5 }, values), values, at);
}

/** What does not depend on the effort. */
function judgement(verdict: HistoryVerdict): string {
  return verdict.kind === 'valid' ? 'valid' : `${verdict.kind} at ${JSON.stringify(verdict)}`;
}

describe('a contradiction in a window', () => {
  it('is one of the whole, and is found at the same return', () => {
    let invalid = 0;
    for (let seed = 0; seed < runs(600); seed++) {
      const history = misread(seed, 3 + (seed % 10), 40 + (seed % 60));
      const patient = decideHistory(history, model, { patience: Number.POSITIVE_INFINITY });
      const hasty = decideHistory(history, model, { patience: 3 });
      const same = { configurations: 0 };
      expect(judgement({ ...hasty, ...same }), `seed ${seed}`).toBe(
        judgement({ ...patient, ...same }),
      );
      if (patient.kind === 'invalid') invalid += 1;
    }
    expect(invalid).toBeGreaterThan(runs(600) / 3);
  });
  it('spares the search of all that came before it', () => {
    const large = drawCasRegister(1, { operations: 4_000, clients: 20 }, 20);
    const wrong = large.findIndex(({ call }, index) => index > 3_500 && call.name === 'read');
    const history = large.map((operation, index) => {
      const { call } = operation;
      if (index !== wrong || call.name !== 'read' || typeof call.value !== 'number') {
        return operation;
      }
      return { ...operation, call: { ...call, value: (call.value + 10) % 20 } };
    });
    expect(decideHistory(history, model)).toMatchObject({ kind: 'invalid', at: wrong });
  });
  it('is soon found among ten thousand operations, wherever it is', () => {
    let invalid = 0;
    for (let seed = 0; seed < 8; seed++) {
      const large = drawCasRegister(seed, { operations: 10_000, clients: 20 }, 20);
      const history = misreadOf(large, 20, 1_100 * (seed + 1));
      const verdict = decideHistory(history, model);
      expect(verdict.kind, `seed ${seed}`).not.toBe('unknown');
      expect(verdict.configurations, `seed ${seed}`).toBeLessThan(200_000);
      if (verdict.kind === 'invalid') invalid += 1;
    }
    expect(invalid).toBeGreaterThan(3);
  });
});
