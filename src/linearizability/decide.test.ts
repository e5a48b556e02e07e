/** Tests windows that contradict themselves, which spare the search, and rough decisions. */
import { describe, expect, it, vi } from 'vitest';
import { runs } from '../../properties/runs.ts';
import { drawCasRegister, misreadOf } from '../../tools/oracle/long-history.ts';
import { decideHistory, type HistoryVerdict } from './check-history.ts';
import { decide } from './decide.ts';
import { Integers } from './integers.ts';
import type { History } from './model.ts';
import { type CasRegisterCall, casRegister } from './models/register.ts';
import { done, read, write } from './operations.fixture.ts';
import { OrderSearch } from './search.ts';

const model = casRegister(0);

/** Returns a legal history in which one read, at index `at` or soon after, has a wrong value. */
function misread(seed: number, values: number, at: number): History<CasRegisterCall> {
  return misreadOf(drawCasRegister(seed, { operations: 120, clients: 5 }, values), values, at);
}

/** Formats a verdict for comparison. */
function judgement(verdict: HistoryVerdict): string {
  return verdict.kind === 'valid' ? 'valid' : `${verdict.kind} at ${JSON.stringify(verdict)}`;
}

describe('a contradiction in a window', () => {
  it('is one of the complete history, found at the same return', () => {
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
  it('spares the search of all that precedes it', () => {
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
  it('is found quickly among ten thousand operations, wherever it is', () => {
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

describe('a rough decision reports that the bad return may be late', () => {
  const rough = { isRough: true, isSearchOnly: true };
  it('if no operation provides what it needs', () => {
    const history = [done(write(1), 0), done(read(9), 2), done(read(8), 4)];
    const bad = { kind: 'invalid', at: 1 };
    expect(decide(history, model, rough)).toEqual({
      ...bad,
      configurations: 0,
      isPerhapsLate: true,
    });
    const exact = decide(history, model, { isSearchOnly: true });
    expect(exact).toEqual({ ...bad, configurations: exact.configurations });
  });
  it('if no order was found for all returns', () => {
    const history = [done(write(1), 0), done(write(2), 2), done(read(1), 4), done(read(2), 6)];
    expect(decide(history, model, rough)).toMatchObject({
      kind: 'invalid',
      at: 3,
      isPerhapsLate: true,
    });
    const exact = decide(history, model, { isSearchOnly: true });
    expect(exact).toEqual({ kind: 'invalid', at: 2, configurations: exact.configurations });
  });
});

/** Returns the peak memory of all searches, including the buffers that they outgrow. */
function peakBytes(run: () => void): number {
  let peak = 0;
  const searches = new Set<OrderSearch>();
  const look = (outgrown: number): void => {
    const [first] = searches;
    if (first === undefined) return;
    const retained = [...searches].reduce((sum, { retainedBytes }) => sum + retainedBytes, 0);
    peak = Math.max(peak, first.shared.bytes + retained + outgrown);
  };
  const { begin } = OrderSearch.prototype;
  const { reserve } = Integers.prototype;
  const spies = [
    vi.spyOn(OrderSearch.prototype, 'begin').mockImplementation(function (this: OrderSearch, aim) {
      searches.add(this);
      begin.call(this, aim);
    }),
    vi.spyOn(Integers.prototype, 'reserve').mockImplementation(function (this: Integers, size) {
      const { bytes } = this;
      reserve.call(this, size);
      if (this.bytes > bytes) look(bytes);
    }),
  ];
  try {
    run();
    look(0);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return peak;
}

describe('a search and its windows', () => {
  it('use at most maxBytes together', () => {
    let full = 0;
    for (const seed of [9, 24]) {
      const legal = drawCasRegister(seed, { operations: 150, clients: 25 }, 20);
      const history = misreadOf(legal, 20, 100);
      for (let maxBytes = 70_000; maxBytes < 400_000; maxBytes *= 1.07) {
        const options = { isRough: true, isSearchOnly: true, patience: 400, maxBytes };
        const peak = peakBytes(() => {
          const decision = decide(history, model, options);
          if (decision.kind === 'unknown' && decision.cause === 'maxBytes') full += 1;
        });
        expect(peak, `seed ${seed}, ${maxBytes} bytes`).toBeLessThanOrEqual(maxBytes);
      }
    }
    expect(full).toBeGreaterThan(20);
  });
  it('decide within 1.7 times their peak memory', () => {
    for (let seed = 0; seed < 20; seed++) {
      const history = misreadOf(
        drawCasRegister(seed, { operations: 150, clients: 15 }, 20),
        20,
        100,
      );
      const decideWithin = (maxBytes: number): string =>
        decide(history, model, { isSearchOnly: true, patience: 400, maxBytes }).kind;
      let kind = '';
      const peak = peakBytes(() => {
        kind = decideWithin(1e9);
      });
      expect(decideWithin(1.7 * peak), `seed ${seed}`).toBe(kind);
    }
  });
  it('need at most twice the configurations of the search alone', () => {
    let dearer = 0;
    for (let seed = 0; seed < 200; seed++) {
      const values = 3 + (seed % 10);
      const shape = { operations: 120, clients: 5 + (seed % 8) };
      const history = misreadOf(drawCasRegister(seed, shape, values), values, 20 + (seed % 60));
      const options = { isRough: true, isSearchOnly: true };
      const alone = decide(history, model, { ...options, patience: Number.POSITIVE_INFINITY });
      const both = decide(history, model, { ...options, patience: 3 });
      expect(both.kind, `seed ${seed}`).toBe(alone.kind);
      expect(both.configurations, `seed ${seed}`).toBeLessThanOrEqual(2 * alone.configurations);
      if (both.configurations > alone.configurations) dearer += 1;
    }
    expect(dearer).toBeGreaterThan(20);
  });
});
