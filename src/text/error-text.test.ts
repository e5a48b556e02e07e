import { expect, test } from 'vitest';
import { errorText } from './error-text.ts';

test.each([
  [new Error('no'), 'no'],
  ['no', 'no'],
  [undefined, 'undefined'],
  [Object.create(null), 'something that cannot be told as text'],
  [Object.assign(new Error('no'), { message: Symbol('odd') }), 'Symbol(odd)'],
])('%# is told in words', (thrown, text) => {
  expect(errorText(thrown)).toBe(text);
});
