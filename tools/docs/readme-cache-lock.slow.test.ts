/** Checks what `docs/library.md` states about the lock on a cache. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import { examineSeed } from '../../src/harness.ts';
import * as fencepost from '../../src/index.ts';
import { loadScenario } from '../../src/load.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(`${root}docs/library.md`, 'utf8');

afterEach(() => vi.restoreAllMocks());

test('each line of its example prints what its comment states', () => {
  const [example = ''] =
    /(?<=```ts\n)import \{ Cache, CacheLock \}[\s\S]*?(?=\n```)/.exec(page) ?? [];
  const said: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((answer: object) => {
    said.push(Object.values(answer).join(' '));
  });
  const [names = '', ...lines] = example.split('\n');
  const given = /(\{.*\}) from/.exec(names)?.[1] ?? '';
  new Function('given', `const ${given} = given;\n${lines.join('\n')}`)(fencepost);
  const comments = [...example.matchAll(/console\.log.*\/\/ (.*)/g)].map(
    ([, comment = '']) => comment,
  );
  expect(said).toHaveLength(7);
  const plain = (text: string): string =>
    text.replace(/, (until|retry at)|:/g, '').replace(/^(timed-out|expired) .*/, '$1');
  expect(said.map(plain)).toEqual(comments.map(plain));
});

test('its release removes as many successors’ keys as it states', () => {
  const [, again = '', seeds = '', published = ''] =
    /successor's key in (\d+) of ([\d,]+) seeds[\s\S]*?published in (\d+)/.exec(page) ?? [];
  const file = `${root}fixtures/cache-lock-release.yaml`;
  const read = loadScenario(readFileSync(file, 'utf8'), file);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { scenario } = read;
  const broken = (system: string): number =>
    Array.from({ length: Number(seeds.replace(',', '')) }, (_, seed) =>
      examineSeed(scenario, system, seed, ['owner-only-release']),
    ).filter(({ verdicts }) => verdicts[0]?.kind === 'invalid').length;
  expect([broken('add-again'), broken('published')]).toEqual([Number(again), Number(published)]);
});
