/** Tests the message for an installed package that is too old for fencepost. */
import { expect, test } from 'vitest';
import { requireVersions } from './installed-version.ts';

const NAMES = ['bullmq', 'fast-check', 'ioredis', 'vitest'] as const;
const OLDEST = { bullmq: '5.6.0', 'fast-check': '4.0.0', ioredis: '5.3.0', vitest: '3.2.0' };

/** Returns the error with these packages installed, or '' if there is none. */
function messageWith(installed: Readonly<Record<string, string>>): string {
  try {
    requireVersions(NAMES, (name) => installed[name] ?? null);
    return '';
  } catch (error) {
    return String(error);
  }
}

test.each([
  [
    'bullmq',
    '5.5.9',
    'Error: bullmq 5.5.9 is installed, and fencepost works with 5.6 or later: npm install bullmq@6',
  ],
  [
    'fast-check',
    '3.23.2',
    'Error: fast-check 3.23.2 is installed, and fencepost works with 4.0 or later: npm install --save-dev fast-check@4',
  ],
  [
    'ioredis',
    '4.31.0',
    'Error: ioredis 4.31.0 is installed, and fencepost works with 5.3 or later: npm install ioredis@5',
  ],
  [
    'vitest',
    '3.1.4',
    'Error: vitest 3.1.4 is installed, and fencepost works with 3.2 or later: npm install --save-dev vitest@4',
  ],
])('%s %s is refused, with the version to install', (name, version, line) => {
  expect(messageWith({ ...OLDEST, [name]: version })).toBe(line);
});

test('the oldest supported versions are accepted, and so are untested newer ones', () => {
  expect(messageWith(OLDEST)).toBe('');
  expect(messageWith({ bullmq: '7.0.0', ioredis: '7.0.0-beta.1', vitest: '6.0.0-beta.2' })).toBe(
    '',
  );
});

test('a package that is missing, or has no version, is left to its importer', () => {
  expect(messageWith({})).toBe('');
  expect(messageWith({ vitest: 'of our own' })).toBe('');
});

test('the packages installed here are accepted', () => {
  expect(() => requireVersions(NAMES)).not.toThrow();
});
