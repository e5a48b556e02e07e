/** `fencepost merge` combines the shards of a run; `shards.ts` does the work. */
import type { Command } from 'commander';
import { type Done, shared, withExample } from './command.ts';
import { type ReportFlags, reportOptions } from './report-options.ts';

interface MergeFlags extends ReportFlags {
  readonly modules?: string | false;
}

export function addMerge(command: Command, done: Done, version: string): void {
  withExample(command, 'merge reports')
    .option(...shared.output)
    .option(...shared.reporter)
    .option(...shared.baseline)
    .option(...shared.json)
    .option('--modules <folder>', 'folder of the scenario, for its modules')
    .option('--no-modules', 'refuse scenarios that use modules, so none of their code runs')
    .option(...shared.quiet)
    .option(...shared.verbose)
    .action(async (paths: string[], flags: MergeFlags) => {
      const { modules = null } = flags;
      const options = { ...reportOptions(flags), modules, version };
      const { mergePaths } = await import('./shards.ts');
      done(await mergePaths(paths, options));
    });
}
