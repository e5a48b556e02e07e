/**
 * Takes fengari in as ECMAScript modules, which it is not: as CommonJS, no name of its 1,500 could
 * be shortened and none left out. Its files have three forms of `require` and one of an export, each
 * on a line of its own or a list in braces; anything else fails the build.
 */
import { readFileSync } from 'node:fs';
import { parse } from 'node:path';

const PATH = /[\\/]node_modules[\\/]fengari[\\/]src[\\/]\w+\.js$/;

/**
 * Libraries of Lua that no script on Redis has, but that fengari loads with all others, and what
 * reads compiled chunks, which `load` of the sandbox refuses.
 */
const LEFT_OUT = [
  'fengarilib',
  'ldblib',
  'linit',
  'liolib',
  'loadlib',
  'loslib',
  'lundump',
  'lutf8lib',
];

/** All words of the sandbox: a function that its text does not name it takes from no library. */
const sandbox = new URL('../src/host/redis/lua-sandbox.ts', import.meta.url);
const WORDS = new Set(readFileSync(sandbox, 'utf8').match(/\w+/g));

/** Two of its functions are replaced while a script runs, so that it stays an object. */
const AS_OBJECT = 'lobject';

const isLeftOut = (from) => LEFT_OUT.includes(parse(from).name);
const isReplaced = (from) => parse(from).name === AS_OBJECT;

/** `const ldo = require('./ldo.js')`, and what is read of it by name. */
function imported(name, from) {
  if (isLeftOut(from)) return '';
  return isReplaced(from)
    ? `import ${name} from ${JSON.stringify(from)};`
    : `import * as ${name} from ${JSON.stringify(from)};`;
}

/** `const { LUA_OK, thread_status: { LUA_YIELD } } = require('./defs.js')`. */
function importedByName(names, from) {
  const later = [];
  const flat = names.replaceAll(/(\w+): (\{[^{}]*\})/g, (_, name, inner) => {
    later.push(`const ${inner} = from_${name};`);
    return `${name} as from_${name}`;
  });
  return [`import ${flat} from ${JSON.stringify(from)};`, ...later].join('\n');
}

/** `module.exports.lua_call = …`: what it is in its own file, or in another. */
function exported(name, value, modules) {
  const [, from, inOther] = /^(\w+)\.(\w+)$/.exec(value) ?? [];
  if (modules.has(from) && isLeftOut(modules.get(from))) return '';
  if (/^[A-Za-z_]\w*$/.test(value)) return `export { ${value} as ${name} };`;
  if (modules.has(from) && !isReplaced(modules.get(from))) {
    return `export { ${inOther} as ${name} } from ${JSON.stringify(modules.get(from))};`;
  }
  return `const exported_${name} = ${value};\nexport { exported_${name} as ${name} };`;
}

/** A file of fengari as a module. */
function asModule(code, name) {
  const modules = new Map();
  const withImports = code
    // Where it looks for files, for which it needs a module that needs this one first.
    .replace(/^const LUA_VDIR[\s\S]*?^\}$/m, '')
    // What it has for Node alone asks for the packages of a terminal, as soon as it is loaded.
    .replaceAll('typeof process', '"undefined"')
    // What a library has for others: `"pack": str_pack,`.
    .replaceAll(/^ +"(\w+)": +\w+,?$/gm, (entry, own) =>
      !/^l\w+lib$/.test(name) || WORDS.has(own) ? entry : '',
    )
    // What it exports on a condition is the library of files.
    .replaceAll(/^ +module\.exports\..*$/gm, '')
    .replaceAll(/^module\.exports\.(\w+) = require\((.*?)\)\.(\w+);/gm, (_, own, from, theirs) =>
      isLeftOut(JSON.parse(from)) ? '' : `export { ${theirs} as ${own} } from ${from};`,
    )
    .replaceAll(/^const (\w+) *= require\(["'](.*?)["']\);/gm, (_, own, from) => {
      modules.set(own, from);
      return imported(own, from);
    })
    .replaceAll(/^const (\{[^=;]*\}) *= require\(["'](.*?)["']\);/gm, (_, names, from) =>
      importedByName(names, from),
    );
  if (name === AS_OBJECT) {
    return `const module = { exports: {} };\n${withImports}\nexport default module.exports;`;
  }
  const text = withImports.replaceAll(/^module\.exports\.(\w+) *= ([^;]+);/gm, (_, own, value) =>
    exported(own, value, modules),
  );
  if (/^module\.exports/m.test(text)) throw new Error(`${name} exports in a new way`);
  return text;
}

export const luaAsModules = {
  name: 'lua-as-modules',
  transform(code, id) {
    if (!PATH.test(id)) return null;
    return { code: asModule(code, parse(id).name) };
  },
};
