import { expect, test } from 'vitest';
import { about, userPlaceIn } from './call-site.ts';
import { sectionErrorOf } from './section-error.ts';

const at = (file: string): string => `    at async take (${file}:12:5)`;
const stackOf = (...files: readonly string[]): string => ['Error: no', ...files.map(at)].join('\n');

const NODE = 'node:internal/timers';
const PACKAGE = 'file:///home/a/node_modules/redlock/dist/index.js';
const USER_FILE = 'file:///home/a/locks/my-lock.mjs?sha256:0a1b';
const FENCEPOST = 'file:///home/a/node_modules/fencepost/dist/host/redis/client.js';

test('a place is the first one in user code, else in a package, else null', () => {
  expect(userPlaceIn({ stack: stackOf(NODE, FENCEPOST, PACKAGE, USER_FILE) })).toBe(
    'my-lock.mjs:12:5',
  );
  expect(userPlaceIn({ stack: stackOf(NODE, PACKAGE) })).toBe('redlock/dist/index.js:12:5');
  expect(userPlaceIn({ stack: stackOf(FENCEPOST, NODE) })).toBeNull();
  expect(userPlaceIn({})).toBeNull();
});

test('an error about a call has the place of the call, and its name if it has none', () => {
  const site = { stack: stackOf(FENCEPOST, USER_FILE) };
  const lost = about(new Error('Connection is closed.'), { site, call: 'SET' });
  const refused = about(new Error('ERR wrong arguments for set'), { site, call: 'SET' });
  expect([lost, refused].map(sectionErrorOf)).toEqual([
    { text: 'Error: Connection is closed. (SET)', place: 'my-lock.mjs:12:5' },
    { text: 'Error: ERR wrong arguments for set', place: 'my-lock.mjs:12:5' },
  ]);
});

test('a thrown non-error, or an error without a stack, has no place', () => {
  const error = new Error('a\nb');
  Object.defineProperty(error, 'stack', {
    get: () => {
      throw new Error('no stack');
    },
  });
  expect([7, error].map(sectionErrorOf)).toEqual([
    { text: '7', place: null },
    { text: 'Error: a', place: null },
  ]);
});
