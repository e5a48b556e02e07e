import { expect, test } from 'vitest';
import { Patches } from './patches.ts';

test('replaced properties are restored, with their getters, in reverse order', () => {
  const target = Object.create({ inherited: 1 });
  let count = 0;
  Object.defineProperties(target, {
    lazy: { get: () => ++count, configurable: true, enumerable: false },
    plain: { value: 2, writable: false, configurable: true, enumerable: true },
    fixed: { value: 3 },
  });
  const before = Object.getOwnPropertyDescriptors(target);
  const patches = new Patches();
  for (const key of ['lazy', 'plain', 'inherited', 'novel', 'fixed']) {
    patches.set(target, key, 'first');
    patches.set(target, key, 'second');
  }
  expect([target.lazy, target.plain, target.inherited, target.novel]).toEqual(
    Array.from({ length: 4 }, () => 'second'),
  );
  expect(target.fixed).toBe(3);
  patches.restore();
  expect(Object.getOwnPropertyDescriptors(target)).toEqual(before);
  expect(target.inherited).toBe(1);
  patches.restore();
  expect(count).toBe(0);
});
