/**
 * Reports code that is split too finely: a short private function with one caller, which makes a
 * reader jump for an expression, and a spread of a literal, which only keeps the formatter from
 * giving each field its own line.
 */
import { readFileSync } from 'node:fs';
import {
  type Block,
  isArrayLiteralExpression,
  isArrowFunction,
  isAsExpression,
  isAwaitExpression,
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isExpressionStatement,
  isFunctionDeclaration,
  isFunctionLikeDeclaration,
  isIdentifier,
  isIfStatement,
  isMethodDeclaration,
  isObjectLiteralExpression,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isPropertyDeclaration,
  isReturnStatement,
  isSatisfiesExpression,
  isSpreadAssignment,
  isSpreadElement,
  isStatement,
  isThrowStatement,
  isTypePredicateNode,
  isVariableStatement,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { isTest, lineOf, nodesOf, type Rule, type Source, violation } from './source.ts';

/** A private function with one caller is inlined if it has at most this many lines. */
const MOST_INLINED_LINES = 6;

/** Reports spreads of literals: fields and elements are written where they belong. */
export const groupsNoFields: Rule = (source) => {
  return nodesOf(source.tree).flatMap((node) => {
    const isSpread = isSpreadAssignment(node) || isSpreadElement(node);
    if (!isSpread || !isLiteral(node.expression)) return [];
    return [violation(source, node, 'a spread of a literal: write its parts without the spread')];
  });
};

function isLiteral(node: Node): boolean {
  if (isParenthesizedExpression(node) || isSatisfiesExpression(node) || isAsExpression(node)) {
    return isLiteral(node.expression);
  }
  return isObjectLiteralExpression(node) || isArrayLiteralExpression(node);
}

/**
 * Reads the helpers with one caller that stay because their name replaces a comment, by path. The
 * file has one `path name` per line.
 */
export function readNamedHelpers(text: string): ReadonlyMap<string, ReadonlySet<string>> {
  const helpers = new Map<string, Set<string>>();
  for (const line of text.split('\n')) {
    const [path, name] = line.split(' ');
    if (path === undefined || name === undefined || path.startsWith('#')) continue;
    helpers.set(path, (helpers.get(path) ?? new Set()).add(name));
  }
  return helpers;
}

export const namedHelpers: ReadonlyMap<string, ReadonlySet<string>> = readNamedHelpers(
  readFileSync(new URL('named-helpers.txt', import.meta.url), 'utf8'),
);

/** Reports short functions with one caller, unless `named` lists them. */
export function inlinesShortHelpers(named: ReadonlyMap<string, ReadonlySet<string>>): Rule {
  return (source) => {
    if (isTest(source.path)) return [];
    const kept = named.get(source.path) ?? new Set();
    const found = overSplit(source);
    const names = new Set(found.map(({ name }) => name));
    return [
      ...found.flatMap(({ name, lines, node }) => {
        if (kept.has(name)) return [];
        const text = `${name}: ${lines} lines for one caller: inline it, or, if the name replaces`;
        return [violation(source, node, `${text} a comment, list it in named-helpers.txt`)];
      }),
      ...[...kept].flatMap((name) =>
        names.has(name) ? [] : [violation(source, 1, `${name}: remove it from named-helpers.txt`)],
      ),
    ];
  };
}

/** A private function that could be inlined into its one caller. */
interface OverSplit {
  readonly name: string;
  readonly lines: number;
  readonly node: Node;
}

function overSplit(source: Source): readonly OverSplit[] {
  const uses = usesByName(source);
  return privateFunctions(source).flatMap(({ name, node, body, isAsync }) => {
    const [call, ...others] = (uses.get(name) ?? []).filter((use) => use.parent !== node);
    const lines = lineOf(source, node, 'end') - lineOf(source, node) + 1;
    const isShort = lines <= MOST_INLINED_LINES && call !== undefined && others.length === 0;
    // A call that is not awaited runs concurrently.
    if (!isShort || (isAsync && !isAwaitExpression(call.parent.parent))) return [];
    return canInline(body, call) ? [{ name, lines, node }] : [];
  });
}

interface PrivateFunction {
  readonly name: string;
  readonly node: Node;
  readonly body: Node;
  readonly isAsync: boolean;
}

/** Returns the module-level functions that are not exported and could be inlined. */
function privateFunctions(source: Source): readonly PrivateFunction[] {
  const functions: PrivateFunction[] = [];
  source.tree.forEachChild((node) => {
    if (hasChild(node, SyntaxKind.ExportKeyword)) return;
    if (isFunctionDeclaration(node) && node.name !== undefined && node.body !== undefined) {
      const isPlain = node.asteriskToken === undefined && !isPredicate(node.type);
      const isAsync = hasChild(node, SyntaxKind.AsyncKeyword);
      if (isPlain) functions.push({ name: node.name.text, node, body: node.body, isAsync });
    }
    if (!isVariableStatement(node)) return;
    for (const declaration of node.declarationList.declarations) {
      const { name, initializer: made } = declaration;
      if (made === undefined || !isArrowFunction(made) || !isIdentifier(name)) continue;
      if (isPredicate(made.type)) continue;
      const isAsync = hasChild(made, SyntaxKind.AsyncKeyword);
      functions.push({ name: name.text, node: declaration, body: made.body, isAsync });
    }
  });
  return functions;
}

function hasChild(node: Node, kind: SyntaxKind): boolean {
  let found = false;
  node.forEachChild((child) => {
    if (child.kind === kind) found = true;
  });
  return found;
}

/** Returns true if a return type narrows an argument, which an expression does not always do. */
function isPredicate(type: Node | undefined): boolean {
  return type !== undefined && isTypePredicateNode(type);
}

/** Returns the uses of each name, except names of fields and methods. */
function usesByName(source: Source): ReadonlyMap<string, readonly Node[]> {
  const uses = new Map<string, Node[]>();
  for (const node of nodesOf(source.tree)) {
    if (!isIdentifier(node)) continue;
    const { parent } = node;
    const isField =
      (isPropertyAccessExpression(parent) ||
        isPropertyAssignment(parent) ||
        isMethodDeclaration(parent)) &&
      parent.name === node;
    if (isField) continue;
    const known = uses.get(node.text);
    if (known === undefined) uses.set(node.text, [node]);
    else known.push(node);
  }
  return uses;
}

/**
 * Returns true if `body` fits at the call. An expression fits everywhere. A choice fits unless it
 * would be part of another condition. Statements fit if the call is evaluated once, with its
 * statement. A body with an early return fits only if the caller returns the value of the call. A
 * function that is passed on, or that calls itself, does not fit.
 */
function canInline(body: Node, use: Node): boolean {
  const call = use.parent;
  const isCalled = isCallExpression(call) && call.expression === use;
  if (!isCalled || isInside(call, body)) return false;
  const place = placeOf(call);
  if (place === 'returned') return true;
  const value = expressionOf(body);
  if (value !== null) return place === 'statement' || !chooses(value);
  if (place === 'part' || !isBlock(body)) return false;
  const last = body.statements.at(-1);
  if (returnsIn(body).some((node) => node !== last)) return isChoice(body);
  return true;
}

function isInside(node: Node, outer: Node): boolean {
  return node.pos >= outer.pos && node.end <= outer.end;
}

/** Returns the value of a body of one expression, or null for any other body. */
function expressionOf(body: Node): Node | null {
  if (!isBlock(body)) return body;
  const [first, ...more] = body.statements;
  const isOne = first !== undefined && more.length === 0 && isReturnStatement(first);
  return isOne ? (first.expression ?? null) : null;
}

/** Returns true for a body `if (a) return b; return c` in which `b` and `c` choose nothing. */
function isChoice(body: Block): boolean {
  const [first, last, ...more] = body.statements;
  if (first === undefined || last === undefined || more.length > 0) return false;
  if (!isIfStatement(first) || !isReturnStatement(last)) return false;
  const returned = first.thenStatement;
  return [returned, last].every((node) => isReturnStatement(node) && !chooses(node.expression));
}

function chooses(node: Node | undefined): boolean {
  if (node === undefined) return false;
  return isParenthesizedExpression(node) ? chooses(node.expression) : isConditionalExpression(node);
}

/** Operators that do not always evaluate their right operand. */
const CHOICES: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.AmpersandAmpersandToken,
  SyntaxKind.BarBarToken,
  SyntaxKind.QuestionQuestionToken,
]);

/** Classifies a call: its value is returned, it runs once with its statement, or neither. */
function placeOf(call: Node): 'returned' | 'statement' | 'part' {
  const { parent } = call;
  if (isAwaitExpression(parent) || isParenthesizedExpression(parent)) return placeOf(parent);
  if (isReturnStatement(parent)) return 'returned';
  if (isArrowFunction(parent) && parent.body === call) return 'returned';
  return isUnconditional(call) ? 'statement' : 'part';
}

/** Returns true if the statement around a node always evaluates the node once. */
function isUnconditional(node: Node): boolean {
  const { parent } = node;
  if (isExpressionStatement(parent) || isReturnStatement(parent)) return true;
  if (isVariableStatement(parent) || isThrowStatement(parent)) return true;
  if (isIfStatement(parent)) return parent.expression === node && !isIfStatement(parent.parent);
  const isBranch =
    (isConditionalExpression(parent) && parent.condition !== node) ||
    (isBinaryExpression(parent) && CHOICES.has(parent.operatorToken.kind) && parent.right === node);
  const isElsewhere =
    isStatement(parent) || isFunctionLikeDeclaration(parent) || isPropertyDeclaration(parent);
  return !isBranch && !isElsewhere && isUnconditional(parent);
}

/** Returns the return statements of a function, without those of nested functions. */
function returnsIn(body: Node): readonly Node[] {
  const returns: Node[] = [];
  const visit = (node: Node): void => {
    if (isReturnStatement(node)) returns.push(node);
    if (!isFunctionLikeDeclaration(node)) node.forEachChild(visit);
  };
  visit(body);
  return returns;
}
