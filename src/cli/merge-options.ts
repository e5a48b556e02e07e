/** The options of `fencepost merge`. */
import type { Command } from 'commander';
import { type Done, describedCommand } from './command.ts';
import { ABOUT_REPORTERS, defaultReporters, parseReporters } from './reporters.ts';

interface MergeFlags {
  readonly output: string;
  readonly reporter: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly modules?: string | false;
}

/** Adds `merge`. */
export function addMerge(program: Command, done: Done): void {
  describedCommand(
    program,
    'merge <shards...>',
    'put the shards of `run --shard i/n` together: files, or folders that they lie in',
    'npx fencepost merge reports',
  )
    .option('--output <folder>', 'where plans and pages are written', 'reports')
    .option('--reporter <list>', ABOUT_REPORTERS, defaultReporters(process.env))
    .option('--json', 'JSON lines on stdout and nothing else; the last is the summary')
    .option('--modules <folder>', 'the folder of the scenario, whose modules it uses')
    .option('--no-modules', 'refuse scenarios that use modules, which would be run')
    .option('-q, --quiet', 'no progress')
    .option('-v, --verbose', 'every claim in the overview')
    .action(async (paths: string[], flags: MergeFlags) => {
      const { mergeCommand } = await import('./merge.ts');
      done(
        await mergeCommand(paths, {
          output: flags.output,
          reporters: parseReporters(flags.reporter),
          modules: flags.modules ?? null,
          isJson: flags.json === true,
          isQuiet: flags.quiet === true,
          isVerbose: flags.verbose === true,
          version: program.version() ?? '',
        }),
      );
    });
}
