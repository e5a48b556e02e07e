import { expect, test } from 'vitest';
import { framesIn, isOfPackage, packageOf, placeIn } from './call-site.ts';

test.each([
  ['at alice (C:\\Users\\me\\src\\lock.cjs:12:5)', 'lock.cjs:12:5', ''],
  ['at async file:///C:/Users/me/src/lock.mjs:12:5', 'lock.mjs:12:5', ''],
  [
    'at f (C:\\me\\node_modules\\redlock\\dist\\index.js:1:2)',
    'redlock/dist/index.js:1:2',
    'redlock',
  ],
  ['at C:\\me\\node_modules\\@a\\b\\c.js:1:2', '@a/b/c.js:1:2', '@a/b'],
])('the place of %s is named without Windows folders', (line, place, name) => {
  const [frame] = framesIn(`Error: x\n    ${line}`);
  if (frame === undefined) expect.fail('there is no frame');
  expect([placeIn(frame), isOfPackage(frame)]).toEqual([place, name !== '']);
  expect(packageOf(frame)).toBe(name);
});
