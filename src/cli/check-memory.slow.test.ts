/** Tests whether a search stays within its memory, as measured by the operating system. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const search = fileURLToPath(new URL('hard-search.fixture.mjs', import.meta.url));

interface Searched {
  readonly cause: string;
  readonly grownMb: number;
}

/**
 * A single GC thread, since on a busy machine parallel collectors may get no CPU and leave garbage.
 */
const options = ['--single-threaded-gc'];
/** The process size varies from run to run; memory that a search does not count is always there. */
const attempts = 3;

/** Returns the least growth in a few attempts; one attempt within the limit is enough. */
function searchWithin(which: string, megabytes: number): Searched {
  const all: Searched[] = [];
  while (all.length < attempts && !all.some(({ grownMb }) => grownMb <= 1.2 * megabytes)) {
    const args = [...options, search, which, String(megabytes)];
    const ran = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(ran.stderr).toBe('');
    const ended: Searched = JSON.parse(ran.stdout);
    all.push(ended);
  }
  const [least] = all.sort((one, other) => one.grownMb - other.grownMb);
  if (least === undefined) expect.fail('nothing was searched');
  return least;
}

/**
 * An engine may share more of a text than is counted; the total exceeds the limit by a fifth at
 * most.
 */
function within(megabytes: number): object {
  return { cause: 'maxBytes', grownMb: expect.toSatisfy((mb: number) => mb <= 1.2 * megabytes) };
}

const patience = { timeout: 240_000 };
const title =
  'a search with a limit of some megabytes ends before the process exceeds it by a fifth';

describe(title, patience, () => {
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
  test('and uses more than a quarter of its limit', () => {
    const { grownMb } = searchWithin('choices', 256);
    expect(grownMb).toBeGreaterThan(64);
  });
});
