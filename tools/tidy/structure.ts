/**
 * Checks the modules of `src` together: no import cycle, no file that is a splinter of its only
 * importer, no exported name with two meanings, no public entry that exposes more than it exports.
 * Tests and modules that only tests import are not counted.
 */
import {
  isBlock,
  isClassDeclaration,
  isExportDeclaration,
  isExpressionWithTypeArguments,
  isFunctionDeclaration,
  isIdentifier,
  isImportDeclaration,
  isInterfaceDeclaration,
  isNamedExports,
  isNamedImports,
  isTypeAliasDeclaration,
  isTypeQueryNode,
  isTypeReferenceNode,
  isVariableDeclaration,
  isVariableStatement,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { importsOf, resolve } from './layers.ts';
import { isTest, nodesOf, type Source } from './source.ts';

/** A shorter file that one neighbor imports belongs in that neighbor. */
const FEWEST_LINES = 60;

/** Modules that only these import are rows of a registry: one file each, however short. */
const REGISTRIES: ReadonlySet<string> = new Set(['src/check/claims.ts', 'src/cli/program.ts']);

/** Imports by module, as paths; imports of types included. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** Returns the imports among the modules of `src`, without tests. */
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

/** Returns the import cycles, each as `a.ts -> b.ts -> a.ts`. */
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

/**
 * Returns short modules that only a neighbor in their folder imports, without rows of registries.
 */
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

/** Counts modules with one importer; code that is split too finely has many. */
export function singleImporters(sources: readonly Source[]): number {
  return [...importersOf(importsAmong(sources)).values()].filter(({ length }) => length === 1)
    .length;
}

function importersOf(imports: Imports): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>();
  for (const [path, imported] of imports) {
    for (const target of new Set(imported)) {
      importers.set(target, [...(importers.get(target) ?? []), path]);
    }
  }
  return importers;
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/**
 * Returns names that two modules of `src` export, each with the modules; overloads count once.
 * Public functions are not counted: each has the name of the step that it makes asynchronous.
 */
export function doubleNames(sources: readonly Source[]): readonly string[] {
  const places = new Map<string, Set<string>>();
  for (const source of sources) {
    const isPublic = source.path === 'src/library.ts';
    if (!source.path.startsWith('src/') || isPublic || isTest(source.path)) continue;
    for (const name of exportedNames(source)) {
      places.set(name, (places.get(name) ?? new Set()).add(source.path));
    }
  }
  return [...places]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)
    .sort();
}

/** Returns the names that a module declares and exports; re-exports are declared elsewhere. */
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

/**
 * Returns the modules that `starts` import, directly or not, `starts` included. Paths that begin
 * with `without` are not followed.
 */
export function reachedFrom(
  imports: Imports,
  starts: readonly string[],
  without: string,
): readonly string[] {
  const reached = new Set(starts);
  for (const path of reached) {
    for (const next of imports.get(path) ?? []) {
      if (imports.has(next) && !next.startsWith(without)) reached.add(next);
    }
  }
  return [...reached];
}

/** The public names of an entry: its exports, and the types in their signatures. */
export interface PublicNames {
  readonly exported: readonly string[];
  /** Names that signatures use and the entry does not export. */
  readonly hidden: readonly string[];
  /** Exported names without a doc comment. */
  readonly undocumented: readonly string[];
}

/**
 * Returns the names of `entry`, which may only re-export, as `export { a, type B } from './c.ts'`.
 */
export function publicNames(sources: readonly Source[], entry: string): PublicNames {
  const modules = new Map(sources.map((source) => [source.path, declarationsIn(source)]));
  const exported = new Set<string>();
  const undocumented: string[] = [];
  const waiting = new Map<string, Declared>();
  for (const [name, declared] of modules.get(entry)?.passedOn ?? []) {
    exported.add(name);
    waiting.set(name, declared);
  }
  for (const [name, { path, original }] of waiting) {
    const moduleEntry = modules.get(path);
    const node = moduleEntry?.declared.get(original);
    if (node === undefined) continue;
    if (exported.has(name) && !/^\s*\/\*\*/.test(node.getFullText())) undocumented.push(name);
    for (const used of typesIn(node)) {
      const from = moduleEntry?.imported.get(used) ?? { path, original: used };
      const isKnown = modules.get(from.path)?.declared.has(from.original) ?? false;
      if (isKnown && !waiting.has(used)) waiting.set(used, from);
    }
  }
  const hidden = [...waiting.keys()].filter((name) => !exported.has(name));
  return { exported: [...exported], hidden, undocumented };
}

/** The module that declares a name, and its name there. */
interface Declared {
  readonly path: string;
  readonly original: string;
}

interface Declarations {
  readonly declared: ReadonlyMap<string, Node>;
  readonly imported: ReadonlyMap<string, Declared>;
  readonly passedOn: ReadonlyMap<string, Declared>;
}

function declarationsIn(source: Source): Declarations {
  const declared = new Map<string, Node>();
  const imported = new Map<string, Declared>();
  const passedOn = new Map<string, Declared>();
  source.tree.forEachChild((node) => {
    if (isVariableStatement(node)) {
      for (const { name } of node.declarationList.declarations) declared.set(name.getText(), node);
    } else if (isImportDeclaration(node) || isExportDeclaration(node)) {
      const from = resolve(source.path, node.moduleSpecifier?.getText().slice(1, -1) ?? '');
      const named = isImportDeclaration(node)
        ? node.importClause?.namedBindings
        : node.exportClause;
      if (named === undefined || !(isNamedImports(named) || isNamedExports(named))) return;
      const names = isImportDeclaration(node) ? imported : passedOn;
      for (const { name, propertyName } of named.elements) {
        const original = (propertyName ?? name).getText();
        names.set(name.getText(), { path: from, original });
      }
    } else if (
      isFunctionDeclaration(node) ||
      isClassDeclaration(node) ||
      isInterfaceDeclaration(node) ||
      isTypeAliasDeclaration(node)
    ) {
      const name = node.name?.getText() ?? '';
      if (!declared.has(name)) declared.set(name, node);
    }
  });
  return { declared, imported, passedOn };
}

/** Returns the names of types in a declaration, without bodies and values. */
function typesIn(node: Node): readonly string[] {
  const names: string[] = [];
  const visit = (part: Node): void => {
    if (isBlock(part)) return;
    if (isTypeReferenceNode(part)) names.push(part.typeName.getText());
    if (isTypeQueryNode(part)) names.push(part.exprName.getText());
    if (isExpressionWithTypeArguments(part) && isIdentifier(part.expression)) {
      names.push(part.expression.getText());
    }
    if (!isVariableDeclaration(part)) part.forEachChild(visit);
    else if (part.type !== undefined) visit(part.type);
  };
  visit(node);
  return names;
}
