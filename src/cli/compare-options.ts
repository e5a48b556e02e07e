/** The options of `fencepost compare`. */
import type { Command } from 'commander';
import { type Done, describedCommand } from './command.ts';
import { COMPARE_HELP } from './compare-help.ts';
import { parseSeeds } from './seeds.ts';

interface CompareFlags {
  readonly systems?: string;
  readonly seeds: string;
  readonly html?: string;
  readonly output?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly modules: boolean;
}

/** Adds `compare`. */
export function addCompare(program: Command, done: Done): void {
  describedCommand(
    program,
    'compare [scenario]',
    'throughput, waits, retries and lost updates of several systems, side by side',
    'npx fencepost compare --systems pessimistic,optimistic,lock-service/fenced --output reports',
  )
    .option('--systems <list>', 'of the scenario by name, or any as lock/store (default: familiar)')
    .option('--seeds <N|A..B>', 'how many seeds, or which', '60')
    .option('--html <file>', 'where a page with the plot is written')
    .option('--output <folder>', 'the same, as compare.html')
    .option('--json', 'JSON lines on stdout and nothing else; the last is the summary')
    .option('--no-modules', 'refuse a scenario that uses modules, which would be run')
    .option('-q, --quiet', 'no progress')
    .addHelpText('after', COMPARE_HELP)
    .action(async (file: string | undefined, flags: CompareFlags) => {
      const { compareCommand } = await import('./compare.ts');
      done(
        await compareCommand(file ?? null, {
          ...parseSeeds(flags.seeds),
          systems: flags.systems ?? null,
          html: flags.html ?? null,
          output: flags.output ?? null,
          isJson: flags.json === true,
          isQuiet: flags.quiet === true,
          modules: flags.modules ? null : false,
        }),
      );
    });
}
