/** The README and the pages of `docs`, for tests of what they show. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root: string = fileURLToPath(new URL('../../', import.meta.url));

/** Each page's text by its path from the root of the project. */
export const pages: ReadonlyMap<string, string> = new Map(
  [
    'README.md',
    ...readdirSync(join(root, 'docs'))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => `docs/${name}`),
  ].map((path) => [path, readFileSync(join(root, path), 'utf8')]),
);

/** One page's text. */
export function pageOf(path: string): string {
  const text = pages.get(path);
  if (text === undefined) throw new Error(`there is no ${path}`);
  return text;
}
