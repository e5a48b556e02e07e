/**
 * Reads the YAML of a scenario or plan into plain data, and finds the line and column of any part.
 * Turns zod's issues into one finding per mistake, with a suggestion if a known word is similar.
 * Refuses input that no person writes: huge files, binary data, alias bombs, deep nesting, tags.
 */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  Parser,
  parseDocument,
  visit,
} from 'yaml';
import type { z } from 'zod';
import {
  type PathStep,
  type Problem,
  renderPath,
  suggest,
  type UnplacedProblem,
} from '../../text/problem.ts';
import { shown, unexpected } from './fields.ts';

/** The decoded content of a file, and the file name for problems. */
export interface SourceFile {
  readonly text: string;
  readonly file: string;
}

type Parsed =
  | {
      readonly kind: 'document';
      readonly value: unknown;
      /** Returns the findings with lines and columns, in file order. */
      readonly locate: (findings: readonly UnplacedProblem[]) => readonly Problem[];
    }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

const MAX_CHARACTERS = 1_000_000;
const MAX_ALIASES = 100;
const MAX_DEPTH = 100;
const MAX_PROBLEMS = 50;

/** Parses a file into plain data and a locator, or returns the problems that make it unreadable. */
export function parseFile(source: SourceFile): Parsed {
  const unreadable = unreadableAt(source.text) ?? tooDeepAt(source.text);
  if (unreadable !== null) return refused(source, [unreadable]);
  const lines = new LineCounter();
  const document = parseDocument(source.text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
  });
  const faults = [...document.errors, ...document.warnings].map(
    ({ pos, message }): Place => ({ at: pos[0], what: plain(message) }),
  );
  if (faults.length > 0) return refused(source, faults);
  const forbidden = forbiddenAt(document);
  if (forbidden !== null) return refused(source, [forbidden]);
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    if (value === null) return refused(source, [{ at: 0, what: 'the file is empty' }]);
    return {
      kind: 'document',
      value,
      locate: (found) => located({ source, document, lines }, found),
    };
  } catch (error) {
    return refused(source, [{ at: 0, what: expansionProblem(error) }]);
  }
}

interface Place {
  readonly at: number;
  readonly what: string;
}

function unreadableAt(text: string): Place | null {
  if (text.length > MAX_CHARACTERS) {
    const what = `the file has ${text.length} characters; at most ${MAX_CHARACTERS} are read`;
    return { at: 0, what };
  }
  const places = [text.indexOf('\u0000'), text.indexOf('\uFFFD')].filter((at) => at >= 0);
  if (places.length === 0) return null;
  const what = 'not UTF-8 text (a binary file, or another encoding)';
  return { at: Math.min(...places), what };
}

/**
 * Node can die without an exception if deep nesting overflows the stack inside a regular
 * expression. So measure the depth first, without recursion.
 */
function tooDeepAt(text: string): Place | null {
  let level: unknown[] = [...new Parser().parse(text)];
  for (let depth = 0; level.length > 0; depth += 1) {
    const [first] = level;
    if (depth > MAX_DEPTH) {
      const at = isRecord(first) && typeof first['offset'] === 'number' ? first['offset'] : 0;
      return { at, what: `the file is nested more than ${MAX_DEPTH} deep` };
    }
    level = level.flatMap(childTokens);
  }
  return null;
}

function childTokens(token: unknown): readonly unknown[] {
  if (!isRecord(token)) return [];
  const items = Array.isArray(token['items']) ? token['items'] : [];
  const inside = items.flatMap((item) => (isRecord(item) ? [item['key'], item['value']] : []));
  return [token['value'], ...inside].filter(isRecord);
}

/** Returns true for a map or a list, whose fields may be read. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Returns the first line of a `yaml` message, without the advice that follows it. */
function plain(message: string): string {
  if (message.startsWith('Source contains multiple documents')) return 'expected only one document';
  const [first = ''] = message.split('\n');
  return first.charAt(0).toLowerCase() + first.slice(1);
}

/** Finds a key that JavaScript objects cannot have, or an alias inside its own anchor. */
function forbiddenAt(document: Document): Place | null {
  let found: Place | null = null;
  visit(document, {
    Pair: (_, { key }) => {
      if (!isScalar(key) || key.value !== '__proto__') return undefined;
      found = { at: startOf(key, 0), what: 'the name "__proto__" cannot be used' };
      return visit.BREAK;
    },
    Alias: (_, alias, ancestors) => {
      if (!ancestors.some((node) => isCollection(node) && node.anchor === alias.source)) {
        return undefined;
      }
      found = { at: startOf(alias, 0), what: `the alias *${alias.source} contains itself` };
      return visit.BREAK;
    },
  });
  return found;
}

function expansionProblem(error: unknown): string {
  if (error instanceof ReferenceError) {
    return error.message.startsWith('Excessive alias count')
      ? `aliases expand to too much; at most ${MAX_ALIASES} are followed`
      : plain(error.message);
  }
  throw error;
}

function refused(source: SourceFile, places: readonly Place[]): Parsed {
  const problems = places.slice(0, MAX_PROBLEMS).map(({ at, what }) => {
    const before = source.text.slice(0, at).split('\n');
    const column = (before[before.length - 1]?.length ?? 0) + 1;
    return { file: source.file, line: before.length, column, path: '', what };
  });
  return { kind: 'problems', problems };
}

interface Located {
  readonly source: SourceFile;
  readonly document: Document;
  readonly lines: LineCounter;
}

function located(where: Located, findings: readonly UnplacedProblem[]): readonly Problem[] {
  const problems = findings.map((finding) => {
    const position = where.lines.linePos(offsetOf(where.document, finding));
    return {
      file: where.source.file,
      line: Math.max(1, position.line),
      column: Math.max(1, position.col),
      path: renderPath(finding.path),
      what: finding.what,
    };
  });
  problems.sort((a, b) => a.line - b.line || a.column - b.column);
  return problems.slice(0, MAX_PROBLEMS);
}

/** Returns the text offset of a path. A missing part is placed at its container. */
function offsetOf(document: Document, { path, isKey }: UnplacedProblem): number {
  let node: unknown = document.contents;
  let offset = startOf(node, 0);
  for (const [at, step] of path.entries()) {
    const holder = isAlias(node) ? node.resolve(document) : node;
    const next = childOf(holder, step);
    if (next === undefined) return offset;
    const isLast = at === path.length - 1;
    offset = startOf(isLast && isKey ? next.key : next.value, startOf(next.key, offset));
    node = next.value;
  }
  return offset;
}

function childOf(node: unknown, step: PathStep): { key: unknown; value: unknown } | undefined {
  if (isSeq(node)) {
    const value = node.items[Number(step)];
    return value === undefined ? undefined : { key: value, value };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
  return pair === undefined ? undefined : { key: pair.key, value: pair.value };
}

function startOf(node: unknown, otherwise: number): number {
  return isNode(node) ? (node.range?.[0] ?? otherwise) : otherwise;
}

type Checked<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'findings'; readonly findings: readonly UnplacedProblem[] };

/** Checks parsed YAML against a schema. */
export function check<Value>(schema: z.ZodType<Value>, value: unknown): Checked<Value> {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return { kind: 'value', value: result.data };
  return { kind: 'findings', findings: allFindings(result.error.issues, []) };
}

/**
 * Converts issues to findings. An unknown key explains missing fields of its map, so findings about
 * these fields are dropped.
 */
function allFindings(
  issues: readonly z.core.$ZodIssue[],
  base: readonly PathStep[],
): readonly UnplacedProblem[] {
  const unknown = new Set(
    issues.filter(({ code }) => code === 'unrecognized_keys').map(({ path }) => path.join('\n')),
  );
  const found = issues
    .filter(({ code, path }) => code !== 'custom' || !unknown.has(path.join('\n')))
    .flatMap((issue) => findingsOf(issue, base));
  // zod reports a number twice if it exceeds a limit that is also the limit of safe integers.
  return found.filter(({ path, what }, at) => {
    const steps = path.join('\n');
    return at === found.findIndex((peer) => peer.what === what && peer.path.join('\n') === steps);
  });
}

function findingsOf(
  issue: z.core.$ZodIssue,
  base: readonly PathStep[],
): readonly UnplacedProblem[] {
  const steps = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const path = [...base, ...steps];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        // The message of a `closed` map consists of its noun and its fields.
        const [noun = 'field', words = ''] = issue.message.split(': ');
        const what = `unknown ${noun} "${key}"${suggest(key, words.split(' '))}`;
        return { path: [...path, key], isKey: true, what };
      });
    case 'invalid_union':
      return unionFindings(issue, path);
    case 'invalid_key':
      return issue.issues.map(({ message }) => ({ path, isKey: true, what: message }));
    case 'invalid_type':
      return [valueFinding(path, unexpected(typeName(issue.expected), issue.input))];
    case 'invalid_value': {
      const isCustom = !issue.message.startsWith('Invalid');
      return [
        valueFinding(path, isCustom ? issue.message : wordProblem(issue.values, issue.input)),
      ];
    }
    case 'too_big':
      return [valueFinding(path, sizeProblem('at most', issue.maximum, issue.origin))];
    case 'too_small':
      return [valueFinding(path, sizeProblem('at least', issue.minimum, issue.origin))];
    default:
      return [valueFinding(path, issue.message)];
  }
}

function valueFinding(path: readonly PathStep[], what: string): UnplacedProblem {
  return { path, isKey: false, what };
}

/** Reports the findings of the union member that the value is closest to. */
function unionFindings(
  issue: z.core.$ZodIssueInvalidUnion,
  path: readonly PathStep[],
): readonly UnplacedProblem[] {
  if (issue.message !== 'Invalid input') return [valueFinding(path, issue.message)];
  const isOfOtherType = (inner: z.core.$ZodIssue): boolean =>
    inner.path.length === 0 && (inner.code === 'invalid_type' || inner.code === 'invalid_value');
  const near = issue.errors.find((branch) => !branch.some(isOfOtherType));
  if (near !== undefined) return allFindings(near, path);
  const words = issue.errors.flatMap((branch) =>
    branch.flatMap((inner) => (inner.code === 'invalid_value' ? inner.values : [])),
  );
  const isWord = issue.errors.every(([inner]) => inner?.code === 'invalid_value');
  if (words.length > 0 && (isWord || typeof issue.input === 'string')) {
    return [valueFinding(path, wordProblem(words, issue.input))];
  }
  const expected = issue.errors.flatMap((branch) =>
    branch.flatMap((inner) => (inner.code === 'invalid_type' ? [typeName(inner.expected)] : [])),
  );
  const forms = [...new Set(expected)].join(' or ');
  return [valueFinding(path, unexpected(forms, issue.input))];
}

const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ['string', 'text'],
  ['number', 'a number'],
  ['int', 'a whole number'],
  ['boolean', 'true or false'],
  ['array', 'a list'],
  ['object', 'a map'],
  ['record', 'a map'],
]);

function typeName(expected: string): string {
  return TYPE_NAMES.get(expected) ?? expected;
}

function wordProblem(values: readonly unknown[], input: unknown): string {
  const words = values.map(String);
  if (typeof input !== 'string') return unexpected(`one of ${words.join(', ')}`, input);
  return `unknown value ${shown(input)}${suggest(input, words)}`;
}

function sizeProblem(bound: string, limit: number | bigint, origin: string): string {
  if (origin === 'array')
    return `must have ${bound} ${limit} ${Number(limit) === 1 ? 'item' : 'items'}`;
  if (origin === 'string') return `${bound} ${limit} characters`;
  return `must be ${bound} ${limit}`;
}
