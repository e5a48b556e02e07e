/** Laws of history texts, each tried on the seeds below `count`; a failure shows the text. */
import { expect } from 'vitest';
import { checkHistory } from '../../src/linearizability/check-history.ts';
import { explainHistory } from '../../src/linearizability/explain.ts';
import { readHistory } from '../../src/linearizability/formats/formats.ts';
import { explainInWords } from '../../src/linearizability/sentence.ts';
import { drawCasRegister, misreadOf } from '../../tools/oracle/long-history.ts';
import { Draw, MODELS } from './draw.ts';
import { garbled } from './garble.ts';
import { judgeSeed, messageOf, writeSeed } from './judge.ts';
import { FORMS } from './write.ts';

/** Verdicts are those of trying every order; each model and form has enough of both verdicts. */
export function expectJudgedAsMeant(count: number): void {
  const met = new Map<string, number>();
  for (let seed = 0; seed < count; seed++) {
    const judged = judgeSeed(seed);
    if (judged.flaw !== null) expect.fail(`seed ${seed}: ${messageOf(judged)}`);
    const verdict = judged.isValid ? 'valid' : 'invalid';
    for (const name of [judged.drawn.model, judged.form.name]) {
      met.set(`${name} ${verdict}`, (met.get(`${name} ${verdict}`) ?? 0) + 1);
    }
  }
  const names = [...MODELS, ...FORMS.map(({ name }) => name)];
  const least = Math.min(
    ...names.flatMap((name) =>
      ['valid', 'invalid'].map((verdict) => met.get(`${name} ${verdict}`) ?? 0),
    ),
  );
  // About 67 of 1,000 histories are of each model, and at least a sixth of these of each verdict.
  expect(least).toBeGreaterThan(count / 100 - 5);
}

/** A readable text can be judged and explained; an unreadable one is refused with a place. */
export function expectNothingThrows(count: number): void {
  let histories = 0;
  for (let seed = 0; seed < count; seed++) {
    const draw = new Draw(seed);
    const { text: original, options: meant } = writeSeed(draw);
    const { model = '', ...others } = meant;
    const text = garbled(original, draw);
    const named = draw.chance(80) ? model : draw.of(MODELS);
    const options = draw.chance(60) ? { ...others, model: named } : others;
    try {
      const read = readHistory(text, options);
      if (read.kind === 'malformed') {
        expect(read.line).toBeGreaterThan(0);
        continue;
      }
      histories += 1;
      const verdict = checkHistory(read.history, read.model);
      if (verdict.kind !== 'invalid') continue;
      const reasons = explainHistory(read.history, read.model, verdict);
      explainInWords(read.history, read.model, reasons);
    } catch (error) {
      expect.fail(`seed ${seed}: ${String(error)}\n${JSON.stringify(options)}\n${text}`);
    }
  }
  expect(histories).toBeGreaterThan(count / 10);
}

/** Without a limit, a long text takes as many configurations as with one that is not reached. */
export function expectInfinityIsNoLimit(count: number): void {
  for (let seed = 0; seed < count; seed++) {
    const long = drawCasRegister(seed, { operations: 1_000, clients: 16 });
    const history = seed % 2 === 0 ? misreadOf(long, 5, 500) : long;
    const events = history.flatMap(({ client: process, call, invoke, return: end }) => {
      const { name: f } = call;
      const pair = call.name === 'cas' ? [call.expected, call.value] : call.value;
      const asked = f === 'read' ? {} : { value: pair };
      const answer = call.name === 'cas' ? { answer: call.answer } : { value: pair };
      return [
        { at: invoke, event: { process, type: 'invoke', f, ...asked } },
        { at: end ?? 0, event: { process, type: 'ok', f, ...answer } },
      ];
    });
    const lines = events
      .sort((one, other) => one.at - other.at)
      .map(({ event }) => `${JSON.stringify(event)}\n`);
    const read = readHistory(lines.join(''), { model: 'cas-register', initial: 0 });
    if (read.kind === 'malformed') expect.fail(read.what);
    const [none, high] = [Number.POSITIVE_INFINITY, 1e9].map((maxConfigurations) =>
      checkHistory(read.history, read.model, { maxConfigurations }),
    );
    expect(none, `seed ${seed}`).toEqual(high);
  }
}

/** Literals of collections; null if the syntax has none. */
const COLLECTIONS: readonly { kind: 'map' | 'set'; edn: string; json: string | null }[] = [
  { kind: 'map', edn: '{:n 1}', json: '{"n":1}' },
  { kind: 'map', edn: '#a.B{:n 1}', json: '[2,{"n":1},3]' },
  { kind: 'set', edn: '#{1 2}', json: null },
  { kind: 'set', edn: '[2 #{1} 3]', json: null },
];

/** If a value is a map or a set, no model is guessed, and the message contains its place. */
export function expectNoGuess(count: number): void {
  let tried = 0;
  for (let seed = 0; seed < count; seed++) {
    const draw = new Draw(seed);
    const { kind, ...literals } = draw.of(COLLECTIONS);
    let left = draw.below(4);
    const { text, form, options } = writeSeed(draw, (one, { syntax }) => {
      const literal = literals[syntax];
      const isValue = one.type === 'invoke' || one.type === 'ok' ? one.fields['value'] : null;
      const mayChange = literal !== null && (isValue ?? null) !== null && !Array.isArray(isValue);
      if (!mayChange || left-- !== 0) return one;
      return { ...one, fields: { ...one.fields, value: `#${literal}` } };
    });
    const literal = literals[form.syntax];
    if (left >= 0 || literal === null) continue;
    tried += 1;
    const { model: _, ...unnamed } = options;
    const read = readHistory(text, unnamed);
    const line = text.slice(0, text.indexOf(literal)).split('\n').length;
    if (
      read.kind !== 'malformed' ||
      read.line !== line ||
      !read.what.includes(`is a ${kind}, so`)
    ) {
      expect.fail(`seed ${seed}: ${JSON.stringify(read)}\n${text}`);
    }
  }
  expect(tried).toBeGreaterThan(count / 4);
}
