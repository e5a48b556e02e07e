/**
 * Reads a module of a user's as JavaScript, on every Node alike. What TypeScript adds to it is
 * overwritten by blanks, so that lines and columns stay what they are in the file. What would need
 * more, such as an enum, is refused with its place. A name that is imported and used as a type only
 * goes too, as TypeScript has it: `import { Lease } from './lease'` would find no such value.
 *
 * Whether a file in TypeScript is a module or CommonJS is seen by how it is written, since tools
 * differ in what they make of `"type"`: who writes `import` or `export` means a module.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ImportSpecifier, initSync, parse } from 'es-module-lexer';
import { isTypeScript } from './resolve-module.ts';

/** How a file is run. */
export type ModuleForm = 'module' | 'commonjs' | 'json';

export type ModuleRead =
  | {
      readonly kind: 'read';
      /** JavaScript, or JSON. */
      readonly text: string;
      readonly form: ModuleForm;
    }
  /** `what` begins with the place, as `file:line:column: `. */
  | { readonly kind: 'problem'; readonly what: string };

/** What the file at the URL is; runs nothing of it. Throws what `readFileSync` throws. */
export function readModule(url: string): ModuleRead {
  const file = fileURLToPath(url);
  const [, ending = ''] = /\.([a-z]+)$/.exec(file) ?? [];
  if (ending === 'node' || ending === 'wasm') {
    return { kind: 'problem', what: `${file}:1:1: this is no JavaScript, but .${ending}` };
  }
  const text = readFileSync(file, 'utf8');
  if (ending === 'json') return { kind: 'read', text, form: 'json' };
  if (!isTypeScript(file)) return { kind: 'read', text, form: scriptForm(file, ending, text) };
  const stripped = stripTypes(text, file);
  if (stripped.kind === 'problem') return stripped;
  const form = typedForm(file, ending, { text, stripped: stripped.text });
  return { ...stripped, form, text: withoutUnused(stripped.text) };
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
  if (ending === 'cts' || /\b(?:require|exports)\b/.test(stripped)) {
    return ending === 'ts' ? (packageType(file) ?? 'commonjs') : 'commonjs';
  }
  // Only types may have been imported and exported.
  return IMPORTS_OR_EXPORTS.test(text) ? 'module' : (packageType(file) ?? 'commonjs');
}

/** What the nearest `package.json` says; null where it says nothing. */
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

/** None where the text is no JavaScript. */
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
    // It is run, so that Node says where it is wrong.
    return IMPORTS_OR_EXPORTS.test(text);
  }
}

/** What stands between the braces of an import; where a comment does too, it is left alone. */
const BRACES = /^import\s+(?:[\p{ID_Continue}$]+\s*,\s*)?\{([^}/]*)\}(?=\s*from\b)/u;
/** A name with what it is called outside, and the comma behind it. */
const IMPORTED = /(?:(?:[\p{ID_Continue}$]+|"[^"]*"|'[^']*')\s+as\s+)?([\p{ID_Continue}$]+)\s*,?/gu;

/** Blanks the names between braces that are imported and stand nowhere else. */
function withoutUnused(text: string): string {
  let kept = text;
  for (const { ss: from, se: to } of importsIn(text)) {
    const [clause, names] = BRACES.exec(text.slice(from, to)) ?? [];
    if (clause === undefined || names === undefined) continue;
    const rest = `${text.slice(0, from)} ${text.slice(to)}`;
    const used = names.replace(IMPORTED, (whole, name: string) =>
      isNamed(name, rest) ? whole : whole.replace(/\S/g, ' '),
    );
    const end = from + clause.length - 1;
    kept = kept.slice(0, end - names.length) + used + kept.slice(end);
  }
  return kept;
}

/** Whether a name stands in a text, be it in a comment. */
function isNamed(name: string, text: string): boolean {
  const exact = name.replaceAll('$', '\\$');
  return new RegExp(`(?<![\\p{ID_Continue}$])${exact}(?![\\p{ID_Continue}$])`, 'u').test(text);
}

type Stripped =
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'problem'; readonly what: string };

const require = createRequire(import.meta.url);

function stripTypes(text: string, file: string): Stripped {
  // Only who has TypeScript waits for it.
  const swc: typeof import('@swc/wasm-typescript') = require('@swc/wasm-typescript');
  try {
    return { kind: 'read', text: swc.transformSync(text, { mode: 'strip-only' }).code };
  } catch (error) {
    if (!isSyntaxProblem(error)) throw error;
    const { message, startLine = 1, startColumn = 0 } = error;
    const place = `${file}:${startLine}:${startColumn + 1}`;
    return { kind: 'problem', what: `${place}: ${inOwnWords(message)}` };
  }
}

interface SyntaxProblem {
  readonly message: string;
  readonly startLine?: number;
  readonly startColumn?: number;
}

/** What the stripper throws is no `Error`. */
function isSyntaxProblem(error: unknown): error is SyntaxProblem {
  if (typeof error !== 'object' || error === null || !('message' in error)) return false;
  return typeof error.message === 'string' && 'code' in error;
}

/** What is more than a type, by the stripper's name for it; and what does the same without. */
const CURES: Readonly<Record<string, string>> = {
  enum: 'write an object `as const`',
  'namespace declaration': 'write a module of its own',
  'module declaration': 'write a module of its own',
  'parameter property': 'declare the field, and assign it in the constructor',
  'import equals declaration': "write `import x from '…'`, or `const x = require('…')`",
  'export assignment': 'write `export default`, or `module.exports =`',
};

function inOwnWords(message: string): string {
  if (message.startsWith('The angle-bracket syntax')) {
    return 'types before an expression, as in `<T>x`, cannot be taken out; write `x as T`';
  }
  const [, syntax] = /^TypeScript (.*) is not supported in strip-only mode$/.exec(message) ?? [];
  if (syntax === undefined) return message;
  const cure = CURES[syntax] ?? 'use what TypeScript compiles it to';
  return `TypeScript's ${syntax} is more than a type, and only types are taken out; ${cure}`;
}
