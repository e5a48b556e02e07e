/**
 * The command line: one row per command, in the order of `--help`. Each command has a file with its
 * options, help and implementation. Read `command.ts` next, then `run.ts`, `run-scenarios.ts`, and
 * the parts that all commands share: `exit.ts`, `terminal.ts` and `sources.ts`.
 */
import { Command, CommanderError } from 'commander';
import { EXIT_WORDS, type Exit, exits, WORST_FIRST } from '../search/campaign/exit-codes.ts';
import { hang } from '../text/visible.ts';
import { type AddCommand, type Done, HELP_COLUMNS } from './command.ts';
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
    about: 'run scenarios on many seeds; find, shrink and explain failures',
    load: async () => (await import('./run.ts')).addRun,
  },
  {
    usage: 'merge [options] <shards...>',
    about: 'combine the shards of `run --shard i/n`, given as files or folders',
    load: async () => (await import('./merge.ts')).addMerge,
  },
  {
    usage: 'sweep [options] [scenario...]',
    about: 'run the seeds on the workers of a queue; same result as `run`',
    load: async () => (await import('./sweep.ts')).addSweep,
  },
  {
    usage: 'worker [options]',
    about: 'run seeds for the sweeps on a queue, until SIGTERM or Ctrl-C',
    load: async () => (await import('./worker.ts')).addWorker,
  },
  {
    usage: 'replay [options] <plan...>',
    about: 'replay kept plans: reproduced, fixed, inert or diverged',
    load: async () => (await import('./replay.ts')).addReplay,
  },
  {
    usage: 'corpus',
    about: 'manage kept plans, one per kind of failure: list, add, check, update, accept, prune',
    load: async () => (await import('./corpus.ts')).addCorpus,
  },
  {
    usage: 'shrink [options] <plan>',
    about: 'shrink a plan that breaks a claim',
    load: async () => (await import('./shrink.ts')).addShrink,
  },
  {
    usage: 'show [options] <file>',
    about: 'show the run of a plan or of one seed, or its fault injection points',
    load: async () => (await import('./show.ts')).addShow,
  },
  {
    usage: 'check [options] <history...>',
    about: 'check that a recorded history is linearizable; - reads standard input',
    load: async () => (await import('./check.ts')).addCheck,
  },
  {
    usage: 'explain [options] <word...>',
    about: 'explain a claim, fault, lock, store, exit code or any other word',
    load: async () => (await import('./explain.ts')).addExplain,
  },
  {
    usage: 'list [options] [kind] [name]',
    about: 'list locks, stores, claims, faults, …, or one with its fields and YAML',
    load: async () => (await import('./list.ts')).addList,
  },
  {
    usage: 'playground [options]',
    about: 'write an HTML file that edits and runs scenarios in a browser',
    load: async () => (await import('./playground.ts')).addPlayground,
  },
  {
    usage: 'schema',
    about: 'print the JSON Schema of scenario files, for editors',
    load: async () => (await import('./list.ts')).addSchema,
  },
  {
    usage: 'init [options] [folder]',
    about: 'write a scenario, a lock of your own and its tests, ready to run',
    load: async () => (await import('./init.ts')).addInit,
  },
  {
    usage: 'doctor [options]',
    about: 'check that fencepost runs here and finds a known failure',
    load: async () => (await import('./doctor.ts')).addDoctor,
  },
];

/** The indentation of a second line about an exit code. */
const MARGIN = ' '.repeat(7);

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

/** Builds all commands. Only `asked` gets its options, unless `explain` or `list` needs all. */
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
      const lines = WORST_FIRST.flatMap((code) => {
        const columns = HELP_COLUMNS - MARGIN.length;
        return hang(EXIT_WORDS[code], columns, `  ${String(code).padEnd(4)} `, MARGIN);
      });
      return `\nExit codes, the first that applies:\n${lines.join('\n')}`;
    })
    .configureOutput({
      writeErr: (text) => process.stderr.write(withoutCredentials(text)),
      getOutHelpWidth: () => Math.min(process.stdout.columns ?? HELP_COLUMNS, HELP_COLUMNS),
    })
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
