/**
 * Runs many random histories of every model against the definition and prints the counts:
 * `node tools/built/fuzz.js [histories per model] [first seed] [model…]`. Exits with 1 when some
 * history was judged wrongly.
 */
import * as repertoires from '../oracle/repertoires.ts';
import {
  type FuzzCounts,
  type FuzzOptions,
  fuzzLookAhead,
  fuzzModel,
  fuzzPairedLocks,
  fuzzWindows,
} from './fuzz-model.ts';

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
  ['strict-fenced-register', (options) => fuzzModel(repertoires.strictFencedRegisters, options)],
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

const words = process.argv.slice(2);
const isNumber = (word: string): boolean => /^\d+$/.test(word);
fuzz(
  words.filter(isNumber).map(Number),
  words.filter((word) => !isNumber(word)),
);
