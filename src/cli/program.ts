/**
 * The command line: one row per command, in the order of `--help`, which needs only the rows. Each
 * command is a file with its options, its help and its implementation. Read `command.ts` next, for
 * the parts that commands share, then `run.ts` with `run-scenarios.ts` (a campaign over scenarios),
 * `narrate.ts` and `reporting.ts`. All commands build on `exit.ts`, `terminal.ts`, `files.ts`,
 * `sources.ts` and `interruption.ts`.
 */
import { Command, CommanderError } from 'commander';
import { EXIT_WORDS, type Exit, exits, WORST_FIRST } from '../search/campaign/exit-codes.ts';
import type { AddCommand, Done } from './command.ts';
import { shownLine, UserError, withoutCredentials } from './exit.ts';

interface CommandRow {
  /** As shown in the list of commands. */
  readonly usage: string;
  readonly about: string;
  /** Loads the file of the command. The general `--help` does not need it. */
  readonly load: () => Promise<AddCommand>;
}

const commands: readonly CommandRow[] = [
  {
    usage: 'run [options] <scenario...>',
    about: 'sweep seeds of scenarios, by file or name, find what breaks, shrink and explain it',
    load: async () => (await import('./run.ts')).addRun,
  },
  {
    usage: 'merge [options] <shards...>',
    about: 'put the shards of `run --shard i/n` together: files, or folders that they lie in',
    load: async () => (await import('./merge.ts')).addMerge,
  },
  {
    usage: 'sweep [options] [scenario...]',
    about: 'have the workers on a queue examine the seeds; ends as `run` does',
    load: async () => (await import('./sweep.ts')).addSweep,
  },
  {
    usage: 'worker [options]',
    about: 'work for the sweeps on a queue, until SIGTERM or Ctrl-C',
    load: async () => (await import('./worker.ts')).addWorker,
  },
  {
    usage: 'replay [options] <plan...>',
    about: 'run kept plans again: reproduced, fixed, inert or diverged',
    load: async () => (await import('./replay.ts')).addReplay,
  },
  {
    usage: 'corpus',
    about:
      'a folder of kept plans in git, one a kind of failure: list, add, check, accept, update, prune',
    load: async () => (await import('./corpus.ts')).addCorpus,
  },
  {
    usage: 'shrink [options] <plan>',
    about: 'make a plan that breaks a claim as small as it gets',
    load: async () => (await import('./shrink.ts')).addShrink,
  },
  {
    usage: 'show [options] <file>',
    about: 'what happens in a plan, or in one seed of a scenario; where faults can be injected',
    load: async () => (await import('./show.ts')).addShow,
  },
  {
    usage: 'check [options] <history...>',
    about: 'is a recorded history linearizable to a model, and if not, why? - is standard input',
    load: async () => (await import('./check.ts')).addCheck,
  },
  {
    usage: 'explain [options] <word...>',
    about: 'what a claim, fault, lock, store, exit code or any other word means',
    load: async () => (await import('./explain.ts')).addExplain,
  },
  {
    usage: 'list [options] [kind] [name]',
    about: 'the locks, stores, claims, faults, … there are, or one with its fields and YAML',
    load: async () => (await import('./list.ts')).addList,
  },
  {
    usage: 'playground [options]',
    about: 'one HTML file to write scenarios in, run them and see what breaks, without an install',
    load: async () => (await import('./playground.ts')).addPlayground,
  },
  {
    usage: 'schema',
    about: 'the JSON Schema of scenario files, for editors',
    load: async () => (await import('./list.ts')).addSchema,
  },
  {
    usage: 'init [options] [folder]',
    about: 'begin: write a scenario, a lock of your own and its tests, ready to be run',
    load: async () => (await import('./init.ts')).addInit,
  },
  {
    usage: 'doctor [options]',
    about: 'can fencepost run here, and does it still see a failure?',
    load: async () => (await import('./doctor.ts')).addDoctor,
  },
];

/** Runs a command line (without `node` and the script) and returns its exit code. */
export async function runProgram(argv: readonly string[], version: string): Promise<Exit> {
  let exit: Exit = exits.met;
  const asked = argv.find((word) => commands.some((row) => nameOf(row) === word));
  const program = await buildProgram(asked, version, (code) => {
    exit = code;
  });
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

/** Builds all commands, with the options of the requested one or, if it needs them, of all. */
export async function buildProgram(
  asked: string | undefined,
  version: string,
  done: Done,
): Promise<Command> {
  const program = new Command('fencepost')
    .description(
      'Finds the pause that breaks your lock: deterministic fault injection for locks,\nleases and fencing tokens.',
    )
    .version(version)
    .showSuggestionAfterError()
    .addHelpText('after', () => {
      const lines = WORST_FIRST.map((code) => `  ${String(code).padEnd(4)} ${EXIT_WORDS[code]}`);
      return `\nExit codes, the first that applies:\n${lines.join('\n')}`;
    })
    .configureOutput({ writeErr: (text) => process.stderr.write(withoutCredentials(text)) })
    .exitOverride();
  for (const row of commands) {
    const command = program.command(row.usage.replace(' [options]', '')).description(row.about);
    const isLoaded = nameOf(row) === asked || asked === 'explain' || asked === 'list';
    if (isLoaded) (await row.load())(command, done, version);
    // Make the list of commands show `[options]` for commands that have some.
    else if (row.usage.includes('[options]')) command.option('--see-its-help');
  }
  return program;
}

function nameOf({ usage }: CommandRow): string {
  return usage.replace(/ .*$/, '');
}
