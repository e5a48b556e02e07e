/** The kinds of reports that `run` and `merge` write, and how people name them. */
import { suggest } from '../text/problem.ts';
import { UserError } from './exit.ts';

/** Each reporter and the file that it writes into the folder of `--output`, or what else. */
const WRITES = {
  text: 'stdout',
  html: '<scenario>.html',
  junit: 'junit.xml',
  github: 'annotations, $GITHUB_STEP_SUMMARY',
  json: 'report.json',
  mermaid: '<counterexample>.mmd',
} as const;

const REPORTERS: readonly string[] = Object.keys(WRITES);

/** What `--help` says of `--reporter`. */
export const ABOUT_REPORTERS: string = `what is written, a list: ${Object.entries(WRITES)
  .map(([name, what]) => `${name} (${what})`)
  .join(', ')}`;

/** The reporters where nobody names any: in GitHub Actions its own as well. */
export function defaultReporters(env: Readonly<Record<string, string | undefined>>): string {
  return env['GITHUB_ACTIONS'] === 'true' ? 'text,html,github' : 'text,html';
}

/** The reporters of a list such as `text,junit`; refuses what is none of them. */
export function parseReporters(text: string): ReadonlySet<string> {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !REPORTERS.includes(name));
  if (unknown.length === 0) return new Set(names);
  throw new UserError(
    unknown.map((name) => {
      const hint = suggest(name, REPORTERS);
      const known = hint.includes('; known:') ? '' : `; known: ${REPORTERS.join(', ')}`;
      return `--reporter ${text}: unknown reporter "${name}"${hint}${known}`;
    }),
  );
}
