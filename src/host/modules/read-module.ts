/**
 * Reads a module of a user's as JavaScript, on every Node alike. What TypeScript adds to it is
 * overwritten by blanks, so that lines and columns stay what they are in the file. What would need
 * more, such as an enum, is refused with its place.
 *
 * Whether a file in TypeScript is a module or CommonJS is seen by how it is written, since tools
 * differ in what they make of `"type"`: who writes `import` or `export` means a module.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { initSync, parse } from 'es-module-lexer';
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
  return { ...stripped, form: typedForm(file, ending, stripped.text) };
}

function scriptForm(file: string, ending: string, text: string): ModuleForm {
  if (ending === 'mjs') return 'module';
  if (ending === 'cjs') return 'commonjs';
  return packageType(file) ?? (hasModuleSyntax(text) ? 'module' : 'commonjs');
}

function typedForm(file: string, ending: string, text: string): ModuleForm {
  if (ending === 'mts' || hasModuleSyntax(text)) return 'module';
  return ending === 'cts' ? 'commonjs' : (packageType(file) ?? 'commonjs');
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

function hasModuleSyntax(text: string): boolean {
  initSync();
  try {
    return parse(text)[3];
  } catch {
    // It is run, so that Node says where it is wrong.
    return /^\s*(?:import|export)\b/m.test(text);
  }
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
