import { describe, expect, it } from 'vitest';
import type { Json } from '../core/kernel/json.ts';
import { checkHistory } from './check-history.ts';
import { explainHistory, explainInWords } from './explain.ts';
import type { CallData, History, Model, Operation } from './model.ts';
import { type KeyValueCall, keyValue } from './models/key-value.ts';

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

describe('the sentence of an operation that overlapped what came before it', () => {
  const put: KeyValueCall = { name: 'put', key, value: 'A' };
  const first = operation('1', put, 0, 1);
  it('says who saw that it came before', () => {
    const history = [
      first,
      operation('2', append, 2, 9),
      operation('3', get('AB'), 3, 4),
      operation('4', get('A'), 5, 6),
    ];
    expect(sentenceOf(history, keyValue())).toContain(
      'but after `append(x, "B")` by 2, which overlapped it but must come before it, ' +
        'as `get(x)="AB"` by 3 shows, it is "AB"',
    );
  });
  it('says nothing of the kind where it may have come after', () => {
    const history = [
      first,
      operation('2', append, 2, 9),
      operation('4', get('C'), 5, 6),
      operation('3', get('AB'), 7, 8),
    ];
    const sentence = sentenceOf(history, keyValue());
    expect(sentence).toContain('which overlapped it');
    expect(sentence).not.toContain('must come before');
  });
});
