/**
 * Reads the sentences that explain failures back: each names exactly the operations of its core,
 * and the oracle, which tries every order, cannot refute it.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runs } from '../../properties/runs.ts';
import type { Json } from '../../src/core/kernel/json.ts';
import { checkHistory, readFailures } from '../../src/linearizability/check-history.ts';
import { explainHistory } from '../../src/linearizability/explain.ts';
import { readHistory } from '../../src/linearizability/formats/formats.ts';
import type { CallData, History, Model } from '../../src/linearizability/model.ts';
import { areRecordedHere, recordedFile } from '../../src/linearizability/recorded.fixture.ts';
import { explainInWords } from '../../src/linearizability/sentence.ts';
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
import { readSentence, refuteSentence } from './sentence-reader.ts';

const shape: HistoryShape = {
  operations: 9,
  clients: 4,
  longest: 6,
  wrong: 15,
  unknown: 15,
  failed: 5,
};

const ascending = (indices: readonly number[]): readonly number[] =>
  [...indices].sort((a, b) => a - b);

/** Reads the sentence of an invalid history back and returns its verb; null if it is valid. */
function verbOf<State extends Json, Call extends CallData>(
  drawn: History<Call>,
  model: Model<State, Call>,
): string | null {
  const history = drawn.map((one, index) => ({ ...one, client: `${one.client}@${index}` }));
  const verdict = checkHistory(history, model);
  if (verdict.kind !== 'invalid') return null;
  const reasons = explainHistory(history, model, verdict);
  const sentence = explainInWords(history, model, reasons);
  const read = readSentence(sentence, history);
  const { at, core } = reasons;
  expect(read.at, sentence).toBe(at);
  expect(ascending(read.required), sentence).toEqual(ascending(core.required));
  expect(ascending(read.optional), sentence).toEqual(ascending(core.optional));
  expect(refuteSentence(read, history, model), sentence).toBeNull();
  return read.verb;
}

function expectSoundSentences<State extends Json, Call extends CallData>(
  { model, ...repertoire }: Repertoire<State, Call>,
  verbs: readonly string[],
): void {
  const met = new Set<string>();
  for (let seed = 0; seed < runs(400); seed++) {
    const verb = verbOf(drawHistory(seed, { model, ...repertoire }, shape), model);
    if (verb !== null) met.add(verb);
  }
  for (const verb of met) expect(verbs).toContain(verb);
  expect([...met]).toContain(verbs[0]);
}

describe('a sentence names its core and a premise that no order refutes', () => {
  const vague = ['leads'];
  const precise = ['sets', 'makes', 'changes', 'leads'];
  it('on registers', () => expectSoundSentences(registers, ['sets']));
  it('on CAS registers', () => expectSoundSentences(casRegisters, precise));
  it('on registers that swap unseen', () => expectSoundSentences(swapRegisters, vague));
  it('on counters', () => expectSoundSentences(counters, vague));
  it('on mutexes', () => expectSoundSentences(mutexes, vague));
  it('on anonymous mutexes', () => expectSoundSentences(anonymousMutexes, vague));
  it('on reentrant mutexes', () => expectSoundSentences(reentrantMutexes, vague));
  it('on fenced mutexes', () => expectSoundSentences(fencedMutexes, vague));
  it('on reentrant fenced mutexes', () => expectSoundSentences(reentrantFencedMutexes, vague));
  it('on semaphores', () => expectSoundSentences(semaphores, vague));
  it('on leases', () => expectSoundSentences(leases, vague));
  it('on maps', () => expectSoundSentences(keyValues, vague));
  it('on fenced registers', () => expectSoundSentences(fencedRegisters, vague));
  it('on strict fenced registers', () => expectSoundSentences(strictFencedRegisters, vague));
  it('on fenced registers with reads', () => expectSoundSentences(fencedRegistersWithReads, vague));
  it('on versioned registers', () => expectSoundSentences(versionedRegisters, vague));
});

describe.skipIf(!areRecordedHere)('the sentence of a recorded failure', () => {
  it.each(['000', '040', '057', '099'])('etcd_%s has a premise about values', (name) => {
    const text = readFileSync(recordedFile(`porcupine/jepsen/etcd_${name}.log`), 'utf8');
    const read = readHistory(text, { model: 'cas-register' });
    if (read.kind === 'malformed') expect.fail(read.what);
    const history = readFailures(read.history, read.model, 'strict');
    expect(['sets', 'makes']).toContain(verbOf(history, read.model));
  });
});
