/**
 * Analyzes a module's syntax tree. Finds the places where top-level variables change, scope by
 * scope, and the classes to which the module later adds methods.
 */
import type { AnyNode, Program } from 'acorn';

/** Returns the direct children of a node. */
export function childrenOf(node: AnyNode): readonly AnyNode[] {
  return Object.values(node).flatMap((value: unknown) => {
    const list: readonly unknown[] = Array.isArray(value) ? value : [value];
    return list.filter(isNode);
  });
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** Returns the variables that a pattern declares or changes: `a` and `c` for `{ a, b: [c] }`. */
export function namesIn(pattern: AnyNode): readonly string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        namesIn(property.type === 'RestElement' ? property.argument : property.value),
      );
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => (element === null ? [] : namesIn(element)));
    case 'AssignmentPattern':
      return namesIn(pattern.left);
    case 'RestElement':
      return namesIn(pattern.argument);
    default:
      return [];
  }
}

/** An expression that assigns a variable, or a loop that assigns one in each iteration. */
export interface VariableChange {
  readonly name: string;
  readonly node: AnyNode;
  /** True if the node is a statement, whose value is not used. */
  readonly isStatement: boolean;
}

/** Returns the changes of these top-level variables, except their declarations. */
export function changesOf(tree: Program, names: ReadonlySet<string>): readonly VariableChange[] {
  const changes: VariableChange[] = [];
  if (names.size > 0) collect(tree, { names, changes, isStatement: false });
  return changes;
}

interface Search {
  /** Variables that no scope around the node shadows. */
  readonly names: ReadonlySet<string>;
  readonly changes: VariableChange[];
  readonly isStatement: boolean;
}

function collect(node: AnyNode, { names, changes, isStatement }: Search): void {
  for (const name of changedBy(node)) {
    if (names.has(name)) changes.push({ name, node, isStatement });
  }
  const declared = node.type === 'Program' ? [] : declaredBy(node);
  const left =
    declared.length === 0 ? names : new Set([...names].filter((name) => !declared.includes(name)));
  if (left.size === 0) return;
  const isBelow = node.type === 'ExpressionStatement';
  for (const child of childrenOf(node)) {
    collect(child, { names: left, changes, isStatement: isBelow });
  }
}

function changedBy(node: AnyNode): readonly string[] {
  if (node.type === 'AssignmentExpression') return namesIn(node.left);
  if (node.type === 'UpdateExpression') return namesIn(node.argument);
  if (node.type !== 'ForInStatement' && node.type !== 'ForOfStatement') return [];
  if (node.left.type !== 'VariableDeclaration') return namesIn(node.left);
  return node.left.kind === 'var' ? declaredNames(node.left) : [];
}

/** Returns the variables of a scope that begins at this node. */
function declaredBy(node: AnyNode): readonly string[] {
  switch (node.type) {
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return [
        ...node.params.flatMap(namesIn),
        ...hoistedIn(node.body),
        // A function expression can call itself by its name.
        ...(node.type === 'FunctionExpression' && node.id ? [node.id.name] : []),
      ];
    case 'BlockStatement':
    case 'StaticBlock':
      return node.body.flatMap(lexicalIn);
    case 'SwitchStatement':
      return node.cases.flatMap(({ consequent }) => consequent.flatMap(lexicalIn));
    case 'ForStatement':
      return node.init === null || node.init === undefined ? [] : lexicalIn(node.init);
    case 'ForInStatement':
    case 'ForOfStatement':
      return lexicalIn(node.left);
    case 'CatchClause':
      return node.param === null || node.param === undefined ? [] : namesIn(node.param);
    case 'ClassExpression':
      return node.id === null || node.id === undefined ? [] : [node.id.name];
    default:
      return [];
  }
}

function lexicalIn(node: AnyNode): readonly string[] {
  if (node.type === 'VariableDeclaration') return declaredNames(node);
  const isNamed = node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration';
  return isNamed && node.id !== null ? [node.id.name] : [];
}

function declaredNames(node: AnyNode): readonly string[] {
  if (node.type !== 'VariableDeclaration') return [];
  return node.declarations.flatMap(({ id }) => namesIn(id));
}

function hoistedIn(node: AnyNode): readonly string[] {
  if (/Function|Class/.test(node.type)) return [];
  const names =
    node.type === 'VariableDeclaration' && node.kind === 'var' ? declaredNames(node) : [];
  return [...names, ...childrenOf(node).flatMap(hoistedIn)];
}

/** A class to which methods are added later. */
interface FilledClass {
  readonly name: string;
  readonly end: number;
}

/** Matches `X.prototype[name]`, `f(X.prototype, …)`, `p = X.prototype;`; not `X.prototype.name`. */
const FILLED = /(?<![\w$])([\w$]+)\.prototype\b(?!\s*\.)/g;

/** Returns all names that `FILLED` finds, whether or not they are classes. */
export function filledNamesIn(source: string): ReadonlySet<string> {
  return new Set([...source.matchAll(FILLED)].map(([, name = '']) => name));
}

/**
 * Returns the classes in these variables whose definition is the last code on its line. Code
 * inserted after such a definition moves no other statement.
 */
export function filledClassesIn(
  source: string,
  tree: Program,
  names: ReadonlySet<string>,
): readonly FilledClass[] {
  const found: FilledClass[] = [];
  const search = (node: AnyNode): void => {
    for (const statement of statementsOf(node)) {
      const { end } = statement;
      const name = classIn(statement);
      if (name === null || !names.has(name)) continue;
      if (LAST_IN_LINE.test(source.slice(end))) found.push({ name, end });
    }
    for (const child of childrenOf(node)) search(child);
  };
  if (names.size > 0) search(tree);
  return found;
}

/** Matches the rest of a line if it contains no code, only blanks and perhaps a comment. */
const LAST_IN_LINE = /^[ \t]*(?:\/\/|[\n\r\u2028\u2029]|$)/;

function statementsOf(node: AnyNode): readonly AnyNode[] {
  switch (node.type) {
    case 'Program':
    case 'BlockStatement':
    case 'StaticBlock':
      return node.body;
    case 'SwitchCase':
      return node.consequent;
    default:
      return [];
  }
}

/** Returns the variable that holds a class at the end of a statement, or null if none does. */
function classIn(statement: AnyNode): string | null {
  switch (statement.type) {
    case 'ExportNamedDeclaration':
      return statement.declaration ? classIn(statement.declaration) : null;
    case 'ClassDeclaration':
      return statement.id?.name ?? null;
    case 'VariableDeclaration': {
      // A later declarator of the same declaration may change the variable.
      const { id, init } = statement.declarations.at(-1) ?? {};
      return id?.type === 'Identifier' && init?.type === 'ClassExpression' ? id.name : null;
    }
    default:
      return null;
  }
}
