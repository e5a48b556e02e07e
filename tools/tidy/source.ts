/**
 * Reads TypeScript sources for the style rules: text, syntax tree, and the names that are globals.
 * The compiler's API is still `unstable`, so only these rules depend on it.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  isIdentifier,
  isNoSubstitutionTemplateLiteral,
  isStringLiteral,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast';
import { API, type Project } from 'typescript/unstable/sync';

/** One source as the rules see it. */
export interface Source {
  /** Path from the project root, such as `src/core/plan/plan.ts`. */
  readonly path: string;
  readonly text: string;
  readonly tree: SourceFile;
  /**
   * The identifiers that refer to a declaration outside the project. Empty unless requested, since
   * looking up all of them takes ten seconds.
   */
  readonly globals: ReadonlySet<Node>;
}

/** Reports the violations in a source, one per line, with the replacement. */
export type Rule = (source: Source) => readonly string[];

/** Snippets that a rule must refuse, with a part of its message, and those that it must accept. */
export interface Sample {
  readonly refuses: readonly (readonly [path: string, text: string, says: string])[];
  readonly passes: readonly (readonly [path: string, text: string])[];
}

const ROOT: string = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/** Returns true if the globals of a file are requested. */
type Asks = (path: string) => boolean;

/** Reads all TypeScript files below `folders`, in a fixed order. */
export function readProject(folders: readonly string[], asks: Asks): readonly Source[] {
  const paths = folders.flatMap((folder) =>
    readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.ts') && !path.startsWith('tools/built/')),
  );
  return read(paths.sort().map((path) => ({ path, file: `${ROOT}/${path}`, asks: asks(path) })));
}

/** Reads texts, each as if it were alone in a project, at its path. */
export function readSnippets(
  snippets: readonly { readonly path: string; readonly text: string }[],
): readonly Source[] {
  return read(
    snippets.map(({ path, text }, at) => {
      return { path, file: `${ROOT}/snippet-${at}/${path}`, text, asks: true };
    }),
  );
}

/** The place of a source; its text unless it is on disk. */
interface Place {
  readonly path: string;
  readonly file: string;
  readonly text?: string;
  /** True if its globals are requested. */
  readonly asks: boolean;
}

/** Reads all places with one compiler. */
function read(places: readonly Place[]): readonly Source[] {
  const config = `${ROOT}/tsconfig.tidy.json`;
  const setting = {
    extends: './tsconfig.json',
    compilerOptions: { moduleDetection: 'force' },
    include: [],
    files: places.map(({ file }) => file),
  };
  const files = new Map([[config, JSON.stringify(setting)]]);
  for (const { file, text } of places) if (text !== undefined) files.set(file, text);
  const api = new API({
    cwd: ROOT,
    fs: {
      readFile: (name) => files.get(name),
      fileExists: (name) => (files.has(name) ? true : undefined),
    },
  });
  try {
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects();
    if (project === undefined) throw new Error('the compiler opened no project');
    return places.map((place) => sourceOf(project, place));
  } finally {
    api.close();
  }
}

function sourceOf(project: Project, { path, file, asks }: Place): Source {
  const tree = project.program.getSourceFile(file);
  if (tree === undefined) throw new Error(`the compiler does not know ${path}`);
  const identifiers = asks ? nodesOf(tree).filter(isIdentifier) : [];
  const globals = new Set<Node>();
  project.checker.getSymbolAtLocation(identifiers).forEach((symbol, at) => {
    const identifier = identifiers[at];
    const declarations = symbol?.declarations ?? [];
    const isOurs = declarations.some((declaration) => isProjectPath(declaration.path));
    if (identifier !== undefined && !isOurs) globals.add(identifier);
  });
  return { path, text: tree.text, tree, globals };
}

/** Returns true for files of the project; the compiler may report paths in lower case. */
function isProjectPath(path: string): boolean {
  const isInside = path.toLowerCase().startsWith(`${ROOT.toLowerCase()}/`);
  return isInside && !path.includes('/node_modules/');
}

/** Returns `root` and every node below it, in the order of the text. */
export function nodesOf(root: Node): readonly Node[] {
  const nodes: Node[] = [];
  const visit = (node: Node): void => {
    nodes.push(node);
    node.forEachChild(visit);
  };
  visit(root);
  return nodes;
}

/** Returns the text of a string without substitutions, or null for anything else. */
export function stringOf(node: Node): string | null {
  return isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node) ? node.text : null;
}

/** Returns the line of a node, from 1; its last line for `end`. */
export function lineOf(source: Source, node: Node, side: 'start' | 'end' = 'start'): number {
  return lineAt(source.text, side === 'start' ? node.getStart(source.tree) : node.end);
}

/** Returns the line of an offset in a text, from 1. */
export function lineAt(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < place; at = text.indexOf('\n', at + 1))
    line += 1;
  return line;
}

/** Formats a message: `src/core/plan/plan.ts:7: what is wrong`. */
export function violation(source: Source, place: Node | number, problem: string): string {
  return `${source.path}:${typeof place === 'number' ? place : lineOf(source, place)}: ${problem}`;
}

/** Returns true for tests and their files. */
export function isTest(path: string): boolean {
  return /\.(test|fixture)\.ts$/.test(path) || /^(properties|tools)\//.test(path);
}
