/**
 * Reads the YAML of a scenario or a plan into plain data, and finds the line and column of anything
 * in it. Refuses what no person writes: huge files, control characters, bombs of aliases, tags.
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
  type Node,
  Parser,
  parseDocument,
  visit,
} from 'yaml';
import {
  type PathStep,
  type Problem,
  renderPath,
  type UnplacedProblem,
} from '../../text/problem.ts';

/** A file's content, decoded, and the name that problems give it. */
export interface SourceFile {
  readonly text: string;
  readonly file: string;
}

export type Parsed =
  | {
      readonly kind: 'document';
      readonly value: unknown;
      /** Gives findings their lines and columns, in the order of the file. */
      readonly locate: (findings: readonly UnplacedProblem[]) => readonly Problem[];
    }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

const MAX_CHARACTERS = 1_000_000;
const MAX_ALIASES = 100;
const MAX_DEPTH = 100;
/** The most problems that are reported at once. */
const MAX_PROBLEMS = 50;

/** Plain data and a way to find it again, or what keeps the text from being read at all. */
export function parseFile(source: SourceFile): Parsed {
  const unreadable = unreadableAt(source.text) ?? tooDeepAt(source.text);
  if (unreadable !== null) return refused(source, [unreadable]);
  const lines = new LineCounter();
  const document = parseDocument(source.text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
  });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    return refused(
      source,
      faults.map(({ pos, message }) => ({ at: pos[0], what: plain(message) })),
    );
  }
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
    return {
      at: 0,
      what: `the file has ${text.length} characters; at most ${MAX_CHARACTERS} are read`,
    };
  }
  const places = [text.indexOf('\u0000'), text.indexOf('\uFFFD')].filter((at) => at >= 0);
  if (places.length === 0) return null;
  const what = 'this is not UTF-8 text (a binary file, or another encoding)';
  return { at: Math.min(...places), what };
}

/**
 * Composing a document recurses, and Node can die without an exception where the stack ends inside
 * a regular expression; so the depth is measured first, on the tokens, without recursion.
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

/** The tokens inside a document, a collection, or an entry of one. */
function childTokens(token: unknown): readonly unknown[] {
  if (!isRecord(token)) return [];
  const items = Array.isArray(token['items']) ? token['items'] : [];
  const inside = items.flatMap((item) => (isRecord(item) ? [item['key'], item['value']] : []));
  return [token['value'], ...inside].filter(isRecord);
}

/** Whether plain data is a map, or a list, whose fields may be read. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** The library's messages, without its own advice. */
function plain(message: string): string {
  if (message.startsWith('Source contains multiple documents'))
    return 'only one document may stand here';
  const [first = ''] = message.split('\n');
  return first.charAt(0).toLowerCase() + first.slice(1);
}

/** A key that JavaScript objects cannot have, or an alias inside of what it stands for. */
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

/** Where a path leads in the text; what is missing is placed at what should contain it. */
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
  return isNode(node) ? (rangeOf(node) ?? otherwise) : otherwise;
}

function rangeOf(node: Node): number | undefined {
  return node.range?.[0];
}
