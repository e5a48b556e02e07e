/**
 * Reads a user's module as JavaScript, in the same way on every version of Node; `typescript.ts`
 * translates TypeScript. Imports that are used only as types are removed, as in TypeScript.
 * Otherwise `import { Lease } from './lease'` would fail, because no such value is exported.
 *
 * `import` or `export` makes a TypeScript file an ES module, regardless of `"type"`, which tools
 * interpret differently.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ImportSpecifier, initSync, parse } from 'es-module-lexer';
import type { SourcePlaces } from '../async/source-places.ts';
import { isTypeScript } from './resolve-module.ts';
import { type Compiler, translate } from './typescript.ts';

/** The kind of code in a file. */
export type ModuleForm = 'module' | 'commonjs' | 'json';

export type ModuleRead =
  | {
      readonly kind: 'read';
      readonly text: string;
      readonly form: ModuleForm;
      /** Null if positions in `text` equal those in the file. */
      readonly places: SourcePlaces | null;
      /** The user's compiler that produced the text, or null if it was not compiled. */
      readonly compiler: Compiler | null;
    }
  /** `what` begins with the place, as `file:line:column: `. */
  | { readonly kind: 'problem'; readonly what: string };

/** Reads the file at a URL; does not run it. Throws what `readFileSync` throws. */
export function readModule(url: string): ModuleRead {
  const file = fileURLToPath(url);
  const [, ending = ''] = /\.([a-z]+)$/.exec(file) ?? [];
  if (ending === 'node' || ending === 'wasm') {
    const code = ending === 'node' ? 'native code' : 'WebAssembly';
    const remedy = 'hand your code a fake of the package that loads it';
    return { kind: 'problem', what: `${file}:1:1: ${code} cannot be simulated; ${remedy}` };
  }
  const text = readFileSync(file, 'utf8');
  const asIs = { kind: 'read', text, places: null, compiler: null } as const;
  if (ending === 'json') return { ...asIs, form: 'json' };
  if (!isTypeScript(file)) return { ...asIs, form: scriptForm(file, ending, text) };
  const made = translate(text, file);
  if (made.kind === 'problem') return made;
  const form = typedForm(file, ending, { text, stripped: made.text });
  if (form === 'module' && EQUALS.test(text))
    return { ...made, form, text: withRequire(made.text) };
  return { ...made, form, text: made.places === null ? withoutUnused(made.text) : made.text };
}

const EQUALS = /^\s*(?:export\s+)?import\s+[\w$]+\s*=\s*require\b|^\s*export\s*=/m;

/**
 * Lets an ES module use `require` and `export =`, as in TypeScript that is compiled to CommonJS.
 */
function withRequire(text: string): string {
  const exported =
    'export { $exported as default, $exported as "module.exports" }; const $exported =';
  return `${text.replace(/^module\.exports =/m, () => exported)}
import { createRequire as $createRequire } from 'node:module';
function require(specifier) { return $createRequire(import.${'meta'}.url)(specifier); }
`; // split, because the bundler would replace it
}

function scriptForm(file: string, ending: string, text: string): ModuleForm {
  if (ending === 'mjs') return 'module';
  if (ending === 'cjs') return 'commonjs';
  return packageType(file) ?? (hasModuleSyntax(text) ? 'module' : 'commonjs');
}

function typedForm(
  file: string,
  ending: string,
  { text, stripped }: { readonly text: string; readonly stripped: string },
): ModuleForm {
  if (ending === 'mts' || hasModuleSyntax(stripped)) return 'module';
  if (EQUALS.test(text)) return 'commonjs';
  if (ending === 'cts' || /\b(?:require|exports)\b/.test(stripped)) {
    return ending === 'ts' ? (packageType(file) ?? 'commonjs') : 'commonjs';
  }
  // Perhaps all imports and exports were types.
  return IMPORTS_OR_EXPORTS.test(text) ? 'module' : (packageType(file) ?? 'commonjs');
}

/** Reads the nearest `package.json`. Returns null if it has no type. */
function packageType(file: string): 'module' | 'commonjs' | null {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = manifestIn(folder);
    if (manifest !== null) {
      return manifest.type === 'module' || manifest.type === 'commonjs' ? manifest.type : null;
    }
    if (dirname(folder) === folder) return null;
  }
}

function manifestIn(folder: string): { readonly type?: unknown } | null {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return null;
  }
}

/** Returns the imports of a text, or an empty list if the text is not JavaScript. */
export function importsIn(text: string): readonly ImportSpecifier[] {
  initSync();
  try {
    return parse(text)[0];
  } catch {
    return [];
  }
}

const IMPORTS_OR_EXPORTS = /^\s*(?:import|export)\b/m;

function hasModuleSyntax(text: string): boolean {
  initSync();
  try {
    const [, , , isModule] = parse(text);
    return isModule;
  } catch {
    // Let Node run it and report the syntax error.
    return IMPORTS_OR_EXPORTS.test(text);
  }
}

/** Matches the names between the braces of an import, unless they contain a comment. */
const BRACES = /^import\s+(?:[\p{ID_Continue}$]+\s*,\s*)?\{([^}/]*)\}(?=\s*from\b)/u;
const IMPORTED = /(?:(?:[\p{ID_Continue}$]+|"[^"]*"|'[^']*')\s+as\s+)?([\p{ID_Continue}$]+)\s*,?/gu;

function withoutUnused(text: string): string {
  let kept = text;
  for (const { ss: from, se: to } of importsIn(text)) {
    const [clause, names] = BRACES.exec(text.slice(from, to)) ?? [];
    if (clause === undefined || names === undefined) continue;
    const rest = `${text.slice(0, from)} ${text.slice(to)}`;
    const used = names.replace(IMPORTED, (match, name: string) =>
      isNamed(name, rest) ? match : match.replace(/\S/g, ' '),
    );
    const end = from + clause.length - 1;
    kept = kept.slice(0, end - names.length) + used + kept.slice(end);
  }
  return kept;
}

/** Names in comments count, too. */
function isNamed(name: string, text: string): boolean {
  const exact = name.replaceAll('$', '\\$');
  return new RegExp(`(?<![\\p{ID_Continue}$])${exact}(?![\\p{ID_Continue}$])`, 'u').test(text);
}
