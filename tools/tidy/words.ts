/**
 * Enforces the vocabulary: words that no name, comment or message uses because the field has a
 * standard term for each, and doc comments that open with what they describe. A file that is not
 * rewritten yet is listed in `voice-backlog.txt`, which only gets shorter: a listed file that
 * breaks no rule any more is reported until it is removed.
 */
import { readFileSync } from 'node:fs';
import {
  isBindingElement,
  isIdentifier,
  isMethodDeclaration,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isPropertySignatureDeclaration,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { lineAt, nodesOf, type Rule, type Sample, type Source, violation } from './source.ts';

type Replacement = readonly [word: RegExp, instead: string];

/** Banned in names, comments, output and docs. */
const EVERYWHERE: readonly Replacement[] = [
  [/\b(?:nobody|somebody|whoever|whomever)\b/i, 'no client, the caller, or the passive'],
  [/\b(?:tell|tells|told|telling|tellers?)\b/i, 'report, print, notify or describe'],
  [/\banew\b/i, 'again'],
  [/\b(?:come|comes|came|coming) to\b/i, 'result in'],
  [/\bbefall(?:s|en|ing)?\b|\bbefell\b/i, 'affect'],
  [/\b(?:go|goes|going|went|gone) wrong\b/i, 'fault'],
  [/\bimpostors?\b/i, 'stale client, non-owner'],
  [/\bmanners\b/i, 'client requirements'],
  [/\bunpromised\b/i, 'not guaranteed'],
  [/\bwhereabouts\b/i, 'progress beacon'],
  [/\bfolklore\b/i, 'hypothesis'],
  [/\bsurroundings\b/i, 'environment'],
  [/\b(?:one|once|two|twice) an? (?:seed|run|client|line|process|system)\b/i, 'per seed'],
  [/\bper each\b/i, 'per seed'],
];

/** Banned as a name, as a whole or as a word of it; ordinary use in prose is fine. */
const NAMES: ReadonlyMap<string, string> = namesOf(`
  nobody: no client, the caller
  somebody whoever: the caller
  tell tells told: report, print, notify or describe
  teller: a reporter
  anew: again
  befall: affect
  befalls hits: affects
  impostor: stale client, non-owner
  impostors: stale clients, non-owners
  manners: client requirements
  unpromised: not guaranteed
  whereabouts: progress beacon
  folklore saying: hypothesis
  surroundings: environment
  passenger: pending call
  parcel: message
  inhabitant: current process
  resident: process host
  house: attach
  book witness: recorder
  breathe: yieldToEventLoop
  entitled: withLabel
  spare: noteMiss
  door: layer
  doors: layers
  room: module
  rooms: modules
  life: incarnation
  lives: incarnations
  board: register
  lent: leased
  ordinal: grant number
  examination: check, test result
  tally ledger: counts, summary
  tallies: counts, summaries
  survey surveyed: the points that a run passes
  belief: a client view
  cut: partition; truncated, interrupted
  whole: complete
  foreign: non-owner
  own: owner
  stakes: coverage
  keepers: shared-state check
  sealed: checksummed
  glance: timeline
  sheet: svg
  stage: view
  workbench: editor
  escapes: forbidden APIs
  wish: request, preference
  wishes: requests, preferences
  admit: addIfNew
  strike: inject a fault
  strikes: injected faults
  struck: injected
`);

/** Reads lines of banned words and what is said instead. */
function namesOf(table: string): ReadonlyMap<string, string> {
  return new Map(
    table
      .trim()
      .split('\n')
      .flatMap((line) => {
        const [words = '', instead = ''] = line.trim().split(': ');
        return words.split(' ').map((word) => [word, instead] as const);
      }),
  );
}

/** Banned in what a user reads: strings of `src`, and docs. */
const VISIBLE: readonly Replacement[] = [
  [/\bsiblings?\b/i, 'twin'],
  [/\bput to the test\b/i, 'exercised'],
];

/**
 * Names that are not renamed: fields of JSON, YAML keys, and names of JavaScript and Redis. A
 * variable that holds such a field has its name.
 */
const EXEMPT: ReadonlySet<string> = new Set([
  // JSON of traces: the number of a grant
  'ordinal',
  'holderOrdinal',
  'nextOrdinal',
  // JSON of a run: why it ended early; faults injected, by kind; the same plan on other systems
  'cutShort',
  'strikes',
  'siblings',
  // JSON of a finding: the role of an event in evidence
  'belief',
  // YAML of a kept plan: its cause
  'byForeignRelease',
  // JavaScript
  'hasOwn',
  'ownKeys',
  'getOwnPropertyNames',
  'getOwnPropertyDescriptor',
  'getOwnPropertyDescriptors',
  // Mathematics: an integer
  'wholeNumber',
  'wholeAt',
  'withWholeNumbers',
]);

/** Names of members only: a field of a ZooKeeper request in traces, a method of `Options`. */
const EXEMPT_MEMBERS: ReadonlySet<string> = new Set(['own', 'whole']);

/** The opening of a free relative clause, which would be the subject of a doc comment. */
const FREE_RELATIVE =
  /^(?:What(?:ever)?|Whether|Who(?:ever|m|se)?|Where(?:ver)?|How|When(?:ever)?|Which(?:ever)?)\b/;

const BACKLOG = new URL('voice-backlog.txt', import.meta.url);

/** Files that are not rewritten yet. */
export const backlog: ReadonlySet<string> = new Set(
  readFileSync(BACKLOG, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#')),
);

/** Names, comments and messages use the standard words, in a file that is not in the backlog. */
export const usesStandardWords: Rule = (source) => {
  const found = [...namesIn(source), ...commentsIn(source), ...textsIn(source)];
  if (!backlog.has(source.path)) return found;
  return found.length > 0 ? [] : [`${source.path}: remove it from voice-backlog.txt`];
};

/** The banned words of a page. */
export function bannedInPage(path: string, text: string): readonly string[] {
  return text
    .split('\n')
    .flatMap((line, at) =>
      replacementsIn(line, [...EVERYWHERE, ...VISIBLE]).map((hint) => `${path}:${at + 1}: ${hint}`),
    );
}

function namesIn(source: Source): readonly string[] {
  const names = nodesOf(source.tree).filter(isIdentifier);
  return [
    ...replacementsOfName(source.path).map((hint) => violation(source, 1, hint)),
    ...names
      .filter((node) => !EXEMPT.has(node.text) && !isKey(node) && !isExemptMember(node))
      .flatMap((node) =>
        replacementsOfName(node.text).map((hint) => violation(source, node, hint)),
      ),
  ];
}

/** Words of a name: `GrantRecorder` has `grant` and `recorder`, as has `grant-recorder.ts`. */
function replacementsOfName(name: string): readonly string[] {
  const words = name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
  return words.flatMap((word) => {
    const instead = NAMES.get(word.toLowerCase());
    return instead === undefined ? [] : [`${name}: say ${instead}`];
  });
}

/** A key of an object literal. Its type declares the name, and the rule applies there. */
function isKey(node: Node): boolean {
  return isPropertyAssignment(node.parent) && node.parent.name === node;
}

function isExemptMember(node: Node & { readonly text: string }): boolean {
  if (!EXEMPT_MEMBERS.has(node.text)) return false;
  const { parent } = node;
  if (isBindingElement(parent)) return parent.propertyName === node;
  const isMember =
    isPropertyAccessExpression(parent) ||
    isPropertySignatureDeclaration(parent) ||
    isMethodDeclaration(parent);
  return isMember && parent.name === node;
}

const LITERALS: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
  SyntaxKind.RegularExpressionLiteral,
]);

function literalsOf(source: Source): readonly Node[] {
  return nodesOf(source.tree).filter(({ kind }) => LITERALS.has(kind));
}

/** Comments with banned words, and doc comments that open with a free relative clause. */
function commentsIn(source: Source): readonly string[] {
  let code = source.text;
  for (const literal of literalsOf(source)) {
    const start = literal.getStart(source.tree);
    const blank = source.text.slice(start, literal.end).replaceAll(/[^\n]/g, ' ');
    code = code.slice(0, start) + blank + code.slice(literal.end);
  }
  return [...code.matchAll(/\/\*[\s\S]*?\*\/|\/\/.*/g)].flatMap(({ 0: raw, index }) => {
    const lines = raw.split('\n');
    const first = lineAt(source.text, index);
    const opening = raw.replace(/^\/\*\*[\s*]*/, '');
    const [subject] = raw.startsWith('/**') ? (FREE_RELATIVE.exec(opening) ?? []) : [];
    const why = `a doc comment does not open with "${subject}": begin with a verb or a noun`;
    return [
      ...(subject === undefined ? [] : [violation(source, first, why)]),
      ...lines.flatMap((line, at) =>
        replacementsIn(line, EVERYWHERE).map((hint) => violation(source, first + at, hint)),
      ),
    ];
  });
}

/** Strings of shipped code. */
function textsIn(source: Source): readonly string[] {
  if (!source.path.startsWith('src/') || /\.(?:test|fixture)\.ts$/.test(source.path)) return [];
  return literalsOf(source).flatMap((node) => {
    const text = source.text.slice(node.getStart(source.tree), node.end);
    if (node.kind === SyntaxKind.RegularExpressionLiteral || /^'[.\w/-]*'$/.test(text)) return [];
    return replacementsIn(text, [...EVERYWHERE, ...VISIBLE]).map((hint) =>
      violation(source, node, hint),
    );
  });
}

function replacementsIn(text: string, words: readonly Replacement[]): readonly string[] {
  return words.flatMap(([word, instead]) => {
    const [found] = word.exec(text) ?? [];
    return found === undefined ? [] : [`"${found}": say ${instead}`];
  });
}

/** Snippets of the rule. */
export const wordSample: Sample = {
  refuses: [
    ['src/search/sweep/strikes.ts', '', ':1: src/search/sweep/strikes.ts: say injected'],
    ['src/a.ts', `export interface FaultStruck { b: 1 }`, 'FaultStruck: say injected'],
    ['src/a.ts', `export class SectionLedger {}`, 'SectionLedger: say counts'],
    ['src/a.ts', `export const surveyed = 1;`, 'surveyed: say the points'],
    ['src/a.ts', `export const a = (b: { strike: 1 }[]) => 1;`, 'strike: say inject a fault'],
    ['src/a.ts', `export class A { manners = 1; }`, 'manners: say client requirements'],
    ['src/a.ts', `export const own = 1;`, 'own: say owner'],
    ['src/a.ts', `export const a = ({ own }: { own: 1 }) => 1;`, 'own: say owner'],
    ['src/a.ts', `export const a = () => ({ tally });`, 'tally: say counts'],
    ['properties/a.test.ts', `// Nobody asks.\nconst a = 1;`, ':1: "Nobody": say no client'],
    ['tools/a.ts', `/**\n * A.\n * It came to 3.\n */\nconst a = 1;`, ':3: "came to": say'],
    ['src/a.ts', `/** Whether it holds. */\nconst a = 1;`, 'does not open with "Whether"'],
    ['src/a.ts', `/**\n * What holds.\n */\nconst a = 1;`, 'does not open with "What"'],
    ['src/a.ts', `console.log('one sibling');`, '"sibling": say twin'],
    ['src/a.ts', 'console.log(`it told`);', '"told": say report'],
  ],
  passes: [
    ['src/a.ts', `export interface A { strikes: 1 }`],
    ['src/a.ts', `export const a = ({ strikes }: { strikes: 1 }) => ({ strikes, belief: 1 });`],
    ['src/a.ts', `export const a = { locks: { own: 1 } }; Object.hasOwn(a, 'b');`],
    ['src/a.ts', `export const a = (b: { own: 1 }) => b.own;`],
    ['src/a.ts', `// a ledger\nexport const a = 'strikes'; export const believed = a;`],
    ['src/a.ts', `/** Returns what holds. */\nconst a = /told/;`],
    ['src/a.ts', `// What holds.\nconst a = 'https://a.b/c'; // its life\n`],
    ['src/a.test.ts', `test('a sibling', () => {});`],
  ],
};
