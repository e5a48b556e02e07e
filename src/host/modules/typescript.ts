/**
 * Translates TypeScript to JavaScript. If possible, types are replaced with blanks, so that lines
 * and columns stay the same. Enums, namespaces, parameter properties, `import x = require()` and
 * `export =` are translated with a source map. The user's own compiler translates decorators,
 * because their meaning depends on settings and compilers.
 */
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
      /** Null if positions in `text` equal those in the file. */
      readonly places: SourcePlaces | null;
      /** The compiler that the text depends on, or null if it depends on the file alone. */
      readonly compiler: Compiler | null;
    }
  | { readonly kind: 'problem'; readonly what: string };

export interface Compiler {
  /** Such as `typescript@5.9.3`. */
  readonly id: string;
  readonly folder: string;
  /** The project settings that affect the compiler's output. */
  readonly settings: string;
}

const require = createRequire(import.meta.url);

export function translate(source: string, file: string): Translation {
  // Loaded only when needed.
  const swc: typeof import('@swc/wasm-typescript') = require('@swc/wasm-typescript');
  let problem: SyntaxProblem = { message: '' };
  for (const mode of ['strip-only', 'transform'] as const) {
    const transform = { noEmptyExport: true };
    const options = { mode, filename: file, sourceMap: true, transform };
    try {
      const { code, map } = swc.transformSync(source, mode === 'transform' ? options : { mode });
      const places = map === undefined ? null : new SourcePlaces({ map, text: code, source });
      const need = needIn(code);
      if (need === null) return { kind: 'read', text: code, places, compiler: null };
      return compile({ source, file, ...need, ...places?.at(need) });
    } catch (error) {
      if (!isSyntaxProblem(error)) throw error;
      problem = error;
      if (error.code !== 'UnsupportedSyntax') break;
    }
  }
  const { message, startLine = 1, startColumn = 0 } = problem;
  const description = file.endsWith('x') ? `${message}; JSX is not translated` : message;
  return { kind: 'problem', what: `${file}:${startLine}:${startColumn + 1}: ${description}` };
}

interface SyntaxProblem {
  readonly message: string;
  readonly code?: unknown;
  readonly startLine?: number;
  readonly startColumn?: number;
}

/** The translator's errors are not instances of `Error`. */
function isSyntaxProblem(error: unknown): error is SyntaxProblem {
  if (typeof error !== 'object' || error === null || error instanceof Error) return false;
  return 'message' in error && typeof error.message === 'string';
}

/** Syntax that only a compiler translates, and its first place. */
interface Need extends SourcePlace {
  readonly need: string;
}

function needIn(text: string): Need | null {
  if (!/(?:^|[\s;,(){}])@[\w$(]|\baccessor\s/m.test(text)) return null;
  try {
    Parser.parse(text, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true });
    return null;
  } catch (error) {
    if (!(error instanceof SyntaxError) || !('pos' in error)) return null;
    const before = text.slice(0, Number(error.pos)).replace(/\baccessor\s+$/, '');
    const isDecorator = text[before.length] === '@';
    if (!isDecorator && before.length === error.pos) return null;
    const lines = before.split('\n');
    const column = (lines.at(-1) ?? '').length + 1;
    return { need: isDecorator ? 'a decorator' : 'accessor', line: lines.length, column };
  }
}

interface Source extends Need {
  readonly source: string;
  readonly file: string;
}

/** Cached results by file, because compilers are slow. */
const compiled: Map<string, Translation & { readonly source: string }> = new Map();

/** Compiles with the first compiler that the file itself could import. */
function compile(input: Source): Translation {
  const { source, file, need, line, column } = input;
  const known = compiled.get(file);
  const settings = settingsFor(file);
  const inWords = JSON.stringify(settings);
  const at = `${file}:${line}:${column}`;
  if (known?.kind === 'read' && known.source === source && known.compiler?.settings === inWords) {
    return known;
  }
  const ofUser = createRequire(file);
  const hasTypes = settings.emitDecoratorMetadata;
  let found = 'none is installed';
  // esbuild has no type information.
  for (const [name, by] of COMPILERS.slice(0, hasTypes ? 2 : 3)) {
    let id = name;
    try {
      const folder = dirname(ofUser.resolve(`${name}/package.json`));
      const { version }: { readonly version: string } = ofUser(`${name}/package.json`);
      id = `${name}@${version}`;
      const made = by(ofUser(name), { source, file, settings });
      if (made === null) {
        found = `${id} has no suitable API`;
        continue;
      }
      const places = new SourcePlaces({ map: made.map, text: made.code, source });
      const compiler = { id, folder, settings: inWords };
      const translation = { kind: 'read', text: made.code, places, compiler } as const;
      compiled.set(file, { ...translation, source });
      return translation;
    } catch (error) {
      if (id === name) continue; // it is not installed
      const [reason] = errorText(error).split('\n');
      return { kind: 'problem', what: `${at}: ${id} cannot translate it: ${reason}` };
    }
  }
  const cure = hasTypes
    ? 'for emitDecoratorMetadata add typescript 5 or @swc/core to the project'
    : 'add typescript 5, @swc/core or esbuild to the project';
  const message = `${need} needs your own compiler, but ${found}; ${cure}`;
  return { kind: 'problem', what: `${at}: ${message}` };
}

interface Settings {
  readonly experimentalDecorators: boolean;
  readonly emitDecoratorMetadata: boolean;
  readonly useDefineForClassFields: boolean;
}

function settingsFor(file: string): Settings {
  const options = getTsconfig(dirname(file))?.config.compilerOptions ?? {};
  const isNew = /^es(?:next|202[2-9])$/i.test(options.target ?? 'esnext');
  return {
    experimentalDecorators: options.experimentalDecorators === true,
    emitDecoratorMetadata: options.emitDecoratorMetadata === true,
    useDefineForClassFields: options.useDefineForClassFields ?? isNew,
  };
}

interface Job {
  readonly source: string;
  readonly file: string;
  readonly settings: Settings;
}

interface Api {
  readonly ModuleKind?: Readonly<Record<string, unknown>>;
  readonly transpileModule?: (
    source: string,
    options: object,
  ) => { readonly outputText: string; readonly sourceMapText?: string };
  readonly transformSync?: (source: string, options: object) => Made;
}

type Made = { readonly code: string; readonly map: string };
/** Returns null if this version of the compiler has no such function. */
type Compile = (compiler: Api, job: Job) => Made | null;

/** In order of preference. */
const COMPILERS: readonly (readonly [name: string, compile: Compile])[] = [
  ['typescript', byTypeScript],
  ['@swc/core', bySwc],
  ['esbuild', byEsbuild],
];

function byTypeScript(compiler: Api, { source, file, settings }: Job): Made | null {
  const module = compiler.ModuleKind?.['Preserve'] === undefined ? 'esnext' : 'preserve';
  const compilerOptions = { ...settings, target: 'es2022', module, sourceMap: true };
  const made = compiler.transpileModule?.(source, { fileName: file, compilerOptions });
  if (made === undefined) return null; // TypeScript 7 has no such function
  const { outputText, sourceMapText = '{}' } = made;
  return { code: outputText.replace(/\/\/# sourceMappingURL=.*\s*$/, ''), map: sourceMapText };
}

function bySwc(compiler: Api, { source, file, settings }: Job): Made | null {
  const { experimentalDecorators: legacyDecorator, emitDecoratorMetadata } = settings;
  const transform = {
    legacyDecorator,
    ...(legacyDecorator ? {} : { decoratorVersion: '2022-03' }),
    decoratorMetadata: emitDecoratorMetadata,
    useDefineForClassFields: settings.useDefineForClassFields,
  };
  const jsc = { target: 'es2022', parser: { syntax: 'typescript', decorators: true }, transform };
  const options = { filename: file, sourceMaps: true, swcrc: false, configFile: false, jsc };
  return compiler.transformSync?.(source, options) ?? null;
}

function byEsbuild(compiler: Api, { source, file, settings }: Job): Made | null {
  const output = { sourcemap: 'external', sourcefile: file, target: 'es2022', logLevel: 'silent' };
  const tsconfigRaw = { compilerOptions: settings };
  return compiler.transformSync?.(source, { ...output, loader: 'ts', tsconfigRaw }) ?? null;
}
