/**
 * Makes JavaScript of a file in TypeScript. Types are overwritten by blanks where that is enough,
 * so lines and columns stay what they are in the file. Enums, namespaces, parameter properties,
 * `import x = require()` and `export =` are translated, with a map of places. What decorators and
 * JSX mean depends on settings and compilers, so they are left to the user's own compiler.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Parser } from 'acorn';
import { getTsconfig } from 'get-tsconfig';
import { errorText } from '../../text/error-text.ts';
import { type SourcePlace, SourcePlaces } from '../async/source-places.ts';

export type Translation =
  | {
      readonly kind: 'read';
      readonly text: string;
      /** Null where every place is the one in the file. */
      readonly places: SourcePlaces | null;
      /** What else the text depends on; null for nothing but the file. */
      readonly compiler: Compiler | null;
    }
  | { readonly kind: 'problem'; readonly what: string };

export interface Compiler {
  /** `typescript@5.9.3`. */
  readonly id: string;
  readonly folder: string;
  /** The settings of the project that change what it makes. */
  readonly settings: string;
}

/** By file: a compiler takes its time, and several read the same file. */
const compiled: Map<string, { readonly source: string; readonly translation: Translation }> =
  new Map();

/** Throws nothing that is wrong with the file. */
export function translate(source: string, file: string): Translation {
  const isJsx = file.endsWith('x');
  const alone = isJsx ? null : translateAlone(source, file);
  if (alone?.kind === 'problem') return alone;
  const need = alone === null ? { what: 'JSX', line: 1, column: 1 } : needIn(alone.text);
  if (need === null && alone !== null) return alone;
  const known = compiled.get(file);
  if (known?.source === source) return known.translation;
  const translation = compile(source, file) ?? alone;
  if (translation !== null && (translation !== alone || need?.what === 'using')) {
    compiled.set(file, { source, translation });
    return translation;
  }
  const { line, column } = alone?.places?.at(need ?? START) ?? need ?? START;
  const { emitDecoratorMetadata } = settingsFor(file);
  const cure = emitDecoratorMetadata
    ? 'for emitDecoratorMetadata add typescript 5 or @swc/core to the project'
    : 'add typescript 5, @swc/core or esbuild to the project';
  const what = `${need?.what ?? 'it'} is for your own compiler to translate, and none is installed`;
  return { kind: 'problem', what: `${file}:${line}:${column}: ${what}; ${cure}` };
}

const START: SourcePlace = { line: 1, column: 1 };

const require = createRequire(import.meta.url);

function translateAlone(source: string, file: string): Translation {
  // Only users of TypeScript wait for it.
  const swc: typeof import('@swc/wasm-typescript') = require('@swc/wasm-typescript');
  try {
    const { code } = swc.transformSync(source, { mode: 'strip-only' });
    return { kind: 'read', text: code, places: null, compiler: null };
  } catch (error) {
    if (!isSyntaxProblem(error)) throw error;
    if (error.code !== 'UnsupportedSyntax') return problemAt(error, file);
  }
  try {
    const transform = { noEmptyExport: true };
    const options = { mode: 'transform', sourceMap: true, filename: file, transform } as const;
    const { code, map = '{}' } = swc.transformSync(source, options);
    const places = new SourcePlaces({ map, text: code, source });
    return { kind: 'read', text: code, places, compiler: null };
  } catch (error) {
    if (!isSyntaxProblem(error)) throw error;
    return problemAt(error, file);
  }
}

interface SyntaxProblem {
  readonly message: string;
  readonly code?: unknown;
  readonly startLine?: number;
  readonly startColumn?: number;
}

/** What the translator throws is no `Error`. */
function isSyntaxProblem(error: unknown): error is SyntaxProblem {
  if (typeof error !== 'object' || error === null || error instanceof Error) return false;
  return 'message' in error && typeof error.message === 'string';
}

function problemAt(problem: SyntaxProblem, file: string): Translation {
  const { message, startLine = 1, startColumn = 0 } = problem;
  return { kind: 'problem', what: `${file}:${startLine}:${startColumn + 1}: ${message}` };
}

/** The first thing that only a compiler translates; null where there is none. */
function needIn(text: string): (SourcePlace & { readonly what: string }) | null {
  if (!/(?:^|[\s;,(){}])@[\w$(]|\baccessor\s|\busing\s/m.test(text)) return null;
  try {
    Parser.parse(text, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true });
    return /\busing\s+[\w$]+\s*=/.test(text) ? { what: 'using', ...START } : null;
  } catch (error) {
    if (!(error instanceof SyntaxError) || !('pos' in error)) return null;
    const before = text.slice(0, Number(error.pos)).replace(/\baccessor\s+$/, '');
    const isDecorator = text[before.length] === '@';
    if (!isDecorator && before.length === error.pos) return null;
    const lines = before.split('\n');
    const place = { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
    return { what: isDecorator ? 'a decorator' : 'accessor', ...place };
  }
}

/** The settings of a project that matter to what its compiler makes. */
interface Settings {
  readonly experimentalDecorators: boolean;
  readonly emitDecoratorMetadata: boolean;
  readonly useDefineForClassFields: boolean;
  readonly jsx: 'react' | 'react-jsx';
  readonly jsxFactory?: string;
  readonly jsxFragmentFactory?: string;
  readonly jsxImportSource?: string;
}

function settingsFor(file: string): Settings {
  const given = getTsconfig(dirname(file))?.config.compilerOptions ?? {};
  const {
    experimentalDecorators = false,
    emitDecoratorMetadata = false,
    target = 'esnext',
  } = given;
  const isNew = /^es(?:next|202[2-9])$/i.test(target);
  const { jsxFactory, jsxFragmentFactory, jsxImportSource } = given;
  return {
    experimentalDecorators,
    emitDecoratorMetadata,
    useDefineForClassFields: given.useDefineForClassFields ?? isNew,
    jsx: given.jsx === 'react' ? 'react' : 'react-jsx',
    ...(jsxFactory === undefined ? {} : { jsxFactory }),
    ...(jsxFragmentFactory === undefined ? {} : { jsxFragmentFactory }),
    ...(jsxImportSource === undefined ? {} : { jsxImportSource }),
  };
}

interface Job {
  readonly source: string;
  readonly file: string;
  readonly settings: Settings;
}

/** Null where this version of the compiler has no such function. */
type Compile = (
  compiler: object,
  job: Job,
) => { readonly code: string; readonly map: string } | null;

/** By package, in the order in which they are looked for. */
const COMPILERS: readonly (readonly [name: string, compile: Compile])[] = [
  ['typescript', byTypeScript],
  ['@swc/core', bySwc],
  ['esbuild', byEsbuild],
];

/** By the first compiler that the file itself could import; null where there is none. */
function compile(source: string, file: string): Translation | null {
  const ofUser = createRequire(file);
  const settings = settingsFor(file);
  for (const [name, by] of COMPILERS) {
    // It has no types at hand.
    if (name === 'esbuild' && settings.emitDecoratorMetadata) continue;
    let manifest: string;
    try {
      manifest = ofUser.resolve(`${name}/package.json`);
    } catch {
      continue;
    }
    const { version }: { readonly version: string } = JSON.parse(readFileSync(manifest, 'utf8'));
    const compiler = { id: `${name}@${version}`, folder: dirname(manifest) };
    try {
      const made = by(ofUser(name), { source, file, settings });
      if (made === null) continue;
      const places = new SourcePlaces({ map: made.map, text: made.code, source });
      const inWords = JSON.stringify(settings);
      return {
        kind: 'read',
        text: made.code,
        places,
        compiler: { ...compiler, settings: inWords },
      };
    } catch (error) {
      const [line = ''] = errorText(error).split('\n');
      return {
        kind: 'problem',
        what: `${file}:1:1: ${compiler.id} does not translate it: ${line}`,
      };
    }
  }
  return null;
}

function byTypeScript(compiler: object, { source, file, settings }: Job): ReturnType<Compile> {
  const typescript: TypeScript = compiler;
  // Version 7 has none.
  if (typescript.transpileModule === undefined) return null;
  const module = typescript.ModuleKind?.['Preserve'] === undefined ? 'esnext' : 'preserve';
  const compilerOptions = { ...settings, target: 'es2022', module, sourceMap: true };
  const made = typescript.transpileModule(source, { fileName: file, compilerOptions });
  const { outputText, sourceMapText = '{}' } = made;
  return { code: outputText.replace(/\/\/# sourceMappingURL=.*\s*$/, ''), map: sourceMapText };
}

interface TypeScript {
  readonly ModuleKind?: Readonly<Record<string, unknown>>;
  readonly transpileModule?: (
    source: string,
    options: { readonly fileName: string; readonly compilerOptions: object },
  ) => { readonly outputText: string; readonly sourceMapText?: string };
}

function bySwc(compiler: object, { source, file, settings }: Job): ReturnType<Compile> {
  const swc: Transformer = compiler;
  const { experimentalDecorators: isLegacy, jsx } = settings;
  const options = {
    filename: file,
    sourceMaps: true,
    swcrc: false,
    configFile: false,
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', tsx: file.endsWith('x'), decorators: true },
      transform: {
        legacyDecorator: isLegacy,
        decoratorMetadata: settings.emitDecoratorMetadata,
        useDefineForClassFields: settings.useDefineForClassFields,
        ...(isLegacy ? {} : { decoratorVersion: '2022-03' }),
        react: {
          runtime: jsx === 'react' ? 'classic' : 'automatic',
          importSource: settings.jsxImportSource,
          pragma: settings.jsxFactory,
          pragmaFrag: settings.jsxFragmentFactory,
        },
      },
    },
  };
  return swc.transformSync?.(source, options) ?? null;
}

function byEsbuild(compiler: object, { source, file, settings }: Job): ReturnType<Compile> {
  const esbuild: Transformer = compiler;
  const options = {
    loader: file.endsWith('x') ? 'tsx' : 'ts',
    sourcemap: 'external',
    sourcefile: file,
    target: 'es2022',
    logLevel: 'silent',
    tsconfigRaw: { compilerOptions: settings },
  };
  return esbuild.transformSync?.(source, options) ?? null;
}

interface Transformer {
  readonly transformSync?: (
    source: string,
    options: object,
  ) => { readonly code: string; readonly map: string };
}
