import { expect, test } from 'vitest';
import { assert, Defect, unreachable } from './assert.ts';

test('what cannot be stops the run, and says why', () => {
  expect(() => assert(true, 'it is so')).not.toThrow();
  expect(() => assert(false, 'it is not so')).toThrow(
    new Defect('fencepost is wrong: it is not so'),
  );
});

test('a case that no type has is a defect', () => {
  const handle = (kind: 'a'): string => (kind === 'a' ? kind : unreachable(kind));
  const none = JSON.parse('{"kind":"b"}');
  expect(handle('a')).toBe('a');
  expect(() => handle(none)).toThrow(new Defect('fencepost is wrong: unexpected {"kind":"b"}'));
});
