import { describe, expect, it } from 'vitest';
import type { Json } from '../core/kernel/json.ts';
import { checkHistory } from './check-history.ts';
import { explainHistory } from './explain.ts';
import type { CallData, History, Model, Operation } from './model.ts';
import { type KeyValueCall, keyValue } from './models/key-value.ts';
import { explainInWords } from './sentence.ts';

function sentenceOf<State extends Json, Call extends CallData>(
  history: History<Call>,
  model: Model<State, Call>,
): string {
  const verdict = checkHistory(history, model);
  if (verdict.kind !== 'invalid') expect.fail(verdict.kind);
  return explainInWords(history, model, explainHistory(history, model, verdict));
}

const key = 'x';
const get = (value: string): KeyValueCall => ({ name: 'get', key, value });
const append: KeyValueCall = { name: 'append', key, value: 'B' };

function operation(
  client: string,
  call: KeyValueCall,
  invoke: number,
  end: number,
): Operation<KeyValueCall> {
  return { client, call, invoke, return: end, outcome: 'ok' };
}

describe('the sentence about a map', () => {
  const put: KeyValueCall = { name: 'put', key, value: 'A' };
  const first = operation('1', put, 0, 1);
  it('names the operations before, and reports that nothing else helps', () => {
    const history = [
      first,
      operation('2', append, 2, 9),
      operation('3', get('AB'), 3, 4),
      operation('4', get('A'), 5, 6),
    ];
    expect(sentenceOf(history, keyValue())).toBe(
      '`get(x)="A"` by 4 needs the value "A", but `get(x)="AB"` by 3 came before it, and nothing ' +
        'else called or open in positions 3–6 leads to that.',
    );
  });
  it('reports that even if no operation could ever help', () => {
    const history = [first, operation('4', get('C'), 5, 6)];
    expect(sentenceOf(history, keyValue())).toBe(
      '`get(x)="C"` by 4 needs the value "C", but `put(x, "A")` by 1 came before it, and nothing ' +
        'else called or open in positions 0–6 leads to that.',
    );
  });
});
