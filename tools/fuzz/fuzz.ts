/**
 * Checks many random histories of every model against the definition, which tries every order, and
 * prints the counts: `node tools/built/fuzz.js [histories per model] [first seed] [model…]`. Exits
 * with 1 if any history was judged wrongly.
 */
import type { Json } from '../../src/core/kernel/json.ts';
import { decideHistory, type HistoryVerdict } from '../../src/linearizability/check-history.ts';
import type { DecideOptions } from '../../src/linearizability/decide.ts';
import type { CallData, History, Model } from '../../src/linearizability/model.ts';
import {
  type FencedMutexCall,
  fencedMutex,
} from '../../src/linearizability/models/fenced-mutex.ts';
import { truncateHistory } from '../../src/linearizability/relax.ts';
import { refuteOrder } from '../../src/linearizability/verify-order.ts';
import { isLinearizable } from '../oracle/naive.ts';
import { drawPairedLock } from '../oracle/paired-locks.ts';
import { drawHistory, type HistoryShape, type Repertoire } from '../oracle/random-history.ts';
import * as repertoires from '../oracle/repertoires.ts';

const DEFAULT_HISTORIES = 1_000_000;

const SUBJECTS: ReadonlyMap<string, (options: FuzzOptions) => FuzzCounts> = new Map([
  ['register', (options) => fuzzModel(repertoires.registers, options)],
  ['cas-register', (options) => fuzzModel(repertoires.casRegisters, options)],
  ['swap-register', (options) => fuzzModel(repertoires.swapRegisters, options)],
  ['versioned-register', (options) => fuzzModel(repertoires.versionedRegisters, options)],
  ['kv', (options) => fuzzModel(repertoires.keyValues, options)],
  ['counter', (options) => fuzzModel(repertoires.counters, options)],
  ['mutex', (options) => fuzzModel(repertoires.mutexes, options)],
  ['anonymous-mutex', (options) => fuzzModel(repertoires.anonymousMutexes, options)],
  ['paired-lock', fuzzPairedLocks],
  ['look-ahead-register', (options) => fuzzLookAhead(repertoires.registers, options)],
  ['look-ahead-cas-register', (options) => fuzzLookAhead(repertoires.casRegisters, options)],
  ['look-ahead-swap-register', (options) => fuzzLookAhead(repertoires.swapRegisters, options)],
  ['look-ahead-kv', (options) => fuzzLookAhead(repertoires.keyValues, options)],
  ['window-register', (options) => fuzzWindows(repertoires.registers, options)],
  ['window-cas-register', (options) => fuzzWindows(repertoires.casRegisters, options)],
  ['window-swap-register', (options) => fuzzWindows(repertoires.swapRegisters, options)],
  ['reentrant-mutex', (options) => fuzzModel(repertoires.reentrantMutexes, options)],
  ['fenced-mutex', (options) => fuzzModel(repertoires.fencedMutexes, options)],
  ['reentrant-fenced-mutex', (options) => fuzzModel(repertoires.reentrantFencedMutexes, options)],
  ['semaphore', (options) => fuzzModel(repertoires.semaphores, options)],
  ['lease', (options) => fuzzModel(repertoires.leases, options)],
  ['fenced-register', (options) => fuzzModel(repertoires.fencedRegisters, options)],
  ['fenced-register-strict', (options) => fuzzModel(repertoires.strictFencedRegisters, options)],
  [
    'fenced-register-with-reads',
    (options) => fuzzModel(repertoires.fencedRegistersWithReads, options),
  ],
]);

function fuzz([histories = DEFAULT_HISTORIES, from = 0]: readonly number[], names: string[]): void {
  const unknown = names.filter((name) => !SUBJECTS.has(name));
  if (unknown.length > 0) {
    const known = [...SUBJECTS.keys()].join(', ');
    process.stderr.write(`unknown model: ${unknown.join(', ')}; known: ${known}\n`);
    process.exitCode = 2;
    return;
  }
  for (const [name, run] of SUBJECTS) {
    if (names.length > 0 && !names.includes(name)) continue;
    const startedMs = performance.now();
    const counts = run({ from, to: from + histories });
    const seconds = (performance.now() - startedMs) / 1_000;
    process.stdout.write(`${lineOf(name, counts)}, ${seconds.toFixed(0)} s\n`);
    if (counts.wrong === null) continue;
    process.stdout.write(`  WRONG ${counts.wrong}\n`);
    process.exitCode = 1;
  }
}

function lineOf(name: string, { histories, invalid, fast, crashed }: FuzzCounts): string {
  const share = (count: number): string => `${((100 * count) / histories).toFixed(0)} %`;
  return [
    `${name}: ${histories} histories`,
    `${share(invalid)} invalid`,
    `${share(fast)} by a fast path`,
    `${(crashed / histories).toFixed(2)} crashed operations each`,
  ].join(', ');
}

interface FuzzOptions {
  /** Seeds from `from` up to, but not including, `to`. */
  readonly from: number;
  readonly to: number;
}

interface FuzzCounts {
  readonly histories: number;
  readonly invalid: number;
  /** Number of verdicts that the model's fast path gave. */
  readonly fast: number;
  /** Total number of operations without an answer. */
  readonly crashed: number;
  /** The first history that was judged wrongly, with its seed, or null. */
  readonly wrong: string | null;
}

/** Percentage of invalid verdicts whose first bad return is checked. */
const FIRST_RETURNS_CHECKED = 10;

/** Judges a history per seed; stops at the first that is judged wrongly. */
function fuzzModel<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
  options: FuzzOptions,
): FuzzCounts {
  const draw = (seed: number): History<Call> => drawHistory(seed, repertoire, shapeOf(seed));
  return fuzzHistories(draw, repertoire.model, options);
}

/**
 * Compares the search that looks ahead with the one that does not, on histories too long to try
 * every order: such mistakes show only in longer histories.
 */
function fuzzLookAhead<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
  options: FuzzOptions,
): FuzzCounts {
  const sizeOf = (seed: number): number => 12 + (seed % 30);
  return compareWithBlind(repertoire, options, { sizeOf, isSearchOnly: true });
}

/** Tests the search that gives up at once and looks for a contradiction in the last few returns. */
function fuzzWindows<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
  options: FuzzOptions,
): FuzzCounts {
  const sizeOf = (seed: number): number => 24 + (seed % 40);
  return compareWithBlind(repertoire, options, { sizeOf, isSearchOnly: true, patience: 3 });
}

function compareWithBlind<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
  { from, to }: FuzzOptions,
  { sizeOf, ...check }: DecideOptions & { readonly sizeOf: (seed: number) => number },
): FuzzCounts {
  const { awaits: _awaits, fastPath: _fastPath, ...blind } = repertoire.model;
  const counts = { histories: 0, invalid: 0, fast: 0, crashed: 0 };
  for (let seed = from; seed < to; seed += 1) {
    const shape = { ...shapeOf(seed), operations: sizeOf(seed), clients: 3 + (seed % 4) };
    const history = drawHistory(seed, repertoire, { ...shape, wrong: 8 });
    const [looking, unseeing] = [
      decideHistory(history, repertoire.model, check),
      decideHistory(history, blind),
    ];
    counts.histories += 1;
    if (unseeing.kind === 'invalid') counts.invalid += 1;
    for (const { outcome } of history) if (outcome === 'info') counts.crashed += 1;
    // The blind search may need more configurations than its limit.
    if (unseeing.kind === 'unknown' && looking.kind !== 'unknown') continue;
    if (judgement(looking) === judgement(unseeing)) continue;
    return { ...counts, wrong: `seed ${seed}: ${judgement(looking)}: ${JSON.stringify(history)}` };
  }
  return { ...counts, wrong: null };
}

function judgement(verdict: HistoryVerdict): string {
  return verdict.kind === 'invalid' ? `invalid at ${verdict.at}` : verdict.kind;
}

/** Tests the fast path for locks whose clients acquire and release in turn. */
function fuzzPairedLocks(options: FuzzOptions): FuzzCounts {
  const draw = (seed: number): History<FencedMutexCall> => {
    return drawPairedLock(seed, { ...shapeOf(seed), operations: 8, wrong: 9 });
  };
  return fuzzHistories(draw, fencedMutex(), options);
}

function fuzzHistories<State extends Json, Call extends CallData>(
  draw: (seed: number) => History<Call>,
  model: Model<State, Call>,
  { from, to }: FuzzOptions,
): FuzzCounts {
  const counts = { histories: 0, invalid: 0, fast: 0, crashed: 0 };
  for (let seed = from; seed < to; seed += 1) {
    const history = draw(seed);
    const isValid = isLinearizable(history, model);
    const isFast = (model.fastPath?.(history, model) ?? null) !== null;
    counts.histories += 1;
    if (!isValid) counts.invalid += 1;
    if (isFast) counts.fast += 1;
    for (const { outcome } of history) if (outcome === 'info') counts.crashed += 1;
    const ways = isFast ? [false, true] : [false];
    for (const isSearchOnly of ways) {
      const flaw = flawOf(history, model, { isValid, isSearchOnly, seed });
      if (flaw === null) continue;
      return { ...counts, wrong: `seed ${seed}: ${flaw}: ${JSON.stringify(history)}` };
    }
  }
  return { ...counts, wrong: null };
}

/** Returns shapes with few operations, which are quick to decide, and with more. */
function shapeOf(seed: number): HistoryShape {
  return {
    operations: 4 + (seed % 4),
    clients: 2 + (seed % 3),
    longest: 4 + (seed % 5),
    wrong: 24,
    unknown: 8 + (seed % 13),
    failed: 5,
  };
}

function flawOf<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
  expected: { readonly isValid: boolean; readonly isSearchOnly: boolean; readonly seed: number },
): string | null {
  const verdict = decideHistory(history, model, { isSearchOnly: expected.isSearchOnly });
  const isValid = verdict.kind === 'valid';
  if (verdict.kind === 'unknown' || isValid !== expected.isValid) return `judged ${verdict.kind}`;
  if (verdict.kind === 'valid') return refuteOrder(history, model, verdict.order);
  if (expected.seed % 100 >= FIRST_RETURNS_CHECKED) return null;
  const before = truncateHistory(history, verdict.at, 'before');
  const after = truncateHistory(history, verdict.at, 'after');
  if (!isLinearizable(before, model)) return `operation ${verdict.at} is not the first bad return`;
  return isLinearizable(after, model) ? `operation ${verdict.at} is no bad return` : null;
}

const words = process.argv.slice(2);
const isNumber = (word: string): boolean => /^\d+$/.test(word);
fuzz(
  words.filter(isNumber).map(Number),
  words.filter((word) => !isNumber(word)),
);
