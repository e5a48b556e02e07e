/**
 * The patterns of Lua 5.1, as `lstrlib.c` matches them, over byte strings: `string.find`, `match`,
 * `gmatch` and `gsub` of scripts. A pattern ends at its first NUL, is looked at only as far as it
 * is matched, and goes back over its repetitions, which for `a*a*a*b` and its kind takes a time
 * that grows with each of them. So steps are counted, and too many of them end the script.
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

/** Counts steps of a pattern as steps of the script; ends the script where there are too many. */
export type CountSteps = (state: LuaState, steps: number, pattern: string) => void;

/** A part of the text, or, as its length, one of the two below. */
interface Capture {
  readonly from: number;
  length: number;
}
const UNFINISHED = -1;
const POSITION = -2;
const MOST_CAPTURES = 32;
/** Steps are counted in bundles. */
const BUNDLE = 100;
/** How deep a match may be nested: `a?` is once for each character that it takes. */
const MOST_NESTED = 1500;

/** One pattern, matched with one text. */
class Matcher {
  private readonly state: LuaState;
  private readonly text: string;
  private readonly pattern: string;
  private readonly count: CountSteps;
  private readonly captures: Capture[] = [];
  private steps = 0;
  private depth = 0;

  constructor(state: LuaState, { text, pattern, count }: Subject) {
    this.state = state;
    this.text = text;
    this.pattern = pattern;
    this.count = count;
  }

  /** Returns where a match that begins at `from` ends; null for none. */
  endOf(from: number): number | null {
    this.captures.length = 0;
    this.depth = 0;
    const end = this.match(from, 0);
    this.spend(0);
    return end;
  }

  private spend(most: number): void {
    if (this.steps <= most) return;
    const { steps } = this;
    this.steps = 0;
    this.count(this.state, steps, this.pattern);
  }

  private match(from: number, start: number): number | null {
    this.depth += 1;
    if (this.depth > MOST_NESTED) this.count(this.state, Number.POSITIVE_INFINITY, this.pattern);
    const end = this.matchRest(from, start);
    this.depth -= 1;
    return end;
  }

  private matchRest(from: number, start: number): number | null {
    let [at, p] = [from, start];
    for (;;) {
      this.steps += 1;
      this.spend(BUNDLE);
      const [sign, next] = [this.pattern.charAt(p), this.pattern.charAt(p + 1)];
      if (sign === '') return at;
      if (sign === '(') return next === ')' ? this.open(at, p + 2, POSITION) : this.open(at, p + 1);
      if (sign === ')') return this.close(at, p + 1);
      if (sign === '$' && next === '') return at === this.text.length ? at : null;
      if (sign === '%' && /[bf0-9]/.test(next)) {
        const passed = this.matchSpecial(at, p, next);
        if (passed === null) return null;
        [at, p] = passed;
        continue;
      }
      const end = this.itemEnd(p);
      const suffix = this.pattern.charAt(end);
      if (suffix === '*') return this.most(at, at, p, end);
      if (suffix === '-') return this.least(at, p, end);
      const fits = this.fits(at, p, end);
      if (suffix === '+') return fits ? this.most(at + 1, at + 1, p, end) : null;
      if (suffix === '?') {
        const longer = fits ? this.match(at + 1, end + 1) : null;
        if (longer !== null) return longer;
        p = end + 1;
      } else if (fits) [at, p] = [at + 1, end];
      else return null;
    }
  }

  /** `%b`, `%f` and what was captured; where it goes on in the text and the pattern. */
  private matchSpecial(at: number, p: number, kind: string): [number, number] | null {
    if (kind === 'b') {
      const end = this.balanced(at, p + 2);
      return end === null ? null : [end, p + 4];
    }
    if (kind === 'f') {
      if (this.pattern.charAt(p + 2) !== '[') this.fail("missing '[' after '%f' in pattern");
      const end = this.itemEnd(p + 2);
      const isIn = (sign: string): boolean => this.isInClass(sign || '\0', p + 2, end - 1);
      const before = at === 0 ? '\0' : this.text.charAt(at - 1);
      return isIn(before) || !isIn(this.text.charAt(at)) ? null : [at, end];
    }
    const known = this.captures[Number(kind) - 1];
    if (known === undefined || known.length === UNFINISHED) this.fail('invalid capture index');
    // In C, the length of a position is a very great number.
    if (known.length === POSITION) return null;
    this.steps += known.length / BUNDLE;
    const part = this.text.slice(known.from, known.from + known.length);
    return this.text.startsWith(part, at) ? [at + part.length, p + 2] : null;
  }

  private fail(problem: string): never {
    return luaError(this.state, problem);
  }

  /** Where the item that begins at `p` ends: a sign, an escape or a class. */
  private itemEnd(p: number): number {
    const { pattern } = this;
    let end = p + 1;
    if (pattern.charAt(p) === '%') {
      if (end === pattern.length) this.fail("malformed pattern (ends with '%')");
      return end + 1;
    }
    if (pattern.charAt(p) !== '[') return end;
    if (pattern.charAt(end) === '^') end += 1;
    do {
      if (end >= pattern.length) this.fail("malformed pattern (missing ']')");
      if (pattern.charAt(end) === '%' && end + 1 < pattern.length) end += 1;
      end += 1;
    } while (pattern.charAt(end) !== ']');
    this.steps += (end - p) / BUNDLE;
    return end + 1;
  }

  private fits(at: number, p: number, end: number): boolean {
    if (at >= this.text.length) return false;
    const sign = this.text.charAt(at);
    switch (this.pattern.charAt(p)) {
      case '.':
        return true;
      case '%':
        return isOf(sign, this.pattern.charAt(p + 1));
      case '[':
        return this.isInClass(sign, p, end - 1);
      default:
        return this.pattern.charAt(p) === sign;
    }
  }

  /** `from` is the `[`, `last` the `]`. */
  private isInClass(sign: string, from: number, last: number): boolean {
    const { pattern } = this;
    const isNot = pattern.charAt(from + 1) === '^';
    this.steps += (last - from) / BUNDLE;
    for (let p = from + (isNot ? 2 : 1); p < last; p += 1) {
      const one = pattern.charAt(p);
      if (one === '%') {
        p += 1;
        if (isOf(sign, pattern.charAt(p))) return !isNot;
      } else if (pattern.charAt(p + 1) === '-' && p + 2 < last) {
        p += 2;
        if (one <= sign && sign <= pattern.charAt(p)) return !isNot;
      } else if (one === sign) return !isNot;
    }
    return isNot;
  }

  private balanced(from: number, p: number): number | null {
    const [begin, end] = [this.pattern.charAt(p), this.pattern.charAt(p + 1)];
    if (end === '') this.fail('unbalanced pattern');
    if (this.text.charAt(from) !== begin) return null;
    let open = 1;
    for (let at = from + 1; at < this.text.length; at += 1) {
      this.steps += 1;
      const sign = this.text.charAt(at);
      if (sign === end) {
        open -= 1;
        if (open === 0) return at + 1;
      } else if (sign === begin) open += 1;
    }
    return null;
  }

  /** As many as there are from `from` on, at least up to `least`. */
  private most(from: number, least: number, p: number, end: number): number | null {
    let at = from;
    while (this.fits(at, p, end)) at += 1;
    this.steps += at - from;
    for (; at >= least; at -= 1) {
      const found = this.match(at, end + 1);
      if (found !== null) return found;
    }
    return null;
  }

  private least(from: number, p: number, end: number): number | null {
    for (let at = from; ; at += 1) {
      const found = this.match(at, end + 1);
      if (found !== null) return found;
      if (!this.fits(at, p, end)) return null;
    }
  }

  private open(at: number, p: number, length = UNFINISHED): number | null {
    if (this.captures.length >= MOST_CAPTURES) this.fail('too many captures');
    this.captures.push({ from: at, length });
    const end = this.match(at, p);
    if (end === null) this.captures.pop();
    return end;
  }

  private close(at: number, p: number): number | null {
    const last = this.captures.findLast(({ length }) => length === UNFINISHED);
    if (last === undefined) this.fail('invalid pattern capture');
    last.length = at - last.from;
    const end = this.match(at, p);
    if (end === null) last.length = UNFINISHED;
    return end;
  }

  /** Pushes one capture; the first of none is all that matched. */
  pushCapture(index: number, from: number, end: number): void {
    const { from: start, length } = this.captures[index] ?? { from, length: end - from };
    if (index > 0 && index >= this.captures.length) this.fail('invalid capture index');
    if (length === UNFINISHED) this.fail('unfinished capture');
    if (length === POSITION) lua.lua_pushnumber(this.state, start + 1);
    else pushText(this.state, this.text.slice(start, start + length));
  }

  /** Pushes all captures; `isAll`: without any, all that matched. */
  pushCaptures(from: number, end: number, isAll = true): number {
    const count = this.captures.length === 0 && isAll ? 1 : this.captures.length;
    lua.lua_checkstack(this.state, count);
    for (let index = 0; index < count; index += 1) this.pushCapture(index, from, end);
    return count;
  }
}

interface Subject {
  readonly text: string;
  readonly pattern: string;
  readonly count: CountSteps;
}

/** By the letter of a class, in lower case. */
const CLASSES: Readonly<Record<string, RegExp>> = {
  a: /[a-z]/i,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what this class is
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

function isOf(sign: string, letter: string): boolean {
  const signs = CLASSES[letter.toLowerCase()];
  if (signs === undefined) return sign === letter;
  return signs.test(sign) === (letter === letter.toLowerCase());
}

/** The pattern in the second argument, up to its first NUL, and whether it begins with `^`. */
function subjectAt(state: LuaState, count: CountSteps): Subject & { readonly isAnchored: boolean } {
  const text = latin1Of(lauxlib.luaL_checkstring(state, 1));
  const [given = ''] = latin1Of(lauxlib.luaL_checkstring(state, 2)).split('\0', 1);
  const isAnchored = given.startsWith('^');
  return { text, pattern: isAnchored ? given.slice(1) : given, count, isAnchored };
}

/** A text that is compared this often, character by character, is counted. */
const MANY = 1e6;

/** `string.find`, or `string.match`. */
function finding(isFind: boolean, count: CountSteps): LuaFunction {
  return (state) => {
    const { text, pattern, isAnchored } = subjectAt(state, count);
    const given = wholeAt(state, 3, 1);
    const first =
      given < 0 ? Math.max(0, given + text.length) : Math.min(Math.max(0, given - 1), text.length);
    if (
      isFind &&
      (lua.lua_toboolean(state, 4) || !/[$^*+?.([%-]/.test(isAnchored ? '^' : pattern))
    ) {
      const part = textAt(state, 2);
      const work = part.length * text.length;
      if (work > MANY) count(state, work / BUNDLE, part);
      const at = text.indexOf(part, first);
      if (at === -1) return pushNil(state);
      lua.lua_pushnumber(state, at + 1);
      lua.lua_pushnumber(state, at + part.length);
      return 2;
    }
    const matcher = new Matcher(state, { text, pattern, count });
    for (let from = first; from <= (isAnchored ? first : text.length); from += 1) {
      const end = matcher.endOf(from);
      if (end === null) continue;
      if (!isFind) return matcher.pushCaptures(from, end);
      lua.lua_pushnumber(state, from + 1);
      lua.lua_pushnumber(state, end);
      return matcher.pushCaptures(from, end, false) + 2;
    }
    return pushNil(state);
  };
}

function pushNil(state: LuaState): number {
  lua.lua_pushnil(state);
  return 1;
}

/** `string.gmatch`, to which `^` is a character as any other. */
function finderOfAll(count: CountSteps): LuaFunction {
  return (state) => {
    const { text, pattern, isAnchored } = subjectAt(state, count);
    let from = 0;
    lua.lua_pushcfunction(state, (called) => {
      const matcher = new Matcher(called, {
        text,
        pattern: (isAnchored ? '^' : '') + pattern,
        count,
      });
      for (; from <= text.length; from += 1) {
        const [start, end] = [from, matcher.endOf(from)];
        if (end === null) continue;
        from = end === start ? end + 1 : end;
        return matcher.pushCaptures(start, end);
      }
      return 0;
    });
    return 1;
  };
}

/** `string.gsub`. */
function replacing(count: CountSteps): LuaFunction {
  return (state) => {
    const { text, pattern, isAnchored } = subjectAt(state, count);
    const kind = lua.lua_type(state, 3);
    const most = wholeAt(state, 4, text.length + 1) | 0;
    if (![lua.LUA_TNUMBER, lua.LUA_TSTRING, lua.LUA_TFUNCTION, lua.LUA_TTABLE].includes(kind)) {
      lauxlib.luaL_argerror(state, 3, nameInLua('string/function/table expected'));
    }
    const matcher = new Matcher(state, { text, pattern, count });
    const parts: string[] = [];
    let [from, replaced] = [0, 0];
    while (replaced < most) {
      const end = matcher.endOf(from);
      if (end !== null) {
        replaced += 1;
        parts.push(replacementOf(state, { matcher, kind, text, from, end }));
      }
      if (end !== null && end > from) from = end;
      else if (from < text.length) {
        parts.push(text.charAt(from));
        from += 1;
      } else break;
      if (isAnchored) break;
    }
    pushText(state, parts.join('') + text.slice(from));
    lua.lua_pushnumber(state, replaced);
    return 2;
  };
}

interface Match {
  readonly matcher: Matcher;
  readonly kind: number;
  readonly text: string;
  readonly from: number;
  readonly end: number;
}

/** Returns what replaces a match. */
function replacementOf(state: LuaState, { matcher, kind, text, from, end }: Match): string {
  const matched = text.slice(from, end);
  if (kind === lua.LUA_TNUMBER || kind === lua.LUA_TSTRING) {
    return textAt(state, 3).replace(/%([\s\S]?)/g, (_, sign: string) => {
      if (!/\d/.test(sign)) return sign === '' ? '\0' : sign;
      if (sign === '0') return matched;
      matcher.pushCapture(Number(sign) - 1, from, end);
      return popText(state);
    });
  }
  if (kind === lua.LUA_TFUNCTION) {
    lua.lua_pushvalue(state, 3);
    lua.lua_call(state, matcher.pushCaptures(from, end), 1);
  } else {
    matcher.pushCapture(0, from, end);
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

/** What scripts find in `string` for patterns. */
export function patternFunctions(count: CountSteps): readonly (readonly [string, LuaFunction])[] {
  return [
    ['find', finding(true, count)],
    ['match', finding(false, count)],
    ['gmatch', finderOfAll(count)],
    ['gsub', replacing(count)],
  ];
}
