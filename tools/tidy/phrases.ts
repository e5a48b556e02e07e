/**
 * Finds modules that word events, faults or rules outside the tables of phrases: a template that
 * puts a name or a time of an event into words, such as `${client} releases ${lock}`. What one view
 * says in its own words, the other views miss.
 */
import {
  isIdentifier,
  isObjectLiteralExpression,
  isPropertyAssignment,
  isStringLiteral,
  isTemplateExpression,
  type Node,
} from 'typescript/unstable/ast';
import { isTest, nodesOf, type Rule, type Sample, stringOf, violation } from './source.ts';

/** The only modules that choose words for events, faults and rules. */
export const PHRASES: ReadonlySet<string> = new Set([
  'src/core/plan/fault-words.ts',
  'src/check/phrases.ts',
  'src/check/access-rules.ts',
  'src/check/lock-rules.ts',
  'src/report/event-phrases.ts',
  'src/report/state-phrases.ts',
]);

/** Modules whose words with these names are about something else. */
const OTHER_WORDS: ReadonlySet<string> = new Set([
  'src/check/breach-cause.ts', // a cause is data: plans record it, and runs compare it
  'src/check/verdict.ts', // how a run ended
  'src/report/sibling-text.ts', // what another run did or never did; the page has no such text
  'src/report/html/history-picture.ts', // operations of a history, which has no events
]);

/** Fields of events and spans that name who took part, or when. */
const FACTS: ReadonlySet<string> = new Set(
  `client holder lock waits atUs fromUs untilUs sentAtUs believedUntilUs lostUs knownUs ending
   grantNumber other process`.split(/\s+/),
);

/** Kinds whose rows in a record would be words for an event or a fault. */
const KINDS: ReadonlySet<string> = new Set(
  `pause delay drop duplicate partition clock crash reset failover evict late-timer
   resume restart heal healed grant deny renew release grant-end deadlock deliver recovered
   stale-write granted-while-live`.split(/\s+/),
);

/** A word between spaces or at an end: prose, not a name such as `alice/1/write`. */
const PROSE = /(?:^|\s)(?!ms\b)[a-z]{2,}(?:'s)?(?:[\s,:;.]|$)/;

export const wordsNoEvent: Rule = (source) => {
  const { path } = source;
  const isCovered = /^src\/(?:check|report|core\/plan)\//.test(path);
  if (!isCovered || isTest(path) || PHRASES.has(path) || OTHER_WORDS.has(path)) return [];
  return nodesOf(source.tree)
    .filter((node) => isWordedFact(node) || isRowOfWords(node))
    .map((node) => violation(source, node, 'words for an event: move them to a table of phrases'));
};

/** Returns true for a template with prose and a fact of an event. */
function isWordedFact(node: Node): boolean {
  if (!isTemplateExpression(node)) return false;
  const { head, templateSpans } = node;
  const texts = [head.text, ...templateSpans.map(({ literal }) => literal.text)];
  if (!texts.some((text) => PROSE.test(text))) return false;
  return templateSpans.some(({ expression }) =>
    nodesOf(expression).some((part) => isIdentifier(part) && FACTS.has(part.text)),
  );
}

/** Returns true for `pause: 'runs nothing'` in an object. */
function isRowOfWords(node: Node): boolean {
  if (!isPropertyAssignment(node) || !isObjectLiteralExpression(node.parent)) return false;
  const { name, initializer } = node;
  const kind = isIdentifier(name) || isStringLiteral(name) ? name.text : '';
  const text = stringOf(initializer) ?? '';
  return KINDS.has(kind) && text.includes(' ') && PROSE.test(text);
}

/** Snippets of the rule. */
export const phrasesSample: Sample = {
  refuses: [
    [
      'src/report/a.ts',
      `export const a = (client: string) => \`\${client} releases it\`;`,
      ':1: words',
    ],
    [
      'src/check/a.ts',
      `export const a = (e: { untilUs: number }) => \`held until \${String(e.untilUs)}\`;`,
      ':1: words',
    ],
    ['src/report/a.ts', `export const a = { pause: 'runs nothing' };`, ':1: words'],
  ],
  passes: [
    [
      'src/report/event-phrases.ts',
      `export const a = (client: string) => \`\${client} releases it\`;`,
    ],
    ['src/report/a.ts', `export const a = (client: string) => \`\${client}/1/write\`;`],
    ['src/report/a.ts', `export const a = (count: number) => \`\${count} seeds passed\`;`],
    ['src/report/a.ts', `export const a = { pause: 'paused' };`],
    ['src/cli/a.ts', `export const a = (client: string) => \`\${client} releases it\`;`],
    ['src/report/a.test.ts', `const a = (client: string) => \`\${client} releases it\`;`],
  ],
};
