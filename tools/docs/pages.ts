/** Loads the README, the pages of `docs` and the reports, for tests of their content. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root: string = fileURLToPath(new URL('../../', import.meta.url));

/** Text of each page by its path from the project root. */
export const pages: ReadonlyMap<string, string> = new Map(
  ['README.md', ...pagesIn(root).filter((path) => path.includes('/'))].map((path) => [
    path,
    readFileSync(join(root, path), 'utf8'),
  ]),
);

/** Returns the pages in `folder`, `docs` and `reports`. */
export function pagesIn(folder: string): readonly string[] {
  return ['', 'docs/', 'reports/'].flatMap((below) =>
    readdirSync(join(folder, below))
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => `${below}${name}`),
  );
}

/** Returns links of a page that lead neither to a file or heading in `folder` nor to `https:`. */
export function brokenLinks(folder: string, path: string): readonly string[] {
  const links = readFileSync(join(folder, path), 'utf8').matchAll(/\]\((?!https:)([^)]*)\)/g);
  return [...links].flatMap(([, link = '']) => {
    const [file = '', heading] = link.split('#');
    const target = join(folder, file === '' ? path : join(dirname(path), file));
    if (!target.startsWith(folder) || !existsSync(target)) return [link];
    if (heading === undefined) return [];
    return headingsOf(readFileSync(target, 'utf8')).includes(heading) ? [] : [link];
  });
}

/** Returns the anchors of a page's headings, as GitHub generates them. */
function headingsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** Returns the text of a page. */
export function pageOf(path: string): string {
  const text = pages.get(path);
  if (text === undefined) throw new Error(`there is no ${path}`);
  return text;
}

/** Returns the example in the doc comment of an exported function or constant of `src`. */
export function exampleOf(name: string, path: string): string {
  const text = readFileSync(join(root, 'src', path), 'utf8');
  const at = text.search(new RegExp(`^export (?:async )?(?:function|const) ${name}\\b`, 'm'));
  const comment = text.slice(text.lastIndexOf('/**', at), at);
  const [, example] = /^ \* @example\n([\s\S]*) \*\/$/m.exec(comment) ?? [];
  if (example === undefined) throw new Error(`${name} of src/${path} has no example`);
  return example.replaceAll(/^ \*(?: |$)/gm, '');
}
