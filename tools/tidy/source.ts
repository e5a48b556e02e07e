/**
 * Reads TypeScript sources for the rules of the house: text, syntax tree, and which names are
 * globals. The compiler's API is still `unstable`, so only these rules depend on it.
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

/** One source, as the rules see it. */
export interface Source {
  /** From the root of the project, e.g. `src/core/plan/plan.ts`. */
  readonly path: string;
  readonly text: string;
  readonly tree: SourceFile;
  /**
   * The identifiers that mean something which no file of the project declares; none where nobody
   * asked for them, since to look up all takes ten seconds.
   */
  readonly globals: ReadonlySet<Node>;
}

/** Says what a source does wrong: one line a violation, with the replacement. */
export type Rule = (source: Source) => readonly string[];

/** Snippets that a rule must refuse, with a part of its message, and those that it must accept. */
export interface Sample {
  readonly refuses: readonly (readonly [path: string, text: string, says: string])[];
  readonly passes: readonly (readonly [path: string, text: string])[];
}

const ROOT: string = fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '');

/** Whether the globals of a file are asked for. */
type Asks = (path: string) => boolean;

/** All TypeScript files below `folders`, in a fixed order. */
export function readProject(folders: readonly string[], asks: Asks): readonly Source[] {
  const paths = folders.flatMap((folder) =>
    readdirSync(`${ROOT}/${folder}`, { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
      .filter((path) => path.endsWith('.ts') && !path.startsWith('tools/built/')),
  );
  return read(paths.sort().map((path) => ({ path, file: `${ROOT}/${path}`, asks: asks(path) })));
}

/** Texts as if each lay in a project of its own, at its path. */
export function readSnippets(
  snippets: readonly { readonly path: string; readonly text: string }[],
): readonly Source[] {
  return read(
    snippets.map(({ path, text }, at) => {
      return { path, file: `${ROOT}/snippet-${at}/${path}`, text, asks: true };
    }),
  );
}

/** Where a source lies; its text, unless that is on the disk. */
interface Place {
  readonly path: string;
  readonly file: string;
  readonly text?: string;
  /** Whether its globals are asked for. */
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
    const isOurs = declarations.some((declaration) => isOwnPath(declaration.path));
    if (identifier !== undefined && !isOurs) globals.add(identifier);
  });
  return { path, text: tree.text, tree, globals };
}

/** Whether a file is of the project; the compiler may give paths in lower case. */
function isOwnPath(path: string): boolean {
  const isInside = path.toLowerCase().startsWith(`${ROOT.toLowerCase()}/`);
  return isInside && !path.includes('/node_modules/');
}

/** Every node below `root` and itself, in the order of the text. */
export function nodesOf(root: Node): readonly Node[] {
  const nodes: Node[] = [];
  const visit = (node: Node): void => {
    nodes.push(node);
    node.forEachChild(visit);
  };
  visit(root);
  return nodes;
}

/** The text of a string without substitutions; null for anything else. */
export function stringOf(node: Node): string | null {
  return isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node) ? node.text : null;
}

/** The line of a node, from 1; `end` for its last one. */
export function lineOf(source: Source, node: Node, side: 'start' | 'end' = 'start'): number {
  return lineAt(source.text, side === 'start' ? node.getStart(source.tree) : node.end);
}

/** The line, from 1, of a place in a text. */
export function lineAt(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < place; at = text.indexOf('\n', at + 1))
    line += 1;
  return line;
}

/** `src/core/plan/plan.ts:7: what is wrong`. */
export function violation(source: Source, place: Node | number, what: string): string {
  return `${source.path}:${typeof place === 'number' ? place : lineOf(source, place)}: ${what}`;
}

/** Whether a source is a test or belongs to one. */
export function isTest(path: string): boolean {
  return /\.(test|fixture)\.ts$/.test(path) || /^(properties|tools)\//.test(path);
}
