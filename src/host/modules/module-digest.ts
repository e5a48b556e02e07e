/**
 * What a module's version is: the bytes of its file, and of the files that it imports by relative
 * paths, and those import in turn. Packages have versions of their own and are left out.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { init, parse } from 'es-module-lexer';

/** `sha256:…` of a file; of one that imports no other file, of its bytes alone. */
export async function moduleDigest(file: string): Promise<string> {
  await init;
  const files = new Map<string, Buffer>();
  collect(file, files);
  const hash = createHash('sha256').update(files.get(file) ?? '');
  const imported = [...files].map(([path, bytes]) => {
    const name = relative(dirname(file), path).replaceAll('\\', '/');
    return { name, digest: createHash('sha256').update(bytes).digest('hex') };
  });
  imported.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, digest } of imported.length > 1 ? imported : []) {
    hash.update(`\n${digest} ${name}`);
  }
  return `sha256:${hash.digest('hex')}`;
}

/** Throws what reading `file` throws; a file that it imports in vain is told as it is loaded. */
function collect(file: string, files: Map<string, Buffer>): void {
  const bytes = readFileSync(file);
  files.set(file, bytes);
  for (const path of relativeImports(bytes.toString('utf8'))) {
    const imported = fileURLToPath(new URL(path, pathToFileURL(file)));
    if (files.has(imported)) continue;
    try {
      collect(imported, files);
    } catch {}
  }
}

/** None where the text is no JavaScript, as of a module in TypeScript. */
function relativeImports(text: string): readonly string[] {
  try {
    const [imports] = parse(text);
    return imports.flatMap(({ n: path }) => (path?.startsWith('.') === true ? [path] : []));
  } catch {
    return [];
  }
}
