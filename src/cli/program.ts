/** The command line: its commands, options and examples, and what each calls. */
import { Command, CommanderError, Option } from 'commander';
import { addCheck } from './check-options.ts';
import { describedCommand as command, type Done } from './command.ts';
import { addCompare } from './compare-options.ts';
import { addCorpus } from './corpus-options.ts';
import { addDoctor } from './doctor-options.ts';
import { type Exit, exits, shownLine, UserError, withoutCredentials } from './exit.ts';
import { addSweep, addWorker } from './fleet-options.ts';
import { addInit } from './init-options.ts';
import { addMerge } from './merge-options.ts';
import { addMutants } from './mutants-options.ts';
import { ABOUT_REPORTERS, defaultReporters, parseReporters } from './reporters.ts';
import type { RunOptions } from './run-scenario.ts';
import {
  freshSeeds,
  parseCount,
  parsePositive,
  parseSeeds,
  parseShard,
  parseTimeMs,
} from './seeds.ts';

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
  const done = (code: Exit): void => {
    exit = code;
  };
  addRun(program, done);
  addMerge(program, done);
  addSweep(program, done);
  addWorker(program, done);
  addReplay(program, done);
  addCorpus(program, done);
  addShrink(program, done);
  addShow(program, done);
  addCheck(program, done);
  addCompare(program, done);
  addMutants(program, done);
  addList(program, done);
  addInit(program, done);
  addDoctor(program, done);
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

interface RunFlags {
  readonly seeds: string;
  readonly seed?: string;
  readonly fresh?: boolean;
  readonly time?: string;
  readonly workers?: string;
  readonly maxFailures?: string;
  readonly output: string;
  readonly reporter: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly checkDeterminism?: boolean;
  readonly shard?: string;
  readonly resume?: boolean;
  readonly corpus?: string;
  readonly modules: boolean;
}

function addRun(program: Command, done: Done): void {
  command(
    program,
    'run <scenario...>',
    'sweep seeds of scenarios, by file or name, find what breaks, shrink and explain it',
    'npx fencepost run zombie-writer --seeds 1000',
  )
    .option('--seeds <N|A..B>', 'how many seeds, or which', '1000')
    .option('--seed <S>', 'only this seed')
    .option('--fresh', 'seeds that were never tried: the range begins at a random one')
    .option('--time <duration>', 'stop each scenario after this long, e.g. 60s')
    .option('--workers <N>', 'worker threads; 0 runs in this thread (default: one a core)')
    .option('--max-failures <N>', 'stop a scenario after this many runs broke a claim')
    .option('--output <folder>', 'where plans and pages are written', 'reports')
    .option('--reporter <list>', ABOUT_REPORTERS, defaultReporters(process.env))
    .option('--json', 'JSON lines on stdout and nothing else; the last is the summary')
    .option('--check-determinism', 'run every seed twice and compare every event')
    .option('--shard <i/n>', 'examine only the i-th of n parts of the seeds, for `merge`')
    .option('--resume', 'go on where the same command was killed or stopped')
    .option('--corpus <folder>', 'the kept plans (default: `plans` beside each scenario)')
    .option('--no-modules', NO_MODULES)
    .option('-q, --quiet', 'no progress')
    .option('-v, --verbose', 'every claim in the overview')
    .action(async (files: string[], flags: RunFlags) => {
      const { runCommand } = await import('./run.ts');
      const one = flags.seed === undefined ? null : parseCount(flags.seed, '--seed');
      const seeds = one === null ? parseSeeds(flags.seeds) : { from: one, to: one };
      const range = flags.fresh === true ? freshSeeds(seeds) : seeds;
      const count = (text: string | undefined, flag: string): number | null =>
        text === undefined ? null : parseCount(text, flag);
      done(
        await runCommand(files, {
          ...range,
          timeMs: flags.time === undefined ? null : parseTimeMs(flags.time, '--time'),
          workers: count(flags.workers, '--workers'),
          maxFailures: count(flags.maxFailures, '--max-failures'),
          output: flags.output,
          reporters: parseReporters(flags.reporter),
          isJson: flags.json === true,
          isQuiet: flags.quiet === true,
          isVerbose: flags.verbose === true,
          checksDeterminism: flags.checkDeterminism === true,
          ...shardFlags(flags),
          corpus: flags.corpus ?? null,
          version: program.version() ?? '',
          modules: flags.modules ? null : false,
        }),
      );
    });
}

/** A random range is another one each time, so no other machine or attempt can share it. */
function shardFlags({ shard, resume, fresh }: RunFlags): Pick<RunOptions, 'shard' | 'isResumed'> {
  const other = shard === undefined ? '--resume' : '--shard';
  if (fresh === true && (shard !== undefined || resume === true)) {
    throw new UserError([`--fresh: draws another range each time; ${other} needs the same one`]);
  }
  return { shard: shard === undefined ? null : parseShard(shard), isResumed: resume === true };
}

interface CommonFlags {
  readonly claim?: string;
  readonly json?: boolean;
}

interface ModuleFlags {
  readonly modules?: string | false;
}

const NO_MODULES = 'refuse files that use modules, which would be run';

/** Where a plan's modules are; by default beside it, or above the folder `plans` that it is in. */
function addModuleOptions(described: Command): Command {
  return described
    .option('--modules <folder>', 'the folder of the scenario, whose modules the plan uses')
    .option('--no-modules', NO_MODULES);
}

function addReplay(program: Command, done: Done): void {
  addModuleOptions(
    command(
      program,
      'replay <plan...>',
      'run kept plans again: reproduced, fixed, inert or diverged',
      'npx fencepost replay zombie-writer-unfenced-grant-order',
    ),
  )
    .option('--claim <claim>', 'judge this claim instead of the plan’s')
    .option('--json', 'one JSON line a plan')
    .action(async (files: string[], flags: CommonFlags & ModuleFlags) => {
      const { replayCommand } = await import('./replay.ts');
      const { claim = null, modules = null, json: isJson = false } = flags;
      done(await replayCommand(files, { claim, modules, isJson, isQuiet: false }));
    });
}

interface ShrinkFlags extends CommonFlags, ModuleFlags {
  readonly output?: string;
  readonly maxRuns?: string;
}

function addShrink(program: Command, done: Done): void {
  addModuleOptions(
    command(
      program,
      'shrink <plan>',
      'make a plan that breaks a claim as small as it gets',
      'npx fencepost shrink failing.yaml --output smaller.yaml',
    ),
  )
    .option('--claim <claim>', 'the claim that must stay broken')
    .option('--output <file>', 'where the shrunk plan is written (default: stdout)')
    .option('--max-runs <N>', 'how many candidates may be run')
    .option('--json', 'sizes before and after, runs and milliseconds as one JSON line')
    .action(async (file: string, flags: ShrinkFlags) => {
      const { shrinkCommand } = await import('./shrink.ts');
      done(
        await shrinkCommand(file, {
          claim: flags.claim ?? null,
          modules: flags.modules ?? null,
          output: flags.output ?? null,
          maxRuns: flags.maxRuns === undefined ? null : parsePositive(flags.maxRuns, '--max-runs'),
          isJson: flags.json === true,
          isQuiet: false,
        }),
      );
    });
}

interface ShowFlags extends ModuleFlags {
  readonly seed: string;
  readonly system?: string;
  readonly plan?: 'drawn' | 'pinned';
  readonly format: 'text' | 'mermaid';
  readonly verbose?: boolean;
  readonly json?: boolean;
}

function addShow(program: Command, done: Done): void {
  addModuleOptions(
    command(
      program,
      'show <file>',
      'what happens in a plan, or in one seed of a scenario, by file or name',
      'npx fencepost show six-steps --system fenced',
    ),
  )
    .option('--seed <S>', 'which seed of the scenario', '0')
    .option('--system <name>', 'which system of the scenario (default: the first)')
    .addOption(new Option('--plan <kind>', 'print the plan instead').choices(['drawn', 'pinned']))
    .addOption(
      new Option('--format <kind>', 'in columns, or as a diagram')
        .choices(['text', 'mermaid'])
        .default('text')
        .conflicts(['json', 'plan']),
    )
    .option('--json', 'every event as a JSON line')
    .option('-v, --verbose', 'every event')
    .action(async (file: string, flags: ShowFlags) => {
      const { showCommand } = await import('./show.ts');
      done(
        await showCommand(file, {
          seed: parseCount(flags.seed, '--seed'),
          system: flags.system ?? null,
          plan: flags.plan ?? 'none',
          format: flags.format,
          modules: flags.modules ?? null,
          isVerbose: flags.verbose === true,
          isJson: flags.json === true,
          isQuiet: false,
        }),
      );
    });
}

function addList(program: Command, done: Done): void {
  command(program, 'list', 'the locks, stores, options and claims there are', 'npx fencepost list')
    .option('--json', 'as one JSON line')
    .action(async (flags: CommonFlags) => {
      const { listCommand } = await import('./list.ts');
      done(listCommand(flags.json === true));
    });
  command(
    program,
    'schema',
    'the JSON Schema of scenario files, for editors',
    'npx fencepost schema > scenario.schema.json',
  )
    .option('--output', 'that of the lines which --json writes instead')
    .action(async (flags: { output?: boolean }) => {
      const { schemaCommand } = await import('./schema.ts');
      done(schemaCommand(flags.output === true ? 'output' : 'scenario'));
    });
}
