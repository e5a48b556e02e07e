/** Limits the size of files, functions and lines, and checks how a file begins and is named. */
import {
  isCallExpression,
  isIdentifier,
  isNoSubstitutionTemplateLiteral,
  isRegularExpressionLiteral,
  isStringLiteral,
  isTemplateHead,
  isTemplateMiddle,
  isTemplateTail,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { isTest, lineAt, lineOf, nodesOf, type Rule, type Source, violation } from './source.ts';

const MOST_LINES = 500;
const MOST_FUNCTION_LINES = 70;
const MOST_COLUMNS = 100;

const FUNCTION_KINDS: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
  SyntaxKind.SetAccessor,
]);

/** A file has one idea. */
export const isShortFile: Rule = (source) => {
  const lines = source.text.replace(/\n$/, '').split('\n').length;
  if (lines <= MOST_LINES) return [];
  return [
    violation(source, MOST_LINES + 1, `${lines} lines, at most ${MOST_LINES}: split by idea`),
  ];
};

/** A function fits on a screen. The body of a `describe` is a list of tests and is not counted. */
export const hasShortFunctions: Rule = (source) =>
  nodesOf(source.tree).flatMap((node) => {
    if (!FUNCTION_KINDS.has(node.kind) || isDescribed(node)) return [];
    const lines = lineOf(source, node, 'end') - lineOf(source, node) + 1;
    if (lines <= MOST_FUNCTION_LINES) return [];
    const problem = `a function of ${lines} lines, at most ${MOST_FUNCTION_LINES}: name its steps`;
    return [violation(source, node, problem)];
  });

function isDescribed(node: Node): boolean {
  const call = node.parent;
  return (
    isCallExpression(call) && isIdentifier(call.expression) && call.expression.text === 'describe'
  );
}

/** A line is read without scrolling; strings, templates and patterns are not counted. */
export const hasShortLines: Rule = (source) => {
  const wide = source.text
    .split('\n')
    .flatMap((line, at) => (line.length > MOST_COLUMNS ? [at] : []));
  if (wide.length === 0) return [];
  const quoted = quotedColumns(source);
  return wide.flatMap((at) => {
    const width = source.text.split('\n')[at]?.length ?? 0;
    if (width - (quoted.get(at + 1) ?? 0) <= MOST_COLUMNS && quoted.has(at + 1)) return [];
    return [violation(source, at + 1, `${width} columns, at most ${MOST_COLUMNS}: break the line`)];
  });
};

/** Returns the number of columns in each line that belong to strings, templates and patterns. */
function quotedColumns(source: Source): ReadonlyMap<number, number> {
  const columns = new Map<number, number>();
  for (const node of nodesOf(source.tree).filter(isQuoted)) {
    const from = node.getStart(source.tree);
    const pieces = source.text.slice(from, node.end).split('\n');
    const first = lineAt(source.text, from + 1);
    pieces.forEach((piece, at) => {
      columns.set(first + at, (columns.get(first + at) ?? 0) + piece.length);
    });
  }
  return columns;
}

function isQuoted(node: Node): boolean {
  return (
    isStringLiteral(node) ||
    isNoSubstitutionTemplateLiteral(node) ||
    isTemplateHead(node) ||
    isTemplateMiddle(node) ||
    isTemplateTail(node) ||
    isRegularExpressionLiteral(node)
  );
}

/** A file begins with its decision, in a sentence or two. In a test, the titles state it. */
export const beginsWithComment: Rule = (source) => {
  if (/\.test\.ts$/.test(source.path)) return [];
  const text = source.text.replace(/^#!.*\n/, '');
  if (/^(\/\*\*|\/\/) ?\S|^\/\*\*\n/.test(text)) return [];
  return [
    violation(source, 1, 'no comment above: state in a sentence or two what this file decides'),
  ];
};

const VAGUE = /^(utils?|helpers?|types?|common|misc|shared|lib)$/;

/** A file is named by a noun or verb. */
export const isNamedByIdea: Rule = (source) => {
  const parts = source.path.split('/');
  const stem = (parts.at(-1) ?? '').replace(/(\.(test|fixture|d))?\.ts$/, '');
  if (stem === 'index' && source.path !== 'src/index.ts') {
    return [violation(source, 1, 'index.ts in a folder: import the file that has the name')];
  }
  const words = stem.split('-');
  const isVague = [...words, ...parts.slice(0, -1)].some((word) => VAGUE.test(word));
  if (!isVague) return [];
  return [violation(source, 1, `${stem}: name it by the noun or verb of what it decides`)];
};

/** A test title is a law in the present tense. */
export const hasLawsAsTitles: Rule = (source) => {
  if (!isTest(source.path)) return [];
  return nodesOf(source.tree).flatMap((node) => {
    if (!isCallExpression(node)) return [];
    const title = node.arguments[0];
    if (title === undefined || !isTestCall(node.expression)) return [];
    const text = source.text.slice(title.getStart(source.tree) + 1, title.end);
    if (!/^should\b/i.test(text)) return [];
    return [violation(source, title, 'a title that begins with "should": state a fact, as a law')];
  });
};

/** Matches `test`, `it.each(…)`, `describe.skip`: any call that begins with one of these names. */
function isTestCall(callee: Node): boolean {
  const first = nodesOf(callee).find(isIdentifier);
  return first !== undefined && ['test', 'it', 'describe', 'bench'].includes(first.text);
}
