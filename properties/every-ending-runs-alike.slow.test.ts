/**
 * Law: a lock is the same in TypeScript and JavaScript, with each file extension, as ESM and as
 * CommonJS, in a package of any type, however it names another file that it imports: its runs have
 * the same digests, in this thread and in a worker. `tools/endings.mjs` has the rows, and
 * `tools/other-nodes.sh` runs them on other versions of Node.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('a lock with any file extension has the same runs', () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const { stdout } = spawnSync('node', ['tools/endings.mjs'], { cwd: root, encoding: 'utf8' });
  const rows = stdout.trimEnd().split('\n');
  const outcomes = new Set(rows.map((row) => row.split('  ')[0]));
  expect([...outcomes]).toEqual([
    expect.stringMatching(/^traces [0-9a-f]{16}, sweep [0-9a-f]{16}$/),
  ]);
  for (const ending of ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs']) {
    expect(rows.filter((row) => row.includes(`  .${ending} from`)).length).toBeGreaterThan(1);
  }
});
