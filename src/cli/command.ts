/**
 * What the commands have in common: how one is added, the options that several of them have, each
 * declared once, and how the numbers and seeds that people type are read. A command is
 * one file: its flags, its options and help, then what it does. `program.ts` loads only the command
 * that was asked for; where that runs plans, its action imports what does, so that help comes soon.
 */
import { randomInt } from 'node:crypto';
import type { Command } from 'commander';
import { parseDuration } from '../core/plan/duration.ts';
import { REPORTERS } from '../report/reporters.ts';
import type { Exit } from '../search/campaign/exit-codes.ts';
import { FENCEPOST } from '../text/prose.ts';
import { UserError } from './exit.ts';

/** Gives a command of the registry its options, its help and its action. */
export type AddCommand = (command: Command, done: Done, version: string) => void;

/** Receives how the command ended. */
export type Done = (code: Exit) => void;

/** Lets the `--help` of a command end with one real example, given without `npx … fencepost`. */
export function withExample(command: Command, example: string): Command {
  return command.addHelpText('after', `\nExample:\n  ${[...FENCEPOST, example].join(' ')}`);
}

/** What `--help` says of `--reporter`. */
const ABOUT_REPORTERS: string = `what is written, a list: ${Object.entries(REPORTERS)
  .map(([name, what]) => `${name} (${what})`)
  .join(', ')}`;

/** The reporters where nobody names any: in GitHub Actions its own as well. */
export function defaultReporters(env: Readonly<Record<string, string | undefined>>): string {
  return env['GITHUB_ACTIONS'] === 'true' ? 'text,html,github' : 'text,html';
}

/** Where reports go if nobody says otherwise. */
export const DEFAULT_OUTPUT = 'reports';

/** How an option is written, what it says, and its value where it is not given. */
type SharedOption = readonly [flags: string, about: string, fallback?: string];

/** Options of several commands, for `.option(...shared.json)`, in whatever order each wants. */
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
  workers: ['--workers <N>', 'worker threads; 0 runs in this thread (default: at most one a core)'],
  output: ['--output <folder>', 'where plans and pages are written', DEFAULT_OUTPUT],
  get reporter(): SharedOption {
    return ['--reporter <list>', ABOUT_REPORTERS, defaultReporters(process.env)];
  },
  baseline: ['--baseline <file>', 'an earlier report.json: says what is new, known and fixed'],
  corpus: ['--corpus <folder>', 'the kept plans (default: `plans` beside each scenario)'],
  noModules: ['--no-modules', 'refuse files that use modules, which would be run'],
  json: ['--json', 'JSON lines on stdout and nothing else; the last is the summary'],
  quiet: ['-q, --quiet', 'no progress'],
  verbose: ['-v, --verbose', 'every claim in the overview'],
};

/** For `.option(...seedsOption('1000'))`. */
export function seedsOption(fallback: string): SharedOption {
  return ['--seeds <N|A..B>', 'how many seeds, or which', fallback];
}

/** Where a plan's modules are; by default beside it, or above the folder `plans` that it is in. */
export function addModuleOptions(described: Command): Command {
  return described
    .option('--modules <folder>', 'the folder of the scenario, whose modules the plan uses')
    .option(...shared.noModules);
}

export interface OutputFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

/** What flags say of how much is printed, and for whom. */
export function outputOptions({ json, quiet, verbose }: OutputFlags): {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  readonly isVerbose: boolean;
} {
  return { isJson: json === true, isQuiet: quiet === true, isVerbose: verbose === true };
}

/** An option as `parse` reads it; null where it was not given. */
export function given<T>(
  text: string | undefined,
  flag: string,
  parse: (text: string, flag: string) => T,
): T | null {
  return text === undefined ? null : parse(text, flag);
}

/** `1000` is the first thousand seeds; `500..999` is that range, both included. */
export function parseSeeds(text: string): { from: number; to: number } {
  const range = /^(\d+)\.\.(\d+)$/.exec(text);
  if (range !== null) {
    const from = parseCount(range[1] ?? '', '--seeds');
    const to = parseCount(range[2] ?? '', '--seeds');
    if (to < from) throw new UserError([`--seeds ${text}: the range ends before it begins`]);
    return { from, to };
  }
  const count = parseCount(text, '--seeds');
  if (count === 0) throw new UserError(['--seeds 0: at least one seed is needed']);
  return { from: 0, to: count - 1 };
}

/** As many seeds, from a random one on; `randomInt` allows spans below 2⁴⁸. */
export function freshSeeds(range: { from: number; to: number }): { from: number; to: number } {
  const from = randomInt(2 ** 47);
  return { from, to: from + range.to - range.from };
}

/** A whole number from 0, small enough to be exact. */
export function parseCount(text: string, flag: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) {
    throw new UserError([`${flag} ${text}: a whole number is expected, e.g. 1000`]);
  }
  return value;
}

/** The same from 1. */
export function parsePositive(text: string, flag: string): number {
  const value = parseCount(text, flag);
  if (value === 0) throw new UserError([`${flag} 0: at least 1 is needed`]);
  return value;
}

/** `60s` in milliseconds. */
export function parseTimeMs(text: string, flag: string): number {
  const us = parseDuration(text);
  if (us === undefined) throw new UserError([`${flag} ${text}: a time is expected, e.g. 60s`]);
  return us / 1000;
}
