/**
 * `fencepost doctor` checks whether fencepost can run here, and whether its pipeline still detects
 * a known failure. `doctor/environment.ts` checks the machine, the package and the current folder;
 * `doctor/canary.ts` checks the pipeline. Each result is a `Check`.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { type Exit, exits } from '../search/campaign/exit-codes.ts';
import { paintFor } from '../text/colour.ts';
import { visible } from '../text/visible.ts';
import { type Done, type OutputFlags, outputOptions, shared, withExample } from './command.ts';
import { CANARY_SEEDS, runCanary } from './doctor/canary.ts';
import { type Check, messageOf, problem } from './doctor/check.ts';
import { checkEnvironment } from './doctor/environment.ts';
import { schemaDigests } from './schemas.ts';
import { packageRoot } from './shipped.ts';
import { openTerminal, type Terminal } from './terminal.ts';

interface DoctorFlags extends OutputFlags {
  readonly canary?: boolean;
}

export function addDoctor(command: Command, done: Done): void {
  withExample(command, 'doctor --canary')
    .option('--canary', 'only run a system with a known failure')
    .option('--json', 'print one JSON line')
    .option(...shared.quiet)
    .action(async (flags: DoctorFlags) => done(await examineAll(flags)));
}

/** Runs all checks, and the canary if there is no problem. `--canary` runs only the canary. */
async function examineAll(flags: DoctorFlags): Promise<Exit> {
  const terminal = openTerminal(outputOptions(flags));
  const { colour, width } = terminal;
  const digests = schemaDigests();
  const here = { folder: process.cwd(), hasColour: colour, width, digests };
  const checks = flags.canary === true ? [] : await checkEnvironment(here);
  for (const check of checks) printCheck(check, terminal);
  const isRunnable = checks.every(({ status }) => status !== 'problem');
  const stages = isRunnable ? await tryCanary(terminal) : [];
  for (const check of stages) printCheck(check, terminal);
  const isSeen = stages.length > 0 && stages.every(({ status }) => status === 'ok');
  const exit = !isRunnable ? exits.usage : isSeen ? exits.met : exits.failed;
  const canary = !isRunnable ? 'not run' : isSeen ? 'seen' : 'not seen';
  terminal.print(`${exit === exits.met ? '✓' : '✗'} ${VERDICTS[canary]}`);
  terminal.printJson('doctor', { exit, canary, checks: [...checks, ...stages] });
  return exit;
}

const VERDICTS = {
  'not run': 'fencepost cannot run here; the canary was not run',
  seen: 'known failure detected',
  'not seen': 'known failure not detected correctly',
} as const;

async function tryCanary(terminal: Terminal): Promise<readonly Check[]> {
  const root = packageRoot();
  const workers = Math.min(2, availableParallelism());
  terminal.note(`canary: ${2 * CANARY_SEEDS} runs on worker threads`);
  try {
    const scenario = join(root, 'fixtures/canary/canary.yaml');
    return await runCanary({ cli: join(root, 'dist/cli.js'), scenario, workers });
  } catch (error) {
    const failure = `canary not run: ${messageOf(error)}`;
    return [problem('canary', failure, 'make the temporary folder writable')];
  }
}

const SIGNS = { ok: '✓', warning: '!', problem: '✗' } as const;
/** The length of the longest name. */
const NAME_WIDTH = 13;

/** Prints a check without breaking lines, so that a path can be copied. */
function printCheck({ name, status, what, fix }: Check, { print, colour }: Terminal): void {
  const paint = paintFor(colour);
  const tint = { ok: paint.green, warning: paint.yellow, problem: paint.red }[status];
  print(`${tint(SIGNS[status])} ${name.padEnd(NAME_WIDTH)}  ${visible(what)}`);
  if (fix !== null) print(`${' '.repeat(NAME_WIDTH + 4)}→ ${visible(fix)}`);
}
