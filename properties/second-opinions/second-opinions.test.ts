/**
 * Judges two claims twice, by independent code: `linearizable` and a history for `fencepost check`;
 * `grant-order` and a replay by hand. A difference is a bug in one of the two. `FENCEPOST_OPINIONS`
 * sets the number of runs, `FENCEPOST_FIRST` the first one.
 */
import { beforeAll, expect, test } from 'vitest';
import type { Trace } from '../../src/core/history/trace.ts';
import { examine } from '../../src/harness.ts';
import { checkParts } from '../../src/linearizability/check-history.ts';
import { readHistory } from '../../src/linearizability/formats/formats.ts';
import { prepare, storeKinds } from '../../src/systems/store/store-kinds.ts';
import { runs } from '../runs.ts';
import { drawnPlans, STORES } from './drawn-plans.ts';
import { isBrokenByHand } from './replay-by-hand.ts';
import { type Dialect, writtenHistories } from './written-history.ts';

const RUNS = Number(process.env['FENCEPOST_OPINIONS'] ?? runs(800));
const FROM = Number(process.env['FENCEPOST_FIRST'] ?? 0);
const MAX_CONFIGURATIONS = 100_000;
/** A product begins with ten pieces, at version 1. */
const PIECES = 10;

beforeAll(() => prepare(STORES.map((store) => ({ store }))));

const FORMS: ReadonlyMap<string, Dialect['form']> = new Map([
  ['register', 'register'],
  ['fenced-register', 'fenced'],
  ['fenced-register-strict', 'fenced'],
  ['fenced-register-with-reads', 'fenced'],
  ['versioned-register', 'versioned'],
  ['cas-register', 'cas'],
]);

/** Returns the verdict of `fencepost check --model … --init …` on the history of a trace. */
function checked(trace: Trace, model: string, isStock: boolean): string {
  const form = FORMS.get(model);
  if (form === undefined) throw new Error(`nobody writes histories for ${model}`);
  const kinds = writtenHistories(trace, { form, firstVersion: isStock ? 1 : 0 }).flatMap((text) => {
    if (text === '') return ['valid'];
    const initial = isStock ? PIECES : 0;
    const read = readHistory(text, { format: 'jsonl', model, initial });
    if (read.kind === 'malformed') throw new Error(`${read.line}: ${read.what}\n${text}`);
    const parts = checkParts(read.history, read.model, { maxConfigurations: MAX_CONFIGURATIONS });
    return parts.map(({ decision }) => decision.kind);
  });
  return ['invalid', 'unknown'].find((kind) => kinds.includes(kind)) ?? 'valid';
}

test('both opinions agree on every run', { timeout: 1e8 }, () => {
  const met = new Map<string, number>();
  const count = (what: string): unknown => met.set(what, (met.get(what) ?? 0) + 1);
  let unanswered = 0;
  for (const { seed, store, plan } of drawnPlans(FROM, FROM + RUNS)) {
    const model = storeKinds.get(store)?.model ?? null;
    const claims = ['grant-order', 'linearizable(register)', 'linearizable'];
    const { trace, verdicts } = examine(plan, claims);
    const [order, asRegister, asCustom] = verdicts;
    unanswered += trace.events.filter(
      (one) => one.kind === 'return' && one.outcome === 'info',
    ).length;
    const isStock = store.startsWith('stock');
    if (!isStock) {
      const isBroken = isBrokenByHand(trace);
      expect(order?.kind === 'invalid', `seed ${seed}: grant-order of ${store}`).toBe(isBroken);
      count(isBroken ? 'turns broken' : 'turns kept');
    }
    const asSeen = checked(trace, 'register', isStock);
    expect(asRegister?.kind, `seed ${seed}: ${store} as a register`).toBe(asSeen);
    count(`register ${asSeen}`);
    if (model === null) continue;
    const checkedHere = checked(trace, model, isStock);
    expect(asCustom?.kind, `seed ${seed}: ${store} as ${model}`).toBe(checkedHere);
    count(`own ${checkedHere}`);
  }
  const least = RUNS < 800 ? 0 : RUNS / 40;
  for (const what of ['turns broken', 'turns kept', 'own valid']) {
    expect(met.get(what), what).toBeGreaterThan(least);
  }
  // Too rare in few runs.
  if (RUNS >= 800) {
    expect(met.get('own invalid')).toBeGreaterThan(least);
    expect(met.get('register invalid')).toBeGreaterThan(0);
  }
  expect(unanswered).toBeGreaterThan(RUNS / 2);
});
