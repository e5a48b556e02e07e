/** `docs/glossary.md` is what the registries say; `vitest -u` writes it. */
import { expect, test } from 'vitest';
import { terms } from '../../src/cli/glossary.ts';
import { glossaryPage } from './glossary.ts';

test('the words of the glossary are in alphabetical order', () => {
  const names = terms.map(({ name }) => name);
  expect(names).toEqual([...names].sort((a, b) => (a < b ? -1 : 1)));
});

test('docs/glossary.md is generated from the registries', async () => {
  await expect(await glossaryPage()).toMatchFileSnapshot('../../docs/glossary.md');
});
