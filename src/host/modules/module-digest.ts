/**
 * Computes a module's version as plans record it: one digest of all user files that the module
 * reaches. Other files and packages have an entry each, so that a message can name the difference:
 *
 *     sha256:3afa… ./backoff.ts=9c1185a5c4e9fc54 redlock@5.0.0
 *
 * A file is reached by `import` or `require` of a literal name; a package is also reached through
 * the dependencies of another package. Only the name and version of a package count. Fencepost
 * itself is not included.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { importsIn, type ModuleRead, readModule } from './read-module.ts';
import { type Asking, isUserFile, resolveModule } from './resolve-module.ts';

/** Returns a module's version without running it. Throws what reading the file throws. */
export function moduleVersion(file: string): string {
  const reached = new Reach();
  reached.add(file);
  const named = namesOf(file, reached.files);
  const others = named.filter(({ path }) => path !== file);
  // Digests the file's bytes and, if there are other files, the digests and names of all files.
  const hash = createHash('sha256').update(reached.files.get(file) ?? '');
  if (others.length > 0) {
    for (const { path, digest } of named) hash.update(`\n${digest} ${nameFrom(file, path)}`);
  }
  const words = [
    `sha256:${hash.digest('hex')}`,
    ...others.map(({ name, digest }) => `${name}=${digest.slice(0, 16)}`),
    ...[...reached.packages.keys()].sort(byText),
  ];
  return words.join(' ');
}

/** Returns the differences, such as `./backoff.ts has changed`, except in the module's own file. */
export function differences(recorded: string, digest: string): readonly string[] {
  const [theirs, ours] = [partsOf(recorded), partsOf(digest)];
  return [...new Set([...theirs.keys(), ...ours.keys()])].sort(byText).flatMap((name) => {
    const [was, is] = [theirs.get(name), ours.get(name)];
    if (was === is) return [];
    if (is === undefined) return [`${name} is no longer used`];
    if (was === undefined) return [`${name} is new`];
    return name.startsWith('.') ? [`${name} has changed`] : [`${name} is ${is} and was ${was}`];
  });
}

function partsOf(digest: string): ReadonlyMap<string, string> {
  const [, ...words] = digest.split(' ');
  return new Map(
    words.map((word) => {
      const at = word.startsWith('.') ? word.lastIndexOf('=') : word.lastIndexOf('@');
      return [word.slice(0, at), word.slice(at + 1)];
    }),
  );
}

type Files = ReadonlyMap<string, Buffer>;

class Reach {
  /** Contents by path. */
  readonly files: Map<string, Buffer> = new Map();
  /** Folders by `name@version`. */
  readonly packages: Map<string, string> = new Map();

  add(file: string): void {
    // Git may check out a file with `\r\n`, which means the same in scripts and in JSON.
    const text = readFileSync(file).toString('latin1').replaceAll('\r\n', '\n');
    const bytes = Buffer.from(text, 'latin1');
    this.files.set(file, bytes);
    const parent = pathToFileURL(file).href;
    const read = readModule(parent);
    if (read.kind === 'problem') return;
    if (read.compiler !== null) {
      const { id, folder, settings } = read.compiler;
      this.packages.set(id, folder);
      this.files.set(file, Buffer.concat([bytes, Buffer.from(settings)]));
    }
    for (const { specifier, asking } of asked(read)) {
      if (/^fencepost(?:\/|$)/.test(specifier)) continue;
      const found = resolveModule(specifier, parent, asking);
      if (found.kind !== 'file') continue;
      if (!isUserFile(found.url)) this.addPackage(fileURLToPath(found.url));
      else this.addInTurn(fileURLToPath(found.url));
    }
  }

  /** Skips an unreadable file, because loading it reports the error. */
  private addInTurn(file: string): void {
    if (this.files.has(file)) return;
    try {
      this.add(file);
    } catch {}
  }

  private addPackage(file: string): void {
    const found = packageOf(file);
    if (found === null || this.packages.has(found.id)) return;
    this.packages.set(found.id, found.folder);
    for (const name of found.needs) {
      const needed = installed(name, found.folder);
      if (needed !== null) this.addPackage(needed);
    }
  }
}

interface Asked {
  readonly specifier: string;
  readonly asking: Asking;
}

const REQUIRE = /\brequire\s*\(\s*(["'])([^"'\n]+)\1\s*\)/g;

/** Names in comments are included, too. */
function asked({ form, text }: ModuleRead & { readonly kind: 'read' }): readonly Asked[] {
  if (form === 'json') return [];
  const imported = importsIn(text).flatMap(({ n: specifier }) => specifier ?? []);
  const required = [...text.matchAll(REQUIRE)].map(([, , specifier = '']) => specifier);
  return [
    ...imported.map((specifier) => ({ specifier, asking: 'import' as const })),
    ...required.map((specifier) => ({ specifier, asking: 'require' as const })),
  ];
}

interface NamedFile {
  readonly path: string;
  /** Path relative to the module, beginning with a dot, without blanks. */
  readonly name: string;
  readonly digest: string;
}

function namesOf(file: string, files: Files): readonly NamedFile[] {
  const named = [...files].map(([path, bytes]) => {
    const from = encodeURI(nameFrom(file, path));
    const digest = createHash('sha256').update(bytes).digest('hex');
    return { path, name: from.startsWith('.') ? from : `./${from}`, digest };
  });
  return named.sort((a, b) => byText(nameFrom(file, a.path), nameFrom(file, b.path)));
}

function nameFrom(file: string, path: string): string {
  return relative(dirname(file), path).replaceAll('\\', '/');
}

function byText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

interface Package {
  /** `name@version`. */
  readonly id: string;
  readonly folder: string;
  readonly needs: readonly string[];
}

function packageOf(file: string): Package | null {
  for (let folder = dirname(file); dirname(folder) !== folder; folder = dirname(folder)) {
    const manifest = manifestIn(folder);
    if (typeof manifest['name'] !== 'string' || typeof manifest['version'] !== 'string') continue;
    const needs = [manifest['dependencies'], manifest['optionalDependencies']].flatMap((named) =>
      typeof named === 'object' && named !== null ? Object.keys(named) : [],
    );
    return { id: `${manifest['name']}@${manifest['version']}`, folder, needs };
  }
  return null;
}

function manifestIn(folder: string): Readonly<Record<string, unknown>> {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return typeof manifest === 'object' && manifest !== null ? { ...manifest } : {};
  } catch {
    return {};
  }
}

function installed(name: string, folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    const file = join(at, 'node_modules', name, 'package.json');
    if (existsSync(file)) return realpathSync(file);
    if (dirname(at) === at) return null;
  }
}
