/**
 * Lists what the core may not use: time, chance, timers, locale, environment, and arithmetic whose
 * last digit differs between engines. Each would make two runs of one plan differ.
 */
import {
  isBigIntLiteral,
  isBinaryExpression,
  isIdentifier,
  isMetaProperty,
  isPropertyAccessExpression,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { isCore } from './layers.ts';
import { nodesOf, type Rule, type Source, stringOf, violation } from './source.ts';

/** Globals, and what the core uses instead. */
const BANNED: ReadonlyMap<string, string> = new Map([
  ['Date', 'use the virtual time of the scheduler'],
  ['performance', 'count events, or take a `shouldStop()`'],
  ['setTimeout', 'schedule an event, or set an alarm'],
  ['setInterval', 'schedule an event, or set an alarm'],
  ['setImmediate', 'schedule an event, or set an alarm'],
  ['queueMicrotask', 'schedule an event'],
  ['process', 'let a command read it and hand it in'],
  ['crypto', 'draw with `Chance`, or hash with @noble/hashes'],
  ['Intl', 'format by hand, the same in every locale'],
  ['navigator', 'let a command read it and hand it in'],
  ['fetch', 'let a command read it and hand it in'],
  ['console', 'return it, and let a command print it'],
  ['require', 'import it'],
  ['globalThis', 'import it, or take it as an argument'],
  ['Buffer', 'use a Uint8Array'],
  ['WeakRef', 'keep a reference: a collector runs when it likes'],
  ['FinalizationRegistry', 'clean up by hand: a collector runs when it likes'],
]);

/** Correctly rounded, or exact, in every engine. */
const EXACT_MATH: ReadonlySet<string> = new Set([
  'abs',
  'ceil',
  'clz32',
  'floor',
  'imul',
  'max',
  'min',
  'round',
  'sign',
  'sqrt',
  'trunc',
]);

/** Reports ambient time, chance, timers, locale and environment in the core. */
export const isSelfContained: Rule = (source) => {
  if (!isCore(source.path)) return [];
  return nodesOf(source.tree).flatMap((node) => {
    const why = whyBanned(source, node);
    return why === null ? [] : [violation(source, node, why)];
  });
};

function whyBanned(source: Source, node: Node): string | null {
  if (isMetaProperty(node)) return 'import.meta: let a command read it and hand it in';
  if (isBinaryExpression(node) && isInexactPower(node)) {
    return '**: engines may differ in the last digit; multiply, or use bigints';
  }
  const name = isIdentifier(node) ? node.text : stringOf(node);
  if (name === null) return null;
  if (isLocaleName(name)) return localeAdvice(name);
  if (!source.globals.has(node) || isMemberName(node)) return null;
  if (name === 'Math') return whyInexact(node);
  const instead = BANNED.get(name);
  return instead === undefined ? null : `${name}: ${instead}`;
}

function isInexactPower(node: Node): boolean {
  if (!isBinaryExpression(node)) return false;
  const { kind } = node.operatorToken;
  const isPower =
    kind === SyntaxKind.AsteriskAsteriskToken || kind === SyntaxKind.AsteriskAsteriskEqualsToken;
  return isPower && !isBigIntLiteral(node.left) && !isBigIntLiteral(node.right);
}

function isLocaleName(name: string): boolean {
  return name === 'localeCompare' || /^toLocale[A-Z]?[A-Za-z]*$/.test(name);
}

function localeAdvice(name: string): string {
  return `${name}: compare with < and >, format by hand, the same in every locale`;
}

/** Returns true if an identifier is the part after a dot. */
function isMemberName(node: Node): boolean {
  return isPropertyAccessExpression(node.parent) && node.parent.name === node;
}

/** Allows `Math` only as in `Math.floor`: no alias and no destructuring. */
function whyInexact(node: Node): string | null {
  const { parent } = node;
  const isObject = isPropertyAccessExpression(parent) && parent.expression === node;
  const used = isObject && isIdentifier(parent.name) ? parent.name.text : null;
  if (used === null) return 'Math: name the function, as in Math.floor';
  if (EXACT_MATH.has(used)) return null;
  if (used === 'random') return 'Math.random: draw with `Chance`, by the name of what is drawn';
  return `Math.${used}: engines may differ in the last digit; use integers and ratios`;
}
