/** Whether a search keeps within its memory, as the system sees it. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const search = fileURLToPath(new URL('hard-search.fixture.mjs', import.meta.url));

interface Searched {
  readonly cause: string;
  readonly grownMb: number;
}

/** On one thread, so that on a busy machine no garbage is left for collectors that get no turn. */
const options = ['--single-threaded-gc'];
/** The system's own moods differ from run to run; what a search forgets to count never goes. */
const attempts = 3;

/** The least that the process grew by in a few attempts; one that keeps within is enough. */
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

/** Of texts an engine may share more than is counted, and no more than a fifth comes on top. */
function within(megabytes: number): object {
  return { cause: 'maxBytes', grownMb: expect.toSatisfy((mb: number) => mb <= 1.2 * megabytes) };
}

const patience = { timeout: 240_000 };
const title = 'a search that may fill some megabytes ends before the process grew by a fifth more';

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
  test('though it fills more than a quarter of what it may', () => {
    const { grownMb } = searchWithin('choices', 256);
    expect(grownMb).toBeGreaterThan(64);
  });
});
