/**
 * The parts that commands share: common options, and parsers for numbers and seeds. Each command is
 * one file with its flags, options, help and implementation. `program.ts` loads only the requested
 * command. Actions that run plans import their implementation on demand, so that help appears
 * quickly.
 */
import { randomInt } from 'node:crypto';
import type { Command } from 'commander';
import { parseDuration } from '../core/plan/duration.ts';
import { REPORTERS } from '../report/reporters.ts';
import type { Exit } from '../search/campaign/exit-codes.ts';
import { FENCEPOST } from '../text/prose.ts';
import { UserError } from './exit.ts';

/** Adds options, help and an action to a command of the registry. */
export type AddCommand = (command: Command, done: Done, version: string) => void;

export type Done = (code: Exit) => void;

/** The width of all help texts, even on a wider terminal. */
export const HELP_COLUMNS = 80;

/** Appends an example to the `--help` of a command. `example` omits `npx … fencepost`. */
export function withExample(command: Command, example: string): Command {
  const lines = continued([...FENCEPOST, example].join(' '));
  return command.addHelpText('after', `\nExample:\n${lines.join('\n')}`);
}

/** Breaks a command line before its options and long words, with a backslash at each break. */
function continued(line: string): readonly string[] {
  const lines: string[] = [];
  let current = ' ';
  for (const [word] of line.matchAll(/--\S+ [^-\s]\S*|\S+/g)) {
    // Two columns are reserved for the backslash.
    if (current.length + 1 + word.length <= HELP_COLUMNS - 2) current = `${current} ${word}`;
    else {
      lines.push(`${current} \\`);
      current = `    ${word}`;
    }
  }
  return [...lines, current];
}

const ABOUT_REPORTERS: string = `reports to write: ${Object.entries(REPORTERS)
  .map(([name, about]) => `${name} (${about})`)
  .join(', ')}`;

/** Returns the default of `--reporter`, which in GitHub Actions includes `github`. */
export function defaultReporters(env: Readonly<Record<string, string | undefined>>): string {
  return env['GITHUB_ACTIONS'] === 'true' ? 'text,html,github' : 'text,html';
}

/** The default folder for reports. */
export const DEFAULT_OUTPUT = 'reports';

type SharedOption = readonly [flags: string, about: string, fallback?: string];

/** Options that several commands use, as in `.option(...shared.json)`. */
export const shared: Readonly<
  Record<
    | 'workers'
    | 'output'
    | 'reporter'
    | 'baseline'
    | 'corpus'
    | 'noModules'
    | 'json'
    | 'quiet'
    | 'verbose',
    SharedOption
  >
> = {
  workers: ['--workers <N>', 'worker threads; 0 runs in this thread (default: one per core)'],
  output: ['--output <folder>', 'folder for plans and pages', DEFAULT_OUTPUT],
  get reporter(): SharedOption {
    return ['--reporter <list>', ABOUT_REPORTERS, defaultReporters(process.env)];
  },
  baseline: ['--baseline <file>', 'earlier report.json, to report what is new, known and fixed'],
  corpus: ['--corpus <folder>', 'folder of kept plans (default: `plans` beside each scenario)'],
  noModules: ['--no-modules', 'refuse files that use modules, so none of their code runs'],
  json: ['--json', 'print only JSON lines on stdout; the last is the summary'],
  quiet: ['-q, --quiet', 'print no progress'],
  verbose: ['-v, --verbose', 'print every claim in the overview'],
};

/** Returns the `--seeds` option, as in `.option(...seedsOption('1000'))`. */
export function seedsOption(fallback: string): SharedOption {
  return ['--seeds <N|A..B>', 'number of seeds, or a range', fallback];
}

/**
 * Adds options for the modules of a plan. By default, the modules are beside the plan or beside its
 * folder `plans`.
 */
export function addModuleOptions(described: Command): Command {
  return described
    .option('--modules <folder>', 'folder of the scenario, for the modules of the plan')
    .option(...shared.noModules);
}

export interface OutputFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** Converts the output flags to booleans. */
export function outputOptions({ json, quiet, verbose }: OutputFlags): {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly isVerbose: boolean;
} {
  return { isJson: json === true, isQuiet: quiet === true, isVerbose: verbose === true };
}

/** Parses an option. Returns null if it was not given. */
export function parseOption<T>(
  text: string | undefined,
  flag: string,
  parse: (text: string, flag: string) => T,
): T | null {
  return text === undefined ? null : parse(text, flag);
}

/** Parses `1000` as seeds 0 to 999, and `500..999` as that range, both ends inclusive. */
export function parseSeeds(text: string): { from: number; to: number } {
  const range = /^(\d+)\.\.(\d+)$/.exec(text);
  if (range !== null) {
    const from = parseCount(range[1] ?? '', '--seeds');
    const to = parseCount(range[2] ?? '', '--seeds');
    if (to < from) throw new UserError([`--seeds ${text}: range ends before it begins`]);
    return { from, to };
  }
  const count = parseCount(text, '--seeds');
  if (count === 0) throw new UserError(['--seeds 0: expected at least one seed']);
  return { from: 0, to: count - 1 };
}

/** Moves a range of seeds to a random start. `randomInt` requires a span below 2⁴⁸. */
export function freshSeeds(range: { from: number; to: number }): { from: number; to: number } {
  const from = randomInt(2 ** 47);
  return { from, to: from + range.to - range.from };
}

/** Parses a nonnegative safe integer. */
export function parseCount(text: string, flag: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new UserError([`${flag} ${text}: expected a whole number, e.g. 1000`]);
  }
  return value;
}

/** Parses a positive safe integer. */
export function parsePositive(text: string, flag: string): number {
  const value = parseCount(text, flag);
  if (value === 0) throw new UserError([`${flag} 0: expected at least 1`]);
  return value;
}

/** Parses a duration such as `60s` into milliseconds. */
export function parseTimeMs(text: string, flag: string): number {
  const us = parseDuration(text);
  if (us === undefined) throw new UserError([`${flag} ${text}: expected a time, e.g. 60s`]);
  return us / 1000;
}
