// Prints what the package makes public, from the types in `dist`: the names of each entry, and the
// declaration of everything that they reach, without comments. With `--update` it writes that to
// `tools/api-report.txt`, which api-report.slow.test.ts compares: a change of the public surface is
// a change of that file, which a review sees.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';

const dist = new URL('../dist/', import.meta.url);
export const REPORT = fileURLToPath(new URL('api-report.txt', import.meta.url));

/** The statements of a file of types, each with its text. */
function statementsOf(path) {
  const code = readFileSync(new URL(path, dist), 'utf8');
  const { program, comments } = parseSync(path, code);
  const textOf = ({ start, end }) => {
    const cuts = comments.filter((one) => one.start >= start && one.end <= end);
    const ends = [start, ...cuts.map((one) => one.end)];
    const text = ends.map((from, at) => code.slice(from, cuts[at]?.start ?? end)).join('');
    return text.replaceAll(/\n(?:[ \t]*\n)+/g, '\n').replaceAll(/[ \t]+$/gm, '');
  };
  return program.body.map((node) => ({ node, textOf: () => textOf(node) }));
}

const declaredName = ({ declaration, id, declarations }) =>
  (id ?? declarations?.[0]?.id ?? declaration?.id ?? declaration?.declarations?.[0]?.id)?.name;

/** The names that an entry exports, sorted. */
function namesOf(path) {
  return statementsOf(path)
    .flatMap(({ node }) => (node.type === 'ExportNamedDeclaration' ? node.specifiers : []))
    .map(({ exported }) => exported.name)
    .sort();
}

/** `fencepost` and `fencepost/redis`, each with the names that it exports. */
export function entries() {
  const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return Object.entries(exports).flatMap(([entry, { types }]) => {
    if (types === undefined) return [];
    return [[entry.replace(/^\./, 'fencepost'), namesOf(types.replace('./dist/', ''))]];
  });
}

/** By name, each declaration that an entry reaches. */
function declarations() {
  const folders = ['', 'shared/'];
  const paths = folders.flatMap((folder) =>
    readdirSync(new URL(folder, dist))
      .filter((name) => name.endsWith('.d.ts'))
      .map((name) => `${folder}${name}`),
  );
  const found = paths.flatMap(statementsOf).flatMap(({ node, textOf }) => {
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
