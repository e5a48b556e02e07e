/**
 * Where output goes and how it looks: results on stdout, progress on stderr, colour when wanted.
 */

export interface Terminal {
  readonly colour: boolean;
  readonly width: number;
  /** Writes one line of results. */
  print(line: string): void;
  /** Writes one line about how things go. */
  note(line: string): void;
  /** Writes one line that is to be seen even where notes are not. */
  warn(line: string): void;
  /** Shows how far a long job is: one live line on a terminal, else a line every 10 s. */
  progress(line: string): void;
  /** Clears the live line. */
  endProgress(): void;
}

export interface TerminalOptions {
  /** Only results and warnings: no notes, no progress. */
  readonly isQuiet: boolean;
  /** Only JSON lines on stdout; what `print` is given is dropped. */
  readonly isJson: boolean;
}

const PROGRESS_EVERY_MS = 10_000;
const LIVE_EVERY_MS = 100;

export function openTerminal(options: TerminalOptions): Terminal {
  const { stdout, stderr, env } = process;
  const isLive = stderr.isTTY === true && env['CI'] === undefined && env['TERM'] !== 'dumb';
  let shownMs = isLive ? 0 : performance.now();
  let isShown = false;
  const clear = (): void => {
    if (isShown) stderr.write('\r\u001b[2K');
    isShown = false;
  };
  return {
    colour: wantsColour(),
    width: stdout.columns ?? 100,
    print(line) {
      clear();
      if (!options.isJson) stdout.write(`${line}\n`);
    },
    note(line) {
      clear();
      if (!options.isQuiet) stderr.write(`${line}\n`);
    },
    warn(line) {
      clear();
      stderr.write(`${line}\n`);
    },
    progress(line) {
      if (options.isQuiet) return;
      const nowMs = performance.now();
      if (nowMs - shownMs < (isLive ? LIVE_EVERY_MS : PROGRESS_EVERY_MS)) return;
      shownMs = nowMs;
      if (!isLive) stderr.write(`${line}\n`);
      else {
        stderr.write(`\r\u001b[2K${line.slice(0, (stderr.columns ?? 80) - 1)}`);
        isShown = true;
      }
    },
    endProgress: clear,
  };
}

/** By `NO_COLOR` and `FORCE_COLOR` (see no-color.org and force-color.org), else on a terminal. */
function wantsColour(): boolean {
  const { NO_COLOR: no, FORCE_COLOR: force } = process.env;
  if (no !== undefined && no !== '') return false;
  if (force !== undefined && force !== '') return force !== '0';
  return process.stdout.isTTY === true && process.env['TERM'] !== 'dumb';
}
