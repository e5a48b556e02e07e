/**
 * The command line: one line per command, in the order of `--help`. Each is a file that holds its
 * options, its help and what it does. Read `command.ts` next, for what they have in common, then
 * `run.ts` (a scenario from its kept plans to its reports) with `conclude.ts` and `reporting.ts`;
 * `exit.ts`, `terminal.ts`, `files.ts` and `interruption.ts` are what every command stands on.
 */
import { Command, CommanderError } from 'commander';
import type { AddCommand } from './command.ts';
import { type Exit, exits, shownLine, UserError, withoutCredentials } from './exit.ts';

/** Only the command that is asked for is loaded; all are for `--help` and for what is unknown. */
const commands: ReadonlyMap<string, () => Promise<AddCommand>> = new Map([
  ['run', async () => (await import('./run.ts')).addRun],
  ['merge', async () => (await import('./merge.ts')).addMerge],
  ['sweep', async () => (await import('./sweep.ts')).addSweep],
  ['worker', async () => (await import('./worker.ts')).addWorker],
  ['replay', async () => (await import('./replay.ts')).addReplay],
  ['corpus', async () => (await import('./corpus.ts')).addCorpus],
  ['shrink', async () => (await import('./shrink.ts')).addShrink],
  ['show', async () => (await import('./show.ts')).addShow],
  ['check', async () => (await import('./check.ts')).addCheck],
  ['compare', async () => (await import('./compare.ts')).addCompare],
  ['mutants', async () => (await import('./mutants.ts')).addMutants],
  ['list', async () => (await import('./list.ts')).addList],
  ['schema', async () => (await import('./list.ts')).addSchema],
  ['init', async () => (await import('./init.ts')).addInit],
  ['doctor', async () => (await import('./doctor.ts')).addDoctor],
]);

/** Runs one command line (without `node` and the script) and gives its exit code. */
export async function runProgram(argv: readonly string[], version: string): Promise<Exit> {
  let exit: Exit = exits.met;
  const program = new Command('fencepost')
    .description(
      'Finds the pause that breaks your lock: deterministic fault injection for locks,\nleases and fencing tokens.',
    )
    .version(version)
    .showSuggestionAfterError()
    .configureOutput({ writeErr: (text) => process.stderr.write(withoutCredentials(text)) })
    .exitOverride();
  const asked = commands.get(argv[0] ?? '');
  for (const load of asked === undefined ? commands.values() : [asked]) {
    const add = await load();
    add(program, (code) => {
      exit = code;
    });
  }
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exits.met : exits.usage;
    if (!(error instanceof UserError)) throw error;
    for (const line of error.lines) process.stderr.write(`${shownLine(line)}\n`);
    return exits.usage;
  }
}
