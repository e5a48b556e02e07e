/**
 * Decides what the modules of `src` may look like together: no circle of imports, no file that is a
 * splinter of its only reader, no exported name with two meanings. Tests and what only tests import
 * are not counted.
 */
import {
  isClassDeclaration,
  isFunctionDeclaration,
  isInterfaceDeclaration,
  isTypeAliasDeclaration,
  isVariableStatement,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { importsOf, resolve } from './layers.ts';
import { isTest, nodesOf, type Source } from './source.ts';

/** A file with fewer lines that one neighbour imports belongs into that neighbour. */
const FEWEST_LINES = 60;

/** What only these import are rows of a registry: one file each, however short. */
const REGISTRIES: ReadonlySet<string> = new Set(['src/check/claims.ts', 'src/cli/program.ts']);

/** Who imports whom: each module's path with those of the modules that it imports, types too. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** The imports among the modules of `src` that are no tests. */
export function importsAmong(sources: readonly Source[]): Imports {
  const modules = sources.filter(({ path }) => path.startsWith('src/') && !isTest(path));
  return new Map(
    modules.map((source) => [
      source.path,
      importsOf(source).flatMap(({ specifier }) =>
        specifier?.startsWith('.') ? [resolve(source.path, specifier)] : [],
      ),
    ]),
  );
}

/** Groups of modules that import one another in a circle, each as `a.ts -> b.ts -> a.ts`. */
export function circlesIn(imports: Imports): readonly string[] {
  const circles = new Set<string>();
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at !== -1) circles.add([...trail.slice(at), path].join(' -> '));
    if (at !== -1 || done.has(path)) return;
    for (const next of imports.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return [...circles].sort();
}

/** Short modules that only a neighbour in their own folder imports, rows of registries left out. */
export function splintersIn(sources: readonly Source[]): readonly string[] {
  const lines = new Map(sources.map(({ path, text }) => [path, text.split('\n').length - 1]));
  return [...importersOf(importsAmong(sources))]
    .flatMap(([path, [importer, ...others]]) => {
      if (importer === undefined || others.length > 0) return [];
      const isNeighbour = folderOf(path) === folderOf(importer);
      const isRow = REGISTRIES.has(importer);
      if (!isNeighbour || isRow || (lines.get(path) ?? FEWEST_LINES) >= FEWEST_LINES) return [];
      return [`${path}: ${lines.get(path)} lines that only ${importer} imports: move them there`];
    })
    .sort();
}

/** How many modules have one importer; a house of splinters has many. */
export function singleImporters(sources: readonly Source[]): number {
  return [...importersOf(importsAmong(sources)).values()].filter(({ length }) => length === 1)
    .length;
}

function importersOf(imports: Imports): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>();
  for (const [path, imported] of imports) {
    for (const one of new Set(imported)) {
      importers.set(one, [...(importers.get(one) ?? []), path]);
    }
  }
  return importers;
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/** Names that two modules of `src` export, each with the modules; overloads count once. */
export function doubleNames(sources: readonly Source[]): readonly string[] {
  const places = new Map<string, Set<string>>();
  for (const source of sources) {
    if (!source.path.startsWith('src/') || isTest(source.path)) continue;
    for (const name of exportedNames(source)) {
      places.set(name, (places.get(name) ?? new Set()).add(source.path));
    }
  }
  return [...places]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)
    .sort();
}

/** What a module declares and exports; what it passes on from elsewhere is declared there. */
function exportedNames(source: Source): readonly string[] {
  return nodesOf(source.tree).flatMap((node) => {
    if (node.parent !== source.tree || !isExported(node)) return [];
    if (isVariableStatement(node)) {
      return node.declarationList.declarations.map(({ name }) => name.getText());
    }
    const isNamed =
      isFunctionDeclaration(node) ||
      isClassDeclaration(node) ||
      isInterfaceDeclaration(node) ||
      isTypeAliasDeclaration(node);
    return isNamed && node.name !== undefined ? [node.name.getText()] : [];
  });
}

function isExported(node: Node): boolean {
  let found = false;
  node.forEachChild((child) => {
    if (child.kind === SyntaxKind.ExportKeyword) found = true;
  });
  return found;
}
