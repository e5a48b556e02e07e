/** ANSI colours for the terminal; with colour off every function gives its text back unchanged. */

export interface Paint {
  readonly bold: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
}

/** Where text is to be shown. */
export interface TerminalText {
  readonly colour: boolean;
  /** Its columns; no line is longer. */
  readonly width: number;
}

/** The same with its styles at hand. */
export interface Screen extends Pick<TerminalText, 'width'> {
  readonly paint: Paint;
}

/** The text styles of a terminal that shows colour, or of one that does not. */
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
