/** Forbids bypasses of the type checker, and requires names and types for exports. */
import { isolatedDeclarationSync } from 'rolldown/experimental';
import {
  isAsExpression,
  isExportAssignment,
  isExportSpecifier,
  isModuleDeclaration,
  isNonNullExpression,
  isPropertyDeclaration,
  isTypeAssertion,
  isTypeReferenceNode,
  isVariableDeclaration,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { isTest, nodesOf, type Rule, violation } from './source.ts';

/** Files that read data of unknown shape, which may cast after checking. */
const YAML_BORDER: ReadonlySet<string> = new Set<string>([]);

/** Reports `any`, non-null `!`, and casts other than `as const`. */
export const trustsTheChecker: Rule = (source) =>
  nodesOf(source.tree).flatMap((node) => {
    const why = whyUnsafe(node, YAML_BORDER.has(source.path));
    return why === null ? [] : [violation(source, node, why)];
  });

function whyUnsafe(node: Node, mayCast: boolean): string | null {
  if (node.kind === SyntaxKind.AnyKeyword) return 'any: use unknown and narrow it';
  if (isNonNullExpression(node)) return '!: handle undefined, or assert with a reason';
  const isPromised =
    (isVariableDeclaration(node) || isPropertyDeclaration(node)) && hasExclamation(node);
  if (isPromised) return '!: initialise it';
  if (isTypeAssertion(node)) return 'a cast: narrow it with a guard, or declare its type';
  if (isAsExpression(node) && !isConst(node.type) && !mayCast) {
    return 'as: narrow it with a guard, or declare its type';
  }
  return null;
}

function hasExclamation(node: Node): boolean {
  let found = false;
  node.forEachChild((child) => {
    if (child.kind === SyntaxKind.ExclamationToken) found = true;
  });
  return found;
}

function isConst(type: Node): boolean {
  return isTypeReferenceNode(type) && type.getText() === 'const';
}

/** Schemas whose types are inferred, so that their data is not defined twice. */
const SCHEMAS: ReadonlySet<string> = new Set([
  'src/scenario/scenario-file.ts',
  'src/search/campaign/fields.ts',
  'src/search/campaign/result.ts',
  'src/search/sweep/shards.ts',
]);

/**
 * Requires explicit types for exports, as `isolatedDeclarations` does. The compiler has no
 * exception for schemas, so this rule replaces its option.
 */
export const exportsWithTypes: Rule = ({ path, text }) => {
  if (!path.startsWith('src/') || isTest(path) || SCHEMAS.has(path)) return [];
  return isolatedDeclarationSync(path, text).errors.map(({ message, labels = [] }) => {
    const line = text.slice(0, labels[0]?.start ?? 0).split('\n').length;
    return `${path}:${line}: ${message.replace(/ with --isolatedDeclarations\.$/, '')}`;
  });
};

/** Requires named exports. An ambient `declare module` describes another's module and is exempt. */
export const exportsByName: Rule = (source) =>
  nodesOf(source.tree).flatMap((node) => {
    if (!isDefaultExport(node) || isAmbient(node)) return [];
    return [violation(source, node, 'a default export: export it by its name')];
  });

function isDefaultExport(node: Node): boolean {
  if (isExportAssignment(node)) return true;
  if (isExportSpecifier(node)) return node.name.getText() === 'default';
  return node.kind === SyntaxKind.DefaultKeyword && node.parent.kind !== SyntaxKind.DefaultClause;
}

function isAmbient(node: Node): boolean {
  for (let at: Node | undefined = node; at !== undefined; at = at.parent) {
    if (isModuleDeclaration(at)) return true;
  }
  return false;
}
