/** Decides which words no name uses, since the field has a standard one for it. */
import {
  isIdentifier,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isPropertySignatureDeclaration,
  type Node,
} from 'typescript/unstable/ast';
import { nodesOf, type Rule, violation } from './source.ts';

/** What is said instead; style and glossary have the standard words. */
const INSTEAD: readonly (readonly [word: RegExp, instead: string])[] = [
  [/strik|struck/i, 'faults are injected or fire'],
  [/ledger/i, 'counts'],
  [/survey/i, 'the points that a run passes'],
  [/belief/i, 'a client view'],
];

/** Fields of JSON and a role of evidence: they may be read and written, and name nothing else. */
const PUBLIC_FIELDS: ReadonlySet<string> = new Set(['strikes', 'belief']);

/** A file and whatever has a name in it are called by the standard word. */
export const usesStandardWords: Rule = (source) => {
  const names = nodesOf(source.tree)
    .filter(isIdentifier)
    .filter((node) => !isPublicField(node));
  return [
    ...insteadOf(source.path).map((what) => violation(source, 1, what)),
    ...names.flatMap((node) => insteadOf(node.text).map((what) => violation(source, node, what))),
  ];
};

function insteadOf(name: string): readonly string[] {
  return INSTEAD.flatMap(([word, instead]) => (word.test(name) ? [`${name}: say ${instead}`] : []));
}

function isPublicField(node: Node & { readonly text: string }): boolean {
  if (!PUBLIC_FIELDS.has(node.text)) return false;
  const { parent } = node;
  const isField =
    isPropertyAccessExpression(parent) ||
    isPropertyAssignment(parent) ||
    isPropertySignatureDeclaration(parent);
  return isField && parent.name === node;
}
