/** The options of the commands that write reports: which, where, and an earlier one to compare. */
import { type Earlier, readBaseline } from '../report/report-json.ts';
import { REPORTERS } from '../report/reporters.ts';
import { suggest } from '../text/problem.ts';
import { given, type OutputFlags, outputOptions } from './command.ts';
import { UserError } from './exit.ts';
import { readText } from './files.ts';

const REPORTER_NAMES: readonly string[] = Object.keys(REPORTERS);

export interface ReportFlags extends OutputFlags {
  readonly output: string;
  readonly reporter: string;
  readonly baseline?: string;
}

/** The same, and what flags say of the reports that are written. */
export function reportOptions(
  flags: ReportFlags,
): ReturnType<typeof outputOptions> &
  Pick<ReportFlags, 'output'> & { reporters: Reporters; baseline: readonly Earlier[] | null } {
  const reporters = parseReporters(flags.reporter);
  const baseline = given(flags.baseline, '--baseline', baselineIn);
  return { output: flags.output, reporters, baseline, ...outputOptions(flags) };
}

/** An earlier report grows with what was found. */
const MOST_BASELINE_BYTES = 100_000_000;

function baselineIn(file: string): readonly Earlier[] {
  const read = readBaseline(readText(file, MOST_BASELINE_BYTES));
  if (typeof read === 'string') throw new UserError([`${file}:1:1: ${read}`]);
  return read;
}

/** The names of those that were chosen. */
export type Reporters = ReadonlySet<string>;

/** The reporters of a list such as `text,junit`; refuses what is none of them. */
export function parseReporters(text: string): Reporters {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !REPORTER_NAMES.includes(name));
  if (unknown.length === 0) return new Set(names);
  throw new UserError(
    unknown.map((name) => {
      const hint = suggest(name, REPORTER_NAMES);
      const known = hint.includes('; known:') ? '' : `; known: ${REPORTER_NAMES.join(', ')}`;
      return `--reporter ${text}: unknown reporter "${name}"${hint}${known}`;
    }),
  );
}
