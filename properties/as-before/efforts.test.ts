/**
 * Law: a limit on configurations decides between `valid` and `unknown`, so how many a search meets
 * is a part of what it says: the same for the same history, from release to release. So are the
 * order that it finds and its reasons. Models that say less of themselves are checked all the same.
 */
import alea from 'seedrandom/lib/alea.js';
import { test } from 'vitest';
import type { Json } from '../../src/core/kernel/json.ts';
import { checkHistory } from '../../src/linearizability/check-history.ts';
import { explainHistory } from '../../src/linearizability/explain.ts';
import type { CallData, History, Model } from '../../src/linearizability/model.ts';
import { fencedMutex } from '../../src/linearizability/models/fenced-mutex.ts';
import { casRegister, register } from '../../src/linearizability/models/register.ts';
import { explainInWords } from '../../src/linearizability/sentence.ts';
import {
  drawCasRegister,
  drawLock,
  drawUniqueRegister,
  misreadOf,
} from '../../tools/oracle/long-history.ts';
import {
  drawHistory,
  type HistoryShape,
  type Repertoire,
} from '../../tools/oracle/random-history.ts';
import * as repertoires from '../../tools/oracle/repertoires.ts';
import { digest, heldIn } from './as-before.ts';

const hold = heldIn('efforts');

const odds = { wrong: 12, unknown: 10, failed: 5 };
const SHAPES: readonly (HistoryShape & { readonly seeds: number })[] = [
  { seeds: 12, operations: 8, clients: 4, longest: 6, ...odds },
  { seeds: 6, operations: 40, clients: 8, longest: 24, ...odds, wrong: 2 },
];

/** Values in words, also where calls add to them. */
function withValues<State extends Json, Call extends CallData>(
  model: Model<State, Call>,
): Model<State, Call> {
  return { ...model, describeValue: (state: State): string => JSON.stringify(state) };
}

function withoutWords<State extends Json, Call extends CallData>(
  model: Model<State, Call>,
): Model<State, Call> {
  const { describe: _, describeState: __, describeValue: ___, needs: ____, ...rest } = model;
  return rest;
}

function withoutLookAhead<State extends Json, Call extends CallData>(
  model: Model<State, Call>,
): Model<State, Call> {
  const { awaits: _, provides: __, approaches: ___, ...rest } = model;
  return rest;
}

function withoutHints<State extends Json, Call extends CallData>(
  model: Model<State, Call>,
): Model<State, Call> {
  const { isPure: _, startingStates: __, fastPath: ___, stateKey: ____, ...rest } = model;
  return rest;
}

function withoutParts<State extends Json, Call extends CallData>(
  model: Model<State, Call>,
): Model<State, Call> {
  const { partition: _, whenFailed: __, mistakeIn: ___, ...rest } = model;
  return withoutWords(withoutLookAhead(withoutHints(rest)));
}

interface Outcome {
  readonly verdict: unknown;
  readonly reasons?: unknown;
  readonly words?: string;
}

/** How a history of each seed and shape is decided, and why, under limits of several kinds. */
function* outcomes<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
): Generator<Outcome> {
  const { model } = repertoire;
  const says = [model, withoutWords(model), withoutLookAhead(model), withoutHints(model)];
  for (const less of [...says, withValues(model), withoutParts(model)]) {
    for (const shape of SHAPES) {
      for (let seed = 0; seed < shape.seeds; seed++) {
        const history = drawHistory(seed, repertoire, shape);
        const failed = seed % 2 === 0 ? 'strict' : 'drop';
        const options = { failed, maxConfigurations: 400 } as const;
        const verdict = checkHistory(history, less, options);
        if (verdict.kind !== 'invalid') yield { verdict };
        else {
          const reasons = explainHistory(history, less, verdict, options);
          yield { verdict, reasons, words: explainInWords(history, less, reasons) };
        }
      }
    }
  }
}

function testEffort<State extends Json, Call extends CallData>(
  name: string,
  repertoire: Repertoire<State, Call>,
): void {
  test(`${name}: the same history takes the same effort`, () => {
    const told = [...outcomes(repertoire)];
    hold(name, {
      verdicts: digest(...told.map(({ verdict }) => verdict)),
      reasons: digest(...told.map(({ reasons }) => reasons ?? null)),
      words: digest(...told.map(({ words }) => words ?? null)),
    });
  });
}

testEffort('registers', repertoires.registers);
testEffort('casRegisters', repertoires.casRegisters);
testEffort('swapRegisters', repertoires.swapRegisters);
testEffort('counters', repertoires.counters);
testEffort('mutexes', repertoires.mutexes);
testEffort('fencedRegisters', repertoires.fencedRegisters);
testEffort('strictFencedRegisters', repertoires.strictFencedRegisters);
testEffort('fencedRegistersWithReads', repertoires.fencedRegistersWithReads);
testEffort('anonymousMutexes', repertoires.anonymousMutexes);
testEffort('reentrantMutexes', repertoires.reentrantMutexes);
testEffort('fencedMutexes', repertoires.fencedMutexes);
testEffort('reentrantFencedMutexes', repertoires.reentrantFencedMutexes);
testEffort('semaphores', repertoires.semaphores);
testEffort('leases', repertoires.leases);
testEffort('keyValues', repertoires.keyValues);
testEffort('versionedRegisters', repertoires.versionedRegisters);

test('a long history: the same core is found among its recent calls', () => {
  const told = [900, 1_300, 1_600].map((at, seed) => {
    const drawn = drawCasRegister(seed, { operations: 1_700, clients: 6 }, 12);
    const history = misreadOf(drawn, 12, at);
    const verdict = checkHistory(history, casRegister(0));
    return verdict.kind === 'invalid' ? explainHistory(history, casRegister(0), verdict) : verdict;
  });
  hold('long', { reasons: digest(...told) });
});

/** Some operations have no answer, and some the answer of the operation before theirs. */
function spoilt<Call>(history: History<Call>, seed: number): History<Call> {
  const below = alea(`spoilt ${seed}`);
  return history.map((operation, at) => {
    const fate = below();
    if (fate < 0.04) return { ...operation, outcome: 'info', return: null };
    return fate > 0.98
      ? { ...operation, call: history[at - 1]?.call ?? operation.call }
      : operation;
  });
}

test('without a search: registers whose writes differ, and locks', () => {
  const shape = { operations: 24, clients: 6 };
  const seeds = Array.from({ length: 40 }, (_, seed) => seed);
  const check = <State extends Json, Call extends CallData>(
    model: Model<State, Call>,
    draw: (seed: number) => History<Call>,
  ): readonly unknown[] =>
    seeds.flatMap((seed) => {
      return [draw(seed), spoilt(draw(seed), seed)].map((one) => checkHistory(one, model));
    });
  hold('without a search', {
    registers: digest(...check(register(0), (seed) => drawUniqueRegister(seed, shape))),
    locks: digest(...check(fencedMutex(), (seed) => drawLock(seed, shape))),
  });
});
