/**
 * Writes output: results to stdout, progress to stderr, in color if wanted. Names, errors and data
 * from a queue are untrusted text, so control characters are escaped.
 */
import { visible } from '../text/visible.ts';

export interface Terminal {
  readonly colour: boolean;
  readonly width: number;
  print(line: string): void;
  /** Writes a JSON line of format version 1 with `--json`; does nothing otherwise. */
  printJson(type: string, fields: object): void;
  /** Writes each line of a result that has several lines. */
  printLines(text: string): void;
  /** Writes one informational line. */
  note(line: string): void;
  /** Writes one line that is shown even with `--quiet`. */
  warn(line: string): void;
  /** Shows the progress of a long job: a live line on a terminal, otherwise a line every 10 s. */
  progress(line: string): void;
  endProgress(): void;
}

interface TerminalOptions {
  /** Prints only results and warnings: no notes and no progress. */
  readonly isQuiet?: boolean;
  /** Prints only JSON lines on stdout, and drops the lines of `print`. */
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
    // In a log, any output shows progress.
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

/**
 * Returns true if output is colored. `NO_COLOR` and `FORCE_COLOR` decide this (no-color.org,
 * force-color.org). If neither is set, output is colored on a terminal.
 */
function wantsColour(): boolean {
  const { NO_COLOR: no, FORCE_COLOR: force } = process.env;
  if (no !== undefined && no !== '') return false;
  if (force !== undefined && force !== '') return force !== '0';
  return process.stdout.isTTY === true && process.env['TERM'] !== 'dumb';
}

/** Prints one note per changed module. */
export function noteChanges(
  file: string,
  { moduleChanges }: { readonly moduleChanges: readonly string[] },
  terminal: Pick<Terminal, 'note'>,
): void {
  for (const change of moduleChanges) {
    terminal.note(`note: ${file}: made with another version of ${change}`);
  }
}
