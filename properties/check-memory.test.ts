/** Whether a search keeps within its memory, as the system sees it. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const search = fileURLToPath(new URL('hard-search.mjs', import.meta.url));

function searchWithin(which: string, megabytes: number): unknown {
  const ran = spawnSync(process.execPath, [search, which, String(megabytes)], { encoding: 'utf8' });
  expect(ran.stderr).toBe('');
  const ended: unknown = JSON.parse(ran.stdout);
  return ended;
}

/** Of texts an engine may share more than is counted, and no more than a fifth comes on top. */
function within(megabytes: number): object {
  return { cause: 'maxBytes', grownMb: expect.toSatisfy((mb: number) => mb <= 1.2 * megabytes) };
}

describe('a search that may fill some megabytes ends before the process grew by a fifth more', () => {
  test.each([
    ['texts', 64],
    ['texts', 256],
    ['choices', 64],
    ['choices', 256],
    ['objects', 256],
    ['configurations', 64],
  ])('for %s and %i MB', (which, megabytes) => {
    expect(searchWithin(which, megabytes)).toEqual(within(megabytes));
  });
  test('though it fills more than a quarter of what it may', () => {
    const { grownMb } = Object(searchWithin('choices', 256));
    expect(grownMb).toBeGreaterThan(64);
  });
});
