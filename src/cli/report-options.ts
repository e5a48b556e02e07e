/** Options for reports: which to write, where, and an earlier report to compare with. */
import { type Earlier, readBaseline } from '../report/report-json.ts';
import { REPORTERS } from '../report/reporters.ts';
import { suggest } from '../text/problem.ts';
import { type OutputFlags, outputOptions, parseOption } from './command.ts';
import { UserError } from './exit.ts';
import { readText } from './files.ts';

const REPORTER_NAMES: readonly string[] = Object.keys(REPORTERS);

export interface ReportFlags extends OutputFlags {
  readonly output: string;
  readonly reporter: string;
  readonly baseline?: string;
}

/** Returns the output options together with those for reports. */
export function reportOptions(
  flags: ReportFlags,
): ReturnType<typeof outputOptions> &
  Pick<ReportFlags, 'output'> & { reporters: Reporters; baseline: readonly Earlier[] | null } {
  const reporters = parseReporters(flags.reporter);
  const baseline = parseOption(flags.baseline, '--baseline', baselineIn);
  return { output: flags.output, reporters, baseline, ...outputOptions(flags) };
}

/** Maximum size of a baseline. A report grows with the number of its findings. */
const MOST_BASELINE_BYTES = 100_000_000;

function baselineIn(file: string): readonly Earlier[] {
  const read = readBaseline(readText(file, MOST_BASELINE_BYTES));
  if (typeof read === 'string') throw new UserError([`${file}:1:1: ${read}`]);
  return read;
}

export type Reporters = ReadonlySet<string>;

/** Parses a list of reporters, such as `text,junit`. Refuses unknown names. */
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
