/**
 * Leaves out of zod what nobody asks for, but what its classes hold on to: the methods of a schema
 * of which no module here speaks, what makes a JSON Schema of one, and errors in forty languages.
 * With it, what our own schemas say for the readers of a JSON Schema. Both JSON Schemas are made
 * beforehand, by the zod of `node_modules` (`schemas.mjs`).
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parseSync } from 'rolldown/utils';

const CLASSES = /[\\/]node_modules[\\/]zod[\\/]v4[\\/]classic[\\/]schemas\.js$/;
const LOCALES = /[\\/]node_modules[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/;
const OURS = /[\\/]src[\\/].*\.ts$/;
const zod = new URL('../node_modules/zod/v4/', import.meta.url);
const ours = new URL('../src/', import.meta.url);

/** A name behind a point, but not one of a module that is imported whole. */
const NAME_READ = /(?<!\b(?:z|core|util|checks|errors|regexes|schemas))\.\s*(\w+)/g;

/** All those in the sources below a folder. */
function namesReadIn(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const texts = files
    .filter((file) => /(?<!\.(?:test|fixture|d))\.[jt]s$/.test(file))
    .map((file) => readFileSync(new URL(file, folder), 'utf8'));
  return texts.flatMap((text) => [...text.matchAll(NAME_READ)].map(([, name]) => name));
}

/** What may be called of a schema: by our modules, or by zod itself. */
function methodsUsed(code) {
  const own = [...code.matchAll(/\b(?:this|inst)\??\.(\w+)/g)].map(([, name]) => name);
  return new Set([...own, ...namesReadIn(ours), ...namesReadIn(new URL('core/', zod))]);
}

/** What leads to the makers of a JSON Schema. */
const OF_JSON = /\bprocessors\.|JSONSchemaMethod\(/;

function* nodesIn(node) {
  if (Array.isArray(node)) for (const each of node) yield* nodesIn(each);
  else if (typeof node === 'object' && node !== null) {
    if (typeof node.type === 'string') yield node;
    for (const inner of Object.values(node)) yield* nodesIn(inner);
  }
}

/** Where `code` has what may go: `[start, end]`, none within another. */
function* unusedIn(code, used) {
  const { program } = parseSync('schemas.js', code);
  for (const node of nodesIn(program)) {
    // `$constructor(name, begin, methods)`, or `derived(fields, methods)` in place of the methods.
    if (node.type !== 'CallExpression' || node.callee.property?.name !== '$constructor') continue;
    const [, begin, methods] = node.arguments;
    for (const { expression, start, end } of begin.body.body ?? []) {
      if (expression?.left?.property?.name === 'processJSONSchema') yield [start, end];
    }
    const lists = methods?.type === 'CallExpression' ? methods.arguments : [methods ?? {}];
    for (const { properties = [] } of lists) {
      for (const { key, start, end } of properties) {
        const isUsed = used.has(key.name ?? key.value) && !OF_JSON.test(code.slice(start, end));
        if (!isUsed && code[end] === ',') yield [start, end + 1];
      }
    }
  }
}

/** What schemas of ours say in words: `.describe('…')`, and the second text of `optional`. */
function* wordsIn(code, id) {
  const fromFields = /^import \{[^}]*\boptional\b[^}]*\} from '[^']*\/fields\.ts'/m.test(code);
  for (const node of nodesIn(parseSync(id, code).program)) {
    if (node.type !== 'CallExpression') continue;
    const { callee, arguments: given, end } = node;
    const last = given.at(-1);
    if (last?.type !== 'Literal' && last?.type !== 'TemplateLiteral') continue;
    if (callee.property?.name === 'describe') yield [callee.object.end, end];
    else if (callee.name === 'optional' && fromFields) yield [given[0].end, last.end];
  }
}

function without(code, spans) {
  const last = [...spans].sort(([a], [b]) => b - a);
  return last.reduce((text, [start, end]) => text.slice(0, start) + text.slice(end), code);
}

export const zodAsUsed = {
  name: 'zod-as-used',
  load: (id) => (LOCALES.test(id) ? 'export {};' : null),
  transform(code, id) {
    if (CLASSES.test(id)) {
      const unused = [...unusedIn(code, methodsUsed(code))];
      if (unused.length === 0) throw new Error('zod: its classes are made in another way by now');
      return without(code, unused);
    }
    return OURS.test(id) && /^import \{ z \} from 'zod'/m.test(code)
      ? without(code, wordsIn(code, id))
      : null;
  },
};
