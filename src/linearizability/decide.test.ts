/** Windows of a history that contradict themselves, by which a search is spared; what is rough. */
import { describe, expect, it, vi } from 'vitest';
import { runs } from '../../properties/runs.ts';
import { drawCasRegister, misreadOf } from '../../tools/oracle/long-history.ts';
import { decideHistory, type HistoryVerdict } from './check-history.ts';
import { decide } from './decide.ts';
import type { History } from './model.ts';
import { type CasRegisterCall, casRegister } from './models/register.ts';
import { done, read, write } from './operations.fixture.ts';
import { type Aim, type Budget, OrderSearch, type SearchEnding, theBeginning } from './search.ts';
import type { Transitions } from './transitions.ts';

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

describe('a rough decision says that the bad return may be late', () => {
  const rough = { isRough: true, isSearchOnly: true };
  it('where nothing brings about what it needs', () => {
    const history = [done(write(1), 0), done(read(9), 2), done(read(8), 4)];
    const bad = { kind: 'invalid', at: 1 };
    expect(decide(history, model, rough)).toEqual({
      ...{ ...bad, configurations: 0, isPerhapsLate: true },
    });
    const exact = decide(history, model, { isSearchOnly: true });
    expect(exact).toEqual({ ...bad, configurations: exact.configurations });
  });
  it('where no order was found for all returns', () => {
    const history = [done(write(1), 0), done(write(2), 2), done(read(1), 4), done(read(2), 6)];
    expect(decide(history, model, rough)).toMatchObject({
      ...{ kind: 'invalid', at: 3, isPerhapsLate: true },
    });
    const exact = decide(history, model, { isSearchOnly: true });
    expect(exact).toEqual({ kind: 'invalid', at: 2, configurations: exact.configurations });
  });
});

/** One turn of a search: what it was given, what it met, and what it holds afterwards. */
interface Turn extends Budget {
  /** Whether it began inside the history. */
  readonly isWindow: boolean;
  readonly ending: SearchEnding;
  readonly met: number;
  readonly ownBytes: number;
}

/** The turns of all searches meanwhile. */
function turnsOf(run: () => void): readonly Turn[] {
  const turns: Turn[] = [];
  const begun = new Map<OrderSearch, Aim>();
  const { begin, go } = OrderSearch.prototype;
  const spies = [
    vi.spyOn(OrderSearch.prototype, 'begin').mockImplementation(function (
      this: OrderSearch,
      aim: Aim,
    ) {
      begun.set(this, aim);
      begin.call(this, aim);
    }),
    vi.spyOn(OrderSearch.prototype, 'go').mockImplementation(function (
      this: OrderSearch,
      steps: Transitions,
      budget: Budget,
    ) {
      const before = this.memo.count;
      const ending = go.call(this, steps, budget);
      const isWindow = begun.get(this)?.start !== theBeginning;
      const { ownBytes, memo } = this;
      turns.push({ ...budget, isWindow, ending, met: memo.count - before, ownBytes });
      return ending;
    }),
  ];
  try {
    run();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return turns;
}

describe('a search and its windows', () => {
  const maxBytes = 1e8;
  const hasty = { patience: 3, maxBytes };
  const misreads = Array.from({ length: 40 }, (_, seed) => misread(seed, 3 + (seed % 10), seed));

  it('share the memory: what one holds is not there for the other', () => {
    let shared = 0;
    for (const history of misreads) {
      const turns = turnsOf(() => decideHistory(history, model, hasty));
      for (const [at, turn] of turns.entries()) {
        const before = turns[at - 1];
        if (before === undefined || before.isWindow === turn.isWindow) continue;
        expect(turn.maxBytes).toBe(maxBytes - before.ownBytes);
        shared += 1;
      }
    }
    expect(shared).toBeGreaterThan(40);
  });
  it('share the effort: in search of a contradiction windows meet as much as it did before', () => {
    let tried = 0;
    for (const history of misreads) {
      const turns = turnsOf(() => decideHistory(history, model, hasty));
      for (const [at, { isWindow, ending, patience }] of turns.entries()) {
        if (isWindow || ending !== 'stuck') continue;
        let left = patience;
        for (const turn of turns.slice(at + 1)) {
          if (!turn.isWindow) break;
          expect(turn.maxConfigurations).toBe(left);
          left -= turn.met;
          tried += 1;
          // Then it is found, and is made smaller with all that is left.
          if (turn.ending === 'exhausted') break;
        }
      }
    }
    expect(tried).toBeGreaterThan(40);
  });
});
