/** Cuts a text that arrives in pieces into lines, for formats with one record a line. */
import { type Malformed, MOST_CHARACTERS, malformed, type Place } from './record.ts';

export interface Line extends Place {
  /** Without its end, `\n` or `\r\n`. */
  readonly text: string;
  /** False for a last line that no line end closes: the file may have been cut there. */
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
      const problem = this.cut(this.rest + piece.slice(start, end), true);
      if (problem !== null) return problem;
      this.rest = '';
      start = end + 1;
    }
    this.rest += piece.slice(start);
    if (this.rest.length <= MOST_CHARACTERS) return null;
    const what = `a line of more than ${MOST_CHARACTERS} characters`;
    return malformed({ line: this.line + 1, column: 1 }, what);
  }

  end(): Malformed | null {
    return this.rest === '' ? null : this.cut(this.rest, false);
  }

  /** Blank lines are passed over. */
  private cut(text: string, isClosed: boolean): Malformed | null {
    this.line += 1;
    const trimmed = text.trim();
    if (trimmed === '') return null;
    const column = text.indexOf(trimmed.charAt(0)) + 1;
    return this.take({ text: trimmed, line: this.line, column, isClosed });
  }
}
