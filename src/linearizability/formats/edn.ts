/**
 * Reads EDN, Clojure's data notation (github.com/edn-format/edn), into plain data. Data that JSON
 * cannot express becomes text or a map with one field, so that different data stays different.
 */
import type { Json } from '../../core/kernel/json.ts';
import { type FieldsRead, isFields } from './json-fields.ts';
import { MOST_DEPTH } from './record.ts';

type EdnRead =
  | { readonly kind: 'forms'; readonly forms: readonly Json[] }
  | { readonly kind: 'malformed'; readonly offset: number; readonly what: string };

/**
 * Returns all forms of a text as plain data:
 *
 * - Lists and vectors become arrays.
 * - A map becomes an object. Its fields are keywords without the colon, or the texts of other keys.
 * - A set becomes `{"#set": […]}`, sorted by text.
 * - A tagged form becomes `{"#tag": form}`, but a tagged vector becomes a plain vector.
 * - Keywords (with their colon), symbols, ratios, characters and inexact numbers become text.
 */
export function readEdn(text: string): EdnRead {
  const reader = new EdnReader(text);
  const forms = reader.readAll();
  return reader.problem === null
    ? { kind: 'forms', forms }
    : { kind: 'malformed', ...reader.problem };
}

/** Returns the fields of the map in a text, or the first error in the text. */
export function readEdnFields(text: string): FieldsRead {
  const read = readEdn(text);
  if (read.kind === 'malformed') return read;
  const [form = null] = read.forms;
  if (isFields(form)) return { kind: 'fields', fields: form };
  return { kind: 'malformed', offset: 0, what: `expected a map, found ${ednText(form)}` };
}

const ESCAPE_CHARACTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({ t: '\t', r: '\r', n: '\n', b: '\b', f: '\f', '\\': '\\', '"': '"' }),
);

/** After a problem, the reader is at the end of the text, so every method returns at once. */
class EdnReader {
  problem: { readonly offset: number; readonly what: string } | null = null;
  private readonly text: string;
  private at = 0;
  private depth = 0;

  constructor(text: string) {
    this.text = text;
  }

  readAll(): readonly Json[] {
    const forms: Json[] = [];
    while (this.skip()) forms.push(this.readForm());
    return forms;
  }

  private fail(offset: number, message: string): null {
    this.problem ??= { offset, what: message };
    this.at = this.text.length;
    return null;
  }

  /** Skips space, comments and discarded forms. Returns true if anything follows. */
  private skip(): boolean {
    const { text } = this;
    while (this.at < text.length) {
      const code = text.charCodeAt(this.at);
      if (isSpace(code)) this.at += 1;
      else if (code === SEMICOLON) {
        const end = text.indexOf('\n', this.at);
        this.at = end < 0 ? text.length : end;
      } else if (code === HASH && text.charAt(this.at + 1) === '_') this.discard();
      else return true;
    }
    return false;
  }

  private discard(): void {
    const start = this.at;
    this.at += 2;
    if (this.skip()) this.readForm();
    else this.fail(start, 'nothing follows this #_');
  }

  private readForm(): Json {
    const start = this.at;
    const character = this.text.charAt(start);
    switch (character) {
      case '"':
        return this.readString();
      case '[':
        return this.readSequence(']');
      case '(':
        return this.readSequence(')');
      case '{':
        return this.readMap();
      case '#':
        return this.readTagged();
      case '\\':
        return this.readCharacter();
      case ']':
      case ')':
      case '}':
        return this.fail(start, `unmatched "${character}"`);
      default:
        return this.readToken();
    }
  }

  private readSequence(closer: string): Json[] {
    const start = this.at;
    const forms: Json[] = [];
    this.depth += 1;
    if (this.depth > MOST_DEPTH) this.fail(start, `more than ${MOST_DEPTH} levels deep`);
    this.at += 1;
    for (;;) {
      if (!this.skip()) {
        this.fail(start, `"${closer}" is missing`);
        break;
      }
      if (this.text.charAt(this.at) === closer) break;
      forms.push(this.readForm());
    }
    this.at += 1;
    this.depth -= 1;
    return forms;
  }

  private readMap(): Json {
    const start = this.at;
    const forms = this.readSequence('}');
    if (this.problem !== null) return null;
    if (forms.length % 2 === 1) return this.fail(start, 'a key of this map has no value');
    const fields: Record<string, Json> = {};
    for (let at = 0; at < forms.length; at += 2) {
      const key = forms[at] ?? null;
      const name = keyName(key);
      if (Object.hasOwn(fields, name) || name === '__proto__') {
        return this.fail(start, `duplicate key ${ednText(key)} in this map`);
      }
      fields[name] = forms[at + 1] ?? null;
    }
    return fields;
  }

  private readTagged(): Json {
    const start = this.at;
    this.at += 1;
    const next = this.text.charAt(this.at);
    if (next === '{') {
      const members = this.readSequence('}');
      return { '#set': members.sort((left, right) => byText(ednText(left), ednText(right))) };
    }
    if (next === '#') return this.readSymbolic(start);
    const tag = this.tokenFrom(this.at);
    if (!isName(tag)) return this.fail(start, 'expected a tag after #');
    this.at += tag.length;
    if (!this.skip()) return this.fail(start, `nothing follows the tag #${tag}`);
    // A tag on a vector only changes how the vector is printed.
    const form = this.readForm();
    return isArray(form) ? form : { [`#${tag}`]: form };
  }

  private readSymbolic(start: number): Json {
    const name = this.tokenFrom(start + 2);
    this.at = start + 2 + name.length;
    return /^(-?Inf|NaN)$/.test(name) ? `##${name}` : this.fail(start, `unknown ##${name}`);
  }

  private readCharacter(): Json {
    const start = this.at;
    const name = this.text.charAt(start + 1) + this.tokenFrom(start + 2);
    if (name.trim() === '') return this.fail(start, 'expected a character after \\');
    this.at = start + 1 + name.length;
    return `\\${name}`;
  }

  private readString(): Json {
    const start = this.at;
    const { text } = this;
    let read = '';
    let from = start + 1;
    for (let at = from; at < text.length; at++) {
      const character = text.charAt(at);
      if (character === '"') {
        this.at = at + 1;
        return read + text.slice(from, at);
      }
      if (character !== '\\') continue;
      const plain = ESCAPE_CHARACTERS.get(text.charAt(at + 1));
      const code = plain ?? /^u([0-9a-fA-F]{4})/.exec(text.slice(at + 1, at + 6))?.[1];
      if (code === undefined) return this.fail(at, 'unknown escape in a string');
      read += text.slice(from, at) + (plain ?? String.fromCharCode(Number.parseInt(code, 16)));
      at += plain === undefined ? 5 : 1;
      from = at + 1;
    }
    return this.fail(start, 'this string is not closed');
  }

  private tokenFrom(at: number): string {
    let end = at;
    while (end < this.text.length && !isTokenEnd(this.text.charCodeAt(end))) end += 1;
    return this.text.slice(at, end);
  }

  private readToken(): Json {
    const start = this.at;
    const token = this.tokenFrom(start);
    this.at += token.length;
    const value = valueOfToken(token);
    return value === undefined ? this.fail(start, `unexpected "${token}"`) : value;
  }
}

const SEMICOLON = 0x3b;
const HASH = 0x23;

/** Returns a keyword without its colon. Other keys become text that differs from all names. */
function keyName(key: Json): string {
  if (typeof key !== 'string') return ednText(key);
  return key.startsWith(':') ? key.slice(1) : JSON.stringify(key);
}

const INTEGER = /^[+-]?(0|[1-9]\d*)N?$/;
const FRACTION = /^[+-]?\d+(\.\d*)?([eE][+-]?\d+)?M?$/;
const RATIO = /^[+-]?\d+\/\d+$/;
/** Matches most names; `NAME` matches all. */
const PLAIN_NAME = /^[A-Za-z][\w-]*$/;
const NAME = /^[\p{L}.*+!\-_?$%&=<>/][\p{L}\p{N}.*+!\-_?$%&=<>/#:']*$/u;

/** Returns the value of a token, or undefined if the token is invalid. */
function valueOfToken(token: string): Json | undefined {
  // Clojure also accepts `:1`.
  if (token.startsWith(':'))
    return isName(token.slice(1)) || /^:\d+$/.test(token) ? token : undefined;
  // No name begins with a digit, and few with a sign.
  if (token.charAt(0) < 'A' && /^[+-]?\d/.test(token)) {
    const number = Number(token.replace(/[NM]$/, ''));
    if (INTEGER.test(token)) return Number.isSafeInteger(number) ? number : token;
    if (FRACTION.test(token)) return Number.isFinite(number) ? number : token;
    return RATIO.test(token) ? token : undefined;
  }
  if (token === 'nil') return null;
  if (token === 'true' || token === 'false') return token === 'true';
  return isName(token) ? token : undefined;
}

function isName(text: string): boolean {
  return PLAIN_NAME.test(text) || NAME.test(text);
}

/** Commas count as space. */
function isSpace(code: number): boolean {
  return code <= 0x20 || code === 0x2c || (code >= 0x2000 && /\s/.test(String.fromCharCode(code)));
}

/** By character code, true if the character ends a token. A table is faster. */
const ENDS: readonly boolean[] = Array.from({ length: 0x80 }, (_, code) => {
  return isSpace(code) || '"();[]{}'.includes(String.fromCharCode(code));
});

function isTokenEnd(code: number): boolean {
  return ENDS[code] ?? isSpace(code);
}

/** Formats plain data as EDN with sorted fields, so that equal data has equal text. */
export function ednText(value: Json): string {
  if (value === null) return 'nil';
  if (typeof value === 'string') return value.startsWith(':') ? value : JSON.stringify(value);
  if (typeof value !== 'object') return String(value);
  if (isArray(value)) return `[${value.map(ednText).join(' ')}]`;
  const fields = Object.keys(value).sort(byText);
  return `{${fields.map((name) => `${name} ${ednText(value[name] ?? null)}`).join(', ')}}`;
}

/** Returns the kind of the first map or set in a value, or null. */
export function collectionIn(value: Json | undefined): 'map' | 'set' | null {
  if (typeof value !== 'object' || value === null) return null;
  const isMap = !isArray(value);
  const names = Object.keys(value);
  const isTagged = isMap && names.length === 1 && names[0]?.startsWith('#') === true;
  if (isTagged && names[0] === '#set') return 'set';
  if (isMap && !isTagged) return 'map';
  return (
    Object.values<Json>(value)
      .map(collectionIn)
      .find((kind) => kind !== null) ?? null
  );
}

/** Like `Array.isArray`, which does not narrow read-only arrays. */
export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function byText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
