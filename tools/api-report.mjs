// Prints the public API of the package from the types in `dist`: the names of each entry, and the
// declarations that they reach, without comments. With `--update` it writes them to
// `tools/api-report.txt`, which api-report.slow.test.ts compares, so that reviews see each change
// of the API.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';

const dist = new URL('../dist/', import.meta.url);
export const REPORT = fileURLToPath(new URL('api-report.txt', import.meta.url));

/** Returns the statements of a file of types, each with its text. */
function statementsOf(path) {
  const code = readFileSync(new URL(path, dist), 'utf8');
  const { program, comments } = parseSync(path, code);
  const textOf = ({ start, end }) => {
    const cuts = comments.filter((one) => one.start >= start && one.end <= end);
    const ends = [start, ...cuts.map((one) => one.end)];
    const text = ends.map((from, at) => code.slice(from, cuts[at]?.start ?? end)).join('');
    return text.replaceAll(/\n(?:[ \t]*\n)+/g, '\n').replaceAll(/[ \t]+$/gm, '');
  };
  return program.body.map((node) => ({
    node,
    textOf: () => textOf(node),
    hasDoc: code.slice(0, node.start).trimEnd().endsWith('*/'),
  }));
}

const declaredName = ({ declaration, id, declarations }) =>
  (id ?? declarations?.[0]?.id ?? declaration?.id ?? declaration?.declarations?.[0]?.id)?.name;

/** Returns the names that an entry exports, sorted. */
function namesOf(path) {
  return statementsOf(path)
    .flatMap(({ node }) => (node.type === 'ExportNamedDeclaration' ? node.specifiers : []))
    .map(({ exported }) => exported.name)
    .sort();
}

/** Returns `fencepost` and `fencepost/redis`, each with the names that it exports. */
export function entries() {
  const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return Object.entries(exports).flatMap(([entry, { types }]) => {
    if (types === undefined) return [];
    return [[entry.replace(/^\./, 'fencepost'), namesOf(types.replace('./dist/', ''))]];
  });
}

/** Returns the files of types. */
function typeFiles() {
  return ['', 'shared/'].flatMap((folder) =>
    readdirSync(new URL(folder, dist))
      .filter((name) => name.endsWith('.d.ts'))
      .map((name) => `${folder}${name}`),
  );
}

/** Returns the names that a declaration refers to, type parameters included. */
function referredIn(node, found = new Set()) {
  if (Array.isArray(node)) for (const each of node) referredIn(each, found);
  if (typeof node?.type !== 'string') return found;
  const { typeName, exprName, superClass } = node;
  const heritage = /^TS(?:InterfaceHeritage|ClassImplements)$/.test(node.type);
  for (const named of [typeName, exprName, superClass, heritage ? node.expression : null]) {
    if (named?.type === 'Identifier') found.add(named.name);
  }
  for (const part of Object.values(node)) referredIn(part, found);
  return found;
}

/** Returns the names that each file of types declares, imports and exports. */
function modulesOfTypes() {
  const modules = typeFiles().map((path) => {
    const [declared, imported, exported] = [new Map(), new Map(), new Map()];
    const documented = new Set();
    for (const { node, hasDoc } of statementsOf(path)) {
      const from =
        node.source && new URL(node.source.value.replace(/\.js$/, '.d.ts'), new URL(path, dist));
      for (const { local, imported: its } of node.type === 'ImportDeclaration'
        ? node.specifiers
        : []) {
        imported.set(local.name, { from: from.href, name: its?.name });
      }
      for (const { local, exported: its } of node.type === 'ExportNamedDeclaration'
        ? node.specifiers
        : []) {
        exported.set(its.name, local.name);
      }
      const name = declaredName(node);
      if (name !== undefined)
        declared.set(name, [...(declared.get(name) ?? []), ...referredIn(node)]);
      if (hasDoc) documented.add(name);
    }
    return [new URL(path, dist).href, { declared, imported, exported, documented }];
  });
  return new Map(modules);
}

/** Returns the declarations that each entry exports, as `file#name`, and a function to find one. */
function surface() {
  const modules = modulesOfTypes();
  /** Returns the place of a declaration as `file#name`, or undefined if no file of ours has it. */
  const find = (file, name) => {
    const { declared, imported } = modules.get(file) ?? {};
    if (declared?.has(name)) return `${file}#${name}`;
    const there = imported?.get(name);
    if (there === undefined || !modules.has(there.from)) return undefined;
    return find(there.from, modules.get(there.from).exported.get(there.name));
  };
  const publicIn = (path) => {
    const file = new URL(path, dist).href;
    return [...modules.get(file).exported.values()].map((name) => find(file, name));
  };
  const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const paths = Object.entries(exports).flatMap(([name, { types }]) =>
    types === undefined ? [] : [[name.replace(/^\./, 'fencepost'), types.replace('./dist/', '')]],
  );
  return { modules, find, byEntry: new Map(paths.map(([name, path]) => [name, publicIn(path)])) };
}

/** Returns the names that an entry exports without a doc comment, sorted. */
export function undocumented(entry) {
  const { modules, byEntry } = surface();
  return byEntry
    .get(entry)
    .map((place) => place.split('#'))
    .flatMap(([file, name]) => (modules.get(file).documented.has(name) ? [] : [name]))
    .sort();
}

/** Returns the names that signatures of an entry reach and no entry exports, sorted. */
export function hidden(entry) {
  const { modules, find, byEntry } = surface();
  const exported = new Set([...byEntry.values()].flat());
  const reached = new Set(byEntry.get(entry));
  for (const place of reached) {
    const [file, name] = place?.split('#') ?? [];
    for (const each of modules.get(file)?.declared.get(name) ?? []) {
      const found = find(file, each);
      if (found !== undefined) reached.add(found);
    }
  }
  return [...reached]
    .filter((place) => place !== undefined && !exported.has(place))
    .map((place) => place.split('#')[1])
    .sort();
}

/** Returns each declaration that an entry reaches, by name. */
function declarations() {
  const found = typeFiles()
    .flatMap(statementsOf)
    .flatMap(({ node, textOf }) => {
      const name = /^(?:Import|Export)/.test(node.type) ? undefined : declaredName(node);
      return name === undefined ? [] : [[name, textOf()]];
    });
  return new Map(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function report() {
  const declared = declarations();
  const listed = entries();
  const exported = new Set(listed.flatMap(([, names]) => names));
  const reached = [...declared.keys()].filter((name) => !exported.has(name));
  return [
    ...listed.map(([entry, names]) => `${entry}: ${names.length} names\n  ${names.join('\n  ')}`),
    `reached by these, and not exported: ${reached.length} names\n  ${reached.join('\n  ')}`,
    ...declared.values(),
    '',
  ].join('\n\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--update')) writeFileSync(REPORT, report());
  else process.stdout.write(report());
}
