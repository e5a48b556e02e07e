/**
 * The patterns of Lua 5.1 over byte strings, matched as in `lstrlib.c`: `string.find`, `match`,
 * `gmatch` and `gsub` for scripts. A pattern ends at its first NUL, and is parsed only as far as it
 * is matched. Matching backtracks over repetitions, so each `a*` in `a*a*a*b` multiplies the time.
 * Steps are therefore counted, and a script that takes too many steps is ended.
 */
import { lauxlib, lua } from 'fengari';
import {
  type LuaFunction,
  type LuaState,
  luaError,
  nameInLua,
  pushText,
  textAt,
  wholeAt,
} from './lua-values.ts';
import { latin1Of } from './reply.ts';

/** Counts pattern steps as steps of the script, and ends the script if there are too many. */
export type CountSteps = (state: LuaState, steps: number, pattern: string) => void;

/** A part of the text. `length` may be `UNFINISHED` or `POSITION`. */
interface Capture {
  readonly from: number;
  length: number;
}

const UNFINISHED = -1;
const POSITION = -2;
const MOST_CAPTURES = 32;
/** Steps are counted in batches of this size. */
const BUNDLE = 100;
/** Maximum nesting of a match. `a?` nests once per character that it matches. */
const MOST_NESTED = 1500;

/** A pattern, and the text to match. */
interface Matching {
  state: LuaState;
  readonly text: string;
  /** Without the leading `^`. */
  readonly pattern: string;
  readonly isAnchored: boolean;
  readonly count: CountSteps;
  /** Parsed items by position in the pattern. */
  readonly items: Map<number, Item>;
  readonly captures: Capture[];
  /** Steps that are not counted yet. */
  steps: number;
  depth: number;
}

/** A part of a pattern. */
interface Item {
  /** `(`, `()`, `)`, `$`, or the repetition: `*`, `+`, `-`, `?`, or '' for exactly once. */
  readonly kind: string;
  /** Returns the end of a match that begins at `at`, or null if there is none. */
  readonly ends: (at: number) => number | null;
  /** Position of the next item in the pattern. */
  readonly next: number;
}

const CLASS = String.raw`\[(?:\^|(?!\^))(?:%[\s\S]|[^%])(?:%[\s\S]|[^\]%])*\]`;
const ITEM = new RegExp(
  String.raw`(\(\)|[()]|\$$)|%b([\s\S]{2})|%(\d)|%f(${CLASS})|(%[^bf\d]|${CLASS}|[^%[])([*+?-]?)`,
  'y',
);

/** Raises an error if the pattern is malformed. */
function itemAt(m: Matching, p: number): Item {
  const known = m.items.get(p);
  if (known !== undefined) return known;
  ITEM.lastIndex = p;
  const found = ITEM.exec(m.pattern);
  if (found === null) return luaError(m.state, problemOf(m.pattern.slice(p)));
  const [all, mark, pair, index, frontier, single = '', repeated = ''] = found;
  m.steps += all.length / BUNDLE;
  let [kind, ends]: [string, Item['ends']] = [mark ?? repeated, () => null];
  if (pair !== undefined) ends = (at) => balancedEnd(m, at, pair);
  else if (index !== undefined) ends = (at) => repeatedEnd(m, at, Number(index) - 1);
  else if (frontier !== undefined) {
    const isIn = setOf(frontier);
    ends = (at) => (!isIn(m.text[at - 1] ?? '\0') && isIn(m.text[at] ?? '\0') ? at : null);
  } else if (mark === undefined) {
    const fits = single.startsWith('[') ? setOf(single) : signOf(single);
    ends = (at) => {
      m.steps += single.length / BUNDLE;
      return at < m.text.length && fits(m.text.charAt(at)) ? at + 1 : null;
    };
  }
  const item = { kind, ends, next: p + all.length };
  m.items.set(p, item);
  return item;
}

function problemOf(rest: string): string {
  if (rest === '%') return "malformed pattern (ends with '%')";
  if (rest.startsWith('%b')) return 'unbalanced pattern';
  if (/^%f(?!\[)/.test(rest)) return "missing '[' after '%f' in pattern";
  return "malformed pattern (missing ']')";
}

/**
 * Returns the end of the balanced text at `from` that begins with `begin` and ends with `end`.
 * Returns null if there is none.
 */
function balancedEnd(m: Matching, from: number, [begin, end]: string): number | null {
  if (m.text.charAt(from) !== begin) return null;
  let open = 1;
  for (let at = from + 1; at < m.text.length; at += 1) {
    m.steps += 1;
    const sign = m.text.charAt(at);
    if (sign === end) open -= 1;
    else if (sign === begin) open += 1;
    if (open === 0) return at + 1;
  }
  return null;
}

/**
 * Matches a back reference such as `%1`. Returns the end of the repeated text at `at`, or null if
 * the text is not repeated there.
 */
function repeatedEnd(m: Matching, at: number, index: number): number | null {
  const { from = 0, length = UNFINISHED } = m.captures[index] ?? {};
  if (length === UNFINISHED) return luaError(m.state, 'invalid capture index');
  // In C, the length of a position capture is a very large number, so the capture never matches.
  if (length === POSITION) return null;
  m.steps += length / BUNDLE;
  return m.text.startsWith(m.text.slice(from, from + length), at) ? at + length : null;
}

function endOf(m: Matching, from: number): number | null {
  m.captures.length = 0;
  m.depth = 0;
  const end = match(m, from, 0);
  spend(m, 0);
  return end;
}

/** Counts the uncounted steps if there are more than `most`. */
function spend(m: Matching, most: number): void {
  const { steps } = m;
  if (steps <= most) return;
  m.steps = 0;
  m.count(m.state, steps, m.pattern);
}

function match(m: Matching, from: number, start: number): number | null {
  m.depth += 1;
  if (m.depth > MOST_NESTED) m.count(m.state, Number.POSITIVE_INFINITY, m.pattern);
  const end = matchRest(m, from, start);
  m.depth -= 1;
  return end;
}

function matchRest(m: Matching, from: number, start: number): number | null {
  let [at, p] = [from, start];
  while (p < m.pattern.length) {
    m.steps += 1;
    spend(m, BUNDLE);
    const { kind, ends, next } = itemAt(m, p);
    if (kind === '(') return open(m, at, next, UNFINISHED);
    if (kind === '()') return open(m, at, next, POSITION);
    if (kind === ')') return close(m, at, next);
    if (kind === '$') return at === m.text.length ? at : null;
    if (kind === '*') return most(m, at, { ends, next });
    if (kind === '-') return least(m, at, { ends, next });
    const end = ends(at);
    if (kind === '+') return end === null ? null : most(m, end, { ends, next });
    if (kind === '?') {
      const longer = end === null ? null : match(m, end, next);
      if (longer !== null) return longer;
    } else if (end === null) return null;
    else at = end;
    p = next;
  }
  return at;
}

type Repeated = Pick<Item, 'ends' | 'next'>;

/** Matches as many repetitions as possible. The repetition ends at `least` or later. */
function most(m: Matching, least: number, { ends, next }: Repeated): number | null {
  let at = least;
  while (ends(at) !== null) at += 1;
  m.steps += at - least;
  for (; at >= least; at -= 1) {
    const end = match(m, at, next);
    if (end !== null) return end;
  }
  return null;
}

function least(m: Matching, from: number, { ends, next }: Repeated): number | null {
  for (let at = from; ; at += 1) {
    const end = match(m, at, next);
    if (end !== null) return end;
    if (ends(at) === null) return null;
  }
}

function open(m: Matching, from: number, p: number, length: number): number | null {
  if (m.captures.length >= MOST_CAPTURES) return luaError(m.state, 'too many captures');
  m.captures.push({ from, length });
  const end = match(m, from, p);
  if (end === null) m.captures.pop();
  return end;
}

function close(m: Matching, at: number, p: number): number | null {
  const last = m.captures.findLast(({ length }) => length === UNFINISHED);
  if (last === undefined) return luaError(m.state, 'invalid pattern capture');
  last.length = at - last.from;
  const end = match(m, at, p);
  if (end === null) last.length = UNFINISHED;
  return end;
}

interface Match {
  readonly from: number;
  readonly end: number;
}

function matchFrom(m: Matching, first: number): Match | null {
  for (let from = first; from <= (m.isAnchored ? first : m.text.length); from += 1) {
    const end = endOf(m, from);
    if (end !== null) return { from, end };
  }
  return null;
}

/** If the pattern has no captures, the first capture is the complete match. */
function pushCapture({ state, text, captures }: Matching, index: number, match: Match): void {
  const { from, length } = captures[index] ?? { from: match.from, length: match.end - match.from };
  if (index > 0 && index >= captures.length) luaError(state, 'invalid capture index');
  if (length === UNFINISHED) luaError(state, 'unfinished capture');
  if (length === POSITION) lua.lua_pushnumber(state, from + 1);
  else pushText(state, text.slice(from, from + length));
}

/** Pushes all captures, at least `least` of them. Returns their number. */
function pushCaptures(m: Matching, match: Match, least = 1): number {
  const count = Math.max(m.captures.length, least);
  lua.lua_checkstack(m.state, count);
  for (let index = 0; index < count; index += 1) pushCapture(m, index, match);
  return count;
}

type Fits = (sign: string) => boolean;

/** Character classes by their letter in lower case. */
const CLASSES: Readonly<Record<string, RegExp>> = {
  a: /[a-z]/i,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the class of control characters
  c: /[\0-\x1f\x7f]/,
  d: /\d/,
  l: /[a-z]/,
  p: /[!-/:-@[-`{-~]/,
  s: /[\t-\r ]/,
  u: /[A-Z]/,
  w: /[a-z\d]/i,
  x: /[a-f\d]/i,
  z: /\0/,
};

/** Returns the test for a pattern item: one character, `.`, or an escape such as `%d`. */
function signOf(text: string): Fits {
  if (text === '.') return () => true;
  const letter = text.slice(-1);
  const signs = text.length === 1 ? undefined : CLASSES[letter.toLowerCase()];
  if (signs === undefined) return (sign) => sign === letter;
  const isLower = letter === letter.toLowerCase();
  return (sign) => signs.test(sign) === isLower;
}

/** Returns the test for a set such as `[^a-z%d]`. */
function setOf(text: string): Fits {
  const isNot = text.startsWith('[^');
  const parts = text.slice(isNot ? 2 : 1, -1).matchAll(/%[\s\S]|([\s\S])-([\s\S])|[\s\S]/g);
  const all = Array.from(parts, ([part, low, high]): Fits => {
    if (low !== undefined && high !== undefined) return (sign) => low <= sign && sign <= high;
    return part === '.' ? (sign) => sign === '.' : signOf(part);
  });
  return (sign) => all.some((fits) => fits(sign)) !== isNot;
}

/** The pattern ends at its first NUL. */
function matchingOf(state: LuaState, count: CountSteps, hasAnchors = true): Matching {
  const text = latin1Of(lauxlib.luaL_checkstring(state, 1));
  const [rawPattern = ''] = latin1Of(lauxlib.luaL_checkstring(state, 2)).split('\0', 1);
  const isAnchored = hasAnchors && rawPattern.startsWith('^');
  const pattern = isAnchored ? rawPattern.slice(1) : rawPattern;
  const items = new Map<number, Item>();
  return { state, text, pattern, isAnchored, count, items, captures: [], steps: 0, depth: 0 };
}

/** A plain search is counted if it may take more character comparisons than this. */
const MANY = 1e6;

function finding(isFind: boolean, count: CountSteps): LuaFunction {
  return (state) => {
    const m = matchingOf(state, count);
    const { text, pattern, isAnchored } = m;
    const start = wholeAt(state, 3, 1);
    const first =
      start < 0 ? Math.max(0, start + text.length) : Math.min(Math.max(0, start - 1), text.length);
    const isPlain = lua.lua_toboolean(state, 4) || !(isAnchored || /[$^*+?.([%-]/.test(pattern));
    if (isFind && isPlain) {
      const part = textAt(state, 2);
      const work = part.length * text.length;
      if (work > MANY) count(state, work / BUNDLE, part);
      const at = text.indexOf(part, first);
      return at === -1 ? pushNil(state) : pushPlaces(state, { from: at, end: at + part.length });
    }
    const found = matchFrom(m, first);
    if (found === null) return pushNil(state);
    if (!isFind) return pushCaptures(m, found);
    return pushPlaces(state, found) + pushCaptures(m, found, 0);
  };
}

function pushNil(state: LuaState): number {
  lua.lua_pushnil(state);
  return 1;
}

function pushPlaces(state: LuaState, { from, end }: Match): number {
  lua.lua_pushnumber(state, from + 1);
  lua.lua_pushnumber(state, end);
  return 2;
}

/** In `string.gmatch`, `^` is an ordinary character. */
function finderOfAll(count: CountSteps): LuaFunction {
  return (state) => {
    const m = matchingOf(state, count, false);
    let from = 0;
    lua.lua_pushcfunction(state, (called) => {
      m.state = called;
      const found = matchFrom(m, from);
      if (found === null) return 0;
      from = found.end === found.from ? found.end + 1 : found.end;
      return pushCaptures(m, found);
    });
    return 1;
  };
}

function replacing(count: CountSteps): LuaFunction {
  return (state) => {
    const m = matchingOf(state, count);
    const { text } = m;
    const kind = lua.lua_type(state, 3);
    const most = wholeAt(state, 4, text.length + 1) | 0;
    if (![lua.LUA_TNUMBER, lua.LUA_TSTRING, lua.LUA_TFUNCTION, lua.LUA_TTABLE].includes(kind)) {
      lauxlib.luaL_argerror(state, 3, nameInLua('string/function/table expected'));
    }
    const parts: string[] = [];
    let [from, replaced] = [0, 0];
    while (replaced < most) {
      const found = matchFrom(m, from);
      if (found === null) break;
      parts.push(text.slice(from, found.from), replacementOf(m, found));
      replaced += 1;
      from = found.end;
      if (found.end === found.from) {
        parts.push(text.charAt(from));
        from += 1;
      }
      if (m.isAnchored) break;
    }
    pushText(state, parts.join('') + text.slice(from));
    lua.lua_pushnumber(state, replaced);
    return 2;
  };
}

function replacementOf(m: Matching, match: Match): string {
  const { state } = m;
  const matched = m.text.slice(match.from, match.end);
  const kind = lua.lua_type(state, 3);
  if (kind === lua.LUA_TNUMBER || kind === lua.LUA_TSTRING) {
    return textAt(state, 3).replace(/%([\s\S]?)/g, (_, sign: string) => {
      if (!/\d/.test(sign)) return sign === '' ? '\0' : sign;
      if (sign === '0') return matched;
      pushCapture(m, Number(sign) - 1, match);
      return popText(state);
    });
  }
  if (kind === lua.LUA_TFUNCTION) {
    lua.lua_pushvalue(state, 3);
    lua.lua_call(state, pushCaptures(m, match), 1);
  } else {
    pushCapture(m, 0, match);
    lua.lua_gettable(state, 3);
  }
  if (!lua.lua_toboolean(state, -1)) {
    lua.lua_pop(state, 1);
    return matched;
  }
  const found = lua.lua_type(state, -1);
  if (found === lua.LUA_TSTRING || found === lua.LUA_TNUMBER) return popText(state);
  const name = latin1Of(lua.lua_typename(state, found));
  return luaError(state, `invalid replacement value (a ${name})`);
}

function popText(state: LuaState): string {
  const text = textAt(state, -1);
  lua.lua_pop(state, 1);
  return text;
}

/** Returns the pattern functions of `string`. */
export function patternFunctions(count: CountSteps): readonly (readonly [string, LuaFunction])[] {
  return [
    ['find', finding(true, count)],
    ['match', finding(false, count)],
    ['gmatch', finderOfAll(count)],
    ['gsub', replacing(count)],
  ];
}
