/**
 * Splits a text that arrives in pieces into records. The pieces may end anywhere. A record is a
 * line, or an outermost map `{…}` of EDN or JSON. The maps follow each other or are in one list.
 * Maps are passed on one at a time, so a list of a million maps is never in memory at once.
 */
import { readEdnFields } from './edn.ts';
import { type FieldsRead, readJsonFields } from './json-fields.ts';
import {
  type FilePlace,
  type Malformed,
  MOST_DEPTH,
  MOST_RECORD_CHARACTERS,
  malformed,
  type TakeFields,
} from './record.ts';

export interface Line extends FilePlace {
  /** Without its line ending, `\n` or `\r\n`. */
  readonly text: string;
  /** False for a last line without a line ending, where the file may be truncated. */
  readonly isClosed: boolean;
}

export class LineCutter {
  private rest = '';
  private line = 0;
  private readonly take: (line: Line) => Malformed | null;

  constructor(take: (line: Line) => Malformed | null) {
    this.take = take;
  }

  push(piece: string): Malformed | null {
    let start = 0;
    for (;;) {
      const end = piece.indexOf('\n', start);
      if (end < 0) break;
      const problem = this.fail(this.rest + piece.slice(start, end), true);
      if (problem !== null) return problem;
      this.rest = '';
      start = end + 1;
    }
    this.rest += piece.slice(start);
    if (this.rest.length <= MOST_RECORD_CHARACTERS) return null;
    const message = `a line of more than ${MOST_RECORD_CHARACTERS} characters`;
    return malformed({ line: this.line + 1, column: 1 }, message);
  }

  end(): Malformed | null {
    return this.rest === '' ? null : this.fail(this.rest, false);
  }

  /** Passes a line to `take` without surrounding space. Skips blank lines. */
  private fail(text: string, isClosed: boolean): Malformed | null {
    this.line += 1;
    const trimmed = text.trim();
    if (trimmed === '') return null;
    const column = text.indexOf(trimmed.charAt(0)) + 1;
    return this.take({ text: trimmed, line: this.line, column, isClosed });
  }
}

export interface SplitMap extends FilePlace {
  /** From `{` to `}`. Only its brackets have been checked. */
  readonly text: string;
}

type Syntax = 'edn' | 'json';
type Mode = 'code' | 'string' | 'escape' | 'comment' | 'character' | 'tag';

const CLOSER: ReadonlyMap<string, string> = new Map([
  ['{', '}'],
  ['[', ']'],
  ['(', ')'],
]);

const MATTERS: ReadonlyMap<Mode, RegExp> = new Map([
  ['code', /["\\\n;{}()[\]]/g],
  ['string', /["\\\n]/g],
  ['comment', /\n/g],
]);

/** Returns the mode after a character inside a string, a comment or an EDN character literal. */
function modeAfter(mode: Mode, character: string): Mode {
  if (mode === 'comment') return character === '\n' ? 'code' : mode;
  if (mode === 'string' && character === '\\') return 'escape';
  if (mode === 'escape' || (mode === 'string' && character !== '"')) return 'string';
  return 'code';
}

export class MapCutter {
  private readonly syntax: Syntax;
  private readonly take: (map: SplitMap) => Malformed | null;
  private mode: Mode = 'code';
  /** The closers of the open brackets, except that of the list around all maps. */
  private readonly closers: string[] = [];
  /** The closer of the list around all maps, or '' if no list has begun. */
  private listCloser = '';
  private listPlace: FilePlace = { line: 1, column: 1 };
  private isOver = false;
  /** For JSON: the next expected item of the list. */
  private expects: 'map' | 'comma' | 'any' = 'any';
  private isAfterComma = false;
  private hasMaps = false;
  private toDiscard = 0;
  private hasTag = false;
  /** The text of the open map from earlier pieces. */
  private carried = '';
  private mapPlace: FilePlace = { line: 1, column: 1 };
  private line = 1;
  /** Offsets in the complete file. */
  private lineStart = 0;
  private base = 0;

  constructor(syntax: Syntax, take: (map: SplitMap) => Malformed | null) {
    this.syntax = syntax;
    this.take = take;
  }

  push(piece: string): Malformed | null {
    let start = 0;
    for (let at = 0; at < piece.length; at++) {
      const isOutside = this.closers.length === 0;
      if (!isOutside) at = this.passOver(piece, at);
      if (at >= piece.length) break;
      const problem = this.step(piece.charAt(at), at);
      if (problem !== null) return problem;
      if (isOutside) start = at;
      else if (this.closers.length === 0) {
        const text = this.carried + piece.slice(start, at + 1);
        this.carried = '';
        const refused = this.finish(text);
        if (refused !== null) return refused;
      }
    }
    this.base += piece.length;
    if (this.closers.length === 0) return null;
    this.carried += piece.slice(start);
    if (this.carried.length <= MOST_RECORD_CHARACTERS) return null;
    return malformed(this.mapPlace, `a map of more than ${MOST_RECORD_CHARACTERS} characters`);
  }

  end(): Malformed | null {
    if (this.closers.length > 0) {
      return malformed(this.mapPlace, 'the file ends inside this map: it is truncated');
    }
    if (this.hasTag || this.toDiscard > 0 || this.mode === 'tag') {
      return malformed(this.here(0), 'the file ends where a map is expected: it is truncated');
    }
    if (this.listCloser === '' || this.isOver) return null;
    const message = `the file ends before "${this.listCloser}" closes this list: it is truncated`;
    return malformed(this.listPlace, message);
  }

  /** Inside a map, returns the position of the next relevant character. */
  private passOver(piece: string, from: number): number {
    const matters = MATTERS.get(this.mode);
    if (matters === undefined) return from;
    matters.lastIndex = from;
    return matters.exec(piece)?.index ?? piece.length;
  }

  private here(at: number): FilePlace {
    return { line: this.line, column: this.base + at - this.lineStart + 1 };
  }

  private step(character: string, at: number): Malformed | null {
    if (character === '\n') {
      this.line += 1;
      this.lineStart = this.base + at + 1;
    }
    if (this.mode === 'tag') return this.stepInTag(character, at);
    if (this.mode === 'code') return this.stepInCode(character, at);
    this.mode = modeAfter(this.mode, character);
    return null;
  }

  private stepInCode(character: string, at: number): Malformed | null {
    if (this.closers.length === 0) return this.stepOutside(character, at);
    if ('{[('.includes(character)) return this.open(character, at);
    if ('}])'.includes(character)) return this.close(character, at);
    const isEdn = this.syntax === 'edn';
    if (character === '"') this.mode = 'string';
    else if (isEdn && character === ';') this.mode = 'comment';
    else if (isEdn && character === '\\') this.mode = 'character';
    return null;
  }

  private open(character: string, at: number): Malformed | null {
    if (this.closers.length >= MOST_DEPTH) {
      return malformed(this.here(at), `brackets nested more than ${MOST_DEPTH} levels deep`);
    }
    this.closers.push(CLOSER.get(character) ?? '');
    return null;
  }

  private close(character: string, at: number): Malformed | null {
    const expected = this.closers.pop();
    if (character === expected) return null;
    return malformed(this.here(at), `expected "${expected}", found "${character}"`);
  }

  private stepOutside(character: string, at: number): Malformed | null {
    if (/\s/.test(character)) return null;
    const isEdn = this.syntax === 'edn';
    if (isEdn && character === ',') return null;
    if (isEdn && character === ';') {
      this.mode = 'comment';
      return null;
    }
    if (this.isOver) return malformed(this.here(at), 'nothing may follow the list of records');
    if (character === '{') return this.openMap(at);
    if (character === this.listCloser && !this.hasTag && this.toDiscard === 0) {
      this.isOver = true;
      return this.expects === 'map' && this.isAfterComma
        ? malformed(this.here(at), 'expected a map after the comma')
        : null;
    }
    if (isEdn && character === '#' && !this.hasTag) {
      this.mode = 'tag';
      return null;
    }
    const mayOpen = character === '[' || (isEdn && character === '(');
    if (mayOpen && this.listCloser === '' && !this.hasMaps) return this.openList(character, at);
    if (character === ',' && this.expects === 'comma') {
      this.expects = 'map';
      this.isAfterComma = true;
      return null;
    }
    return malformed(this.here(at), `expected a map, found ${JSON.stringify(character)}`);
  }

  private openList(character: string, at: number): null {
    this.listCloser = CLOSER.get(character) ?? '';
    this.listPlace = this.here(at);
    if (this.syntax === 'json') this.expects = 'map';
    return null;
  }

  private openMap(at: number): Malformed | null {
    if (this.expects === 'comma') return malformed(this.here(at), 'expected a comma');
    this.mapPlace = this.here(at);
    this.hasTag = false;
    this.hasMaps = true;
    return this.open('{', at);
  }

  /** Handles a character after `#`. A tag has no effect, and `#_` discards the next map. */
  private stepInTag(character: string, at: number): Malformed | null {
    if (character === '_' && !this.hasTag) {
      this.toDiscard += 1;
      this.mode = 'code';
      return null;
    }
    const isEnd = character === '{' || /\s/.test(character);
    if (!isEnd) {
      this.hasTag = true;
      return /[\w.*+!?$%&=<>/-]/.test(character)
        ? null
        : malformed(this.here(at), `expected a tag, found ${JSON.stringify(character)}`);
    }
    if (!this.hasTag) return malformed(this.here(at), 'expected a map, found a set');
    this.mode = 'code';
    return character === '{' ? this.openMap(at) : null;
  }

  private finish(text: string): Malformed | null {
    if (this.listCloser !== '' && this.syntax === 'json') this.expects = 'comma';
    if (this.toDiscard > 0) {
      this.toDiscard -= 1;
      return null;
    }
    return this.take({ text, ...this.mapPlace });
  }
}

const READERS: { readonly [Each in Syntax]: (text: string) => FieldsRead } = {
  edn: readEdnFields,
  json: readJsonFields,
};

/** Splits a text into maps and reads their fields. */
export function splitFields(syntax: Syntax, take: TakeFields): MapCutter {
  return new MapCutter(syntax, (map) => {
    const read = READERS[syntax](map.text);
    if (read.kind === 'fields') return take(read.fields, map);
    return malformed(placeInMap(map, read.offset), read.what);
  });
}

function placeInMap(map: SplitMap, offset: number): FilePlace {
  const before = map.text.slice(0, offset).split('\n');
  const last = before.at(-1) ?? '';
  if (before.length === 1) return { line: map.line, column: map.column + last.length };
  return { line: map.line + before.length - 1, column: last.length + 1 };
}
