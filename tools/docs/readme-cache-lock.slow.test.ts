/** Checks what `docs/library.md` states about the lock on a cache. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import * as fencepost from '../../src/index.ts';

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
