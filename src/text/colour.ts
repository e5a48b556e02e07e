/** ANSI styles for the terminal. With color off, every function returns its text unchanged. */

export interface Paint {
  readonly bold: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
}

/** The terminal that text is rendered for. */
export interface TerminalText {
  readonly colour: boolean;
  /** Width in columns; no rendered line is longer. */
  readonly width: number;
}

/** A terminal with its text styles resolved. */
export interface Screen extends Pick<TerminalText, 'width'> {
  readonly paint: Paint;
}

/** Returns the text styles of a terminal, or plain text functions if `colour` is false. */
export function paintFor(colour: boolean): Paint {
  const style = (on: number, off: number) => (text: string) =>
    colour && text !== '' ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: style(1, 22),
    faint: style(2, 22),
    red: style(31, 39),
    green: style(32, 39),
    yellow: style(33, 39),
  };
}
