import { expect, test } from 'vitest';
import { assert, Defect, unreachable } from './assert.ts';

test('a failed assertion throws a defect with its reason', () => {
  expect(() => assert(true, 'it is so')).not.toThrow();
  expect(() => assert(false, 'it is not so')).toThrow(new Defect('bug in fencepost: it is not so'));
});

test('a case outside its type throws a defect', () => {
  const handle = (kind: 'a'): string => (kind === 'a' ? kind : unreachable(kind));
  const none = JSON.parse('{"kind":"b"}');
  expect(handle('a')).toBe('a');
  expect(() => handle(none)).toThrow(new Defect('bug in fencepost: unexpected {"kind":"b"}'));
});
