/**
 * Where output goes and how it looks: results on stdout, progress on stderr, colour when wanted.
 * Names, errors and what comes from a queue are others' text: nothing in it steers the terminal.
 */
import { visible } from '../text/visible.ts';

export interface Terminal {
  readonly colour: boolean;
  readonly width: number;
  /** Writes one line of results. */
  print(line: string): void;
  /** Writes a line of JSON, of version 1 of the format, where nothing else goes to stdout. */
  printJson(type: string, fields: object): void;
  /** Writes lines of results, each of which was made safe to show. */
  printLines(text: string): void;
  /** Writes one line about how things go. */
  note(line: string): void;
  /** Writes one line that is to be seen even where notes are not. */
  warn(line: string): void;
  /** Shows how far a long job is: one live line on a terminal, else a line every 10 s. */
  progress(line: string): void;
  /** Clears the live line. */
  endProgress(): void;
}

interface TerminalOptions {
  /** Only results and warnings: no notes, no progress. */
  readonly isQuiet?: boolean;
  /** Only JSON lines on stdout; what `print` is given is dropped. */
  readonly isJson?: boolean;
}

const PROGRESS_EVERY_MS = 10_000;
const LIVE_EVERY_MS = 100;

export function openTerminal({ isQuiet, isJson }: TerminalOptions = {}): Terminal {
  const { stdout, stderr, env } = process;
  const isLive = stderr.isTTY === true && env['CI'] === undefined && env['TERM'] !== 'dumb';
  let shownMs = isLive ? 0 : performance.now();
  let isShown = false;
  const clear = (): void => {
    if (isShown) stderr.write('\r\u001b[2K');
    isShown = false;
    // In a log, whatever is printed shows that it goes on.
    if (!isLive) shownMs = performance.now();
  };
  const colour = wantsColour();
  const print = (line: string): void => {
    clear();
    if (isJson !== true) stdout.write(`${colour ? visibleInColour(line) : visible(line)}\n`);
  };
  return {
    colour,
    width: stdout.columns ?? 100,
    print,
    printJson(type, fields) {
      if (isJson === true) stdout.write(`${JSON.stringify({ type, version: 1, ...fields })}\n`);
    },
    printLines(text) {
      for (const line of text.split('\n')) print(line);
    },
    note(line) {
      clear();
      if (isQuiet !== true) stderr.write(`${visible(line)}\n`);
    },
    warn(line) {
      clear();
      stderr.write(`${visible(line)}\n`);
    },
    progress(line) {
      if (isQuiet === true) return;
      const nowMs = performance.now();
      if (nowMs - shownMs < (isLive ? LIVE_EVERY_MS : PROGRESS_EVERY_MS)) return;
      shownMs = nowMs;
      const shown = visible(line);
      if (!isLive) stderr.write(`${shown}\n`);
      else {
        stderr.write(`\r\u001b[2K${shown.slice(0, (stderr.columns ?? 80) - 1)}`);
        isShown = true;
      }
    },
    endProgress: clear,
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is how colours are written
const COLOUR = /(\u001b\[\d{1,2}m)/;

function visibleInColour(line: string): string {
  return line
    .split(COLOUR)
    .map((part, at) => (at % 2 === 1 ? part : visible(part)))
    .join('');
}

/** By `NO_COLOR` and `FORCE_COLOR` (see no-color.org and force-color.org), else on a terminal. */
function wantsColour(): boolean {
  const { NO_COLOR: no, FORCE_COLOR: force } = process.env;
  if (no !== undefined && no !== '') return false;
  if (force !== undefined && force !== '') return force !== '0';
  return process.stdout.isTTY === true && process.env['TERM'] !== 'dumb';
}

/** One line a module, as progress; none where all are as they were. */
export function noteChanges(
  file: string,
  { moduleChanges }: { readonly moduleChanges: readonly string[] },
  terminal: Pick<Terminal, 'note'>,
): void {
  for (const change of moduleChanges) {
    terminal.note(`note: ${file} was made with another version of ${change}`);
  }
}
