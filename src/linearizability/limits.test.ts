/**
 * Tests the budget that all searches of a check share, counted when a configuration is kept, and
 * how little of it a history needs whose contradiction is in one place.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { drawCasRegister, misreadOf } from '../../tools/oracle/long-history.ts';
import type { Json } from '../core/kernel/json.ts';
import { checkParts, decideHistory } from './check-history.ts';
import type { CheckOptions } from './decide.ts';
import { explainHistory, type Reasons } from './explain.ts';
import { readHistory } from './formats/formats.ts';
import type { History, Model } from './model.ts';
import { casRegister } from './models/register.ts';
import { Memo } from './search.ts';

const folder = new URL('../../fixtures/histories/', import.meta.url);
/** An explanation may exceed the limit by a fifth if the verdict has used it up. */
const most = 1.2;
const limits = [2, 7, 50, 200, 500, 1_000, 3_000, 20_000];

interface Subject {
  readonly name: string;
  readonly history: History;
  readonly model: Model;
}

function shipped(): readonly Subject[] {
  return readdirSync(folder).map((name) => {
    const read = readHistory(readFileSync(new URL(name, folder), 'utf8'), {});
    if (read.kind === 'malformed') throw new Error(`${name}: ${read.what}`);
    return { name, history: read.history, model: read.model };
  });
}

function drawn(): readonly Subject[] {
  const model = casRegister(0);
  return [5, 10, 20].flatMap((values) =>
    [1, 2, 3, 4, 5, 6].map((seed) => {
      const history = drawCasRegister(seed, { operations: 500, clients: 8 }, values);
      const name = `${values} values, seed ${seed}`;
      return { name, history: misreadOf(history, values, 70 * seed), model };
    }),
  );
}

/** Counts the configurations that any search keeps during `run`. */
function countMet(run: () => void): number {
  let met = 0;
  const keep = Memo.prototype.keepDraft;
  const spy = vi.spyOn(Memo.prototype, 'keepDraft').mockImplementation(function (
    this: Memo,
    ...draft
  ) {
    const isKept = keep.apply(this, draft);
    if (isKept) met += 1;
    return isKept;
  });
  try {
    run();
  } finally {
    spy.mockRestore();
  }
  return met;
}

describe('a limit in configurations', () => {
  const subjects = [...shipped(), ...drawn()];
  it.each(limits)('of %i holds for all searches of a verdict together', (limit) => {
    for (const { name, history, model } of subjects) {
      const parts = checkParts(history, model).length;
      let reported = 0;
      const met = countMet(() => {
        const decided = checkParts(history, model, { maxConfigurations: limit });
        for (const { decision } of decided) reported += decision.configurations;
      });
      expect(met, name).toBe(reported);
      expect(met, name).toBeLessThanOrEqual(limit * parts);
    }
  });
  it.each(limits)(
    'of %i holds for a verdict and its explanation together, plus a fifth',
    (limit) => {
      let explained = 0;
      const options = { maxConfigurations: limit };
      for (const { name, history, model } of drawn()) {
        const met = countMet(() => {
          const verdict = decideHistory(history, model, options);
          if (verdict.kind !== 'invalid') return;
          explained += 1;
          explainHistory(history, model, verdict, options);
        });
        expect(met, name).toBeLessThanOrEqual(Math.ceil(limit * most));
      }
      if (limit >= 1_000) expect(explained).toBeGreaterThan(4);
    },
  );
  it('never turns a verdict into the opposite one', () => {
    for (const { name, history, model } of subjects) {
      const { kind } = decideHistory(history, model);
      for (const limit of limits) {
        const limited = decideHistory(history, model, { maxConfigurations: limit });
        expect([kind, 'unknown'], `${name}, ${limit}`).toContain(limited.kind);
      }
    }
  });
});

describe('an explanation', () => {
  /** Explains each drawn history that is invalid, and counts the configurations. */
  function explainDrawn(options: CheckOptions) {
    return drawn().flatMap(({ name, history, model }) => {
      const verdict = decideHistory(history, model, options);
      if (verdict.kind !== 'invalid') return [];
      const explained: { name: string; reasons?: Reasons<Json>; met?: number } = { name };
      explained.met = countMet(() => {
        explained.reasons = explainHistory(history, model, verdict, options);
      });
      return [explained];
    });
  }

  it('leaves enough of the limit to report the longest order and its states', () => {
    const explained = explainDrawn({ maxConfigurations: 20_000 });
    expect(explained.length).toBeGreaterThan(4);
    for (const { name, reasons } of explained) {
      expect(reasons?.prefix, name).not.toEqual([]);
      expect(reasons?.possible, name).not.toEqual([]);
    }
  });
  it('uses some 50,000 for the core if there is no limit, and no more for the rest', () => {
    const met = explainDrawn({}).map((one) => one.met ?? 0);
    expect(Math.max(...met)).toBeGreaterThan(50_000);
    expect(Math.max(...met)).toBeLessThan(100_000);
  });
});

describe('a contradiction in a history of a thousand operations of ten clients', () => {
  it('is found and located with at most 1,500 configurations', () => {
    let invalid = 0;
    for (let seed = 0; seed < 20; seed++) {
      const legal = drawCasRegister(seed, { operations: 1_000, clients: 10 }, 10);
      const verdict = decideHistory(misreadOf(legal, 10, 45 * (seed + 1)), casRegister(0));
      if (verdict.kind !== 'invalid') continue;
      invalid += 1;
      expect(verdict.isPerhapsLate, `seed ${seed}`).toBeUndefined();
      expect(verdict.configurations, `seed ${seed}`).toBeLessThanOrEqual(1_500);
    }
    expect(invalid).toBeGreaterThan(8);
  });
});
