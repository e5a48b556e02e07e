/** The options of `fencepost mutants`. */
import type { Command } from 'commander';
import { type Done, describedCommand } from './command.ts';
import { parseCount, parseSeeds } from './seeds.ts';

interface MutantsFlags {
  readonly seeds: string;
  readonly workers?: string;
  readonly output?: string;
  readonly list?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Adds `mutants`. */
export function addMutants(program: Command, done: Done): void {
  describedCommand(
    program,
    'mutants [name...]',
    'run locks and stores with one mistake each: is every one of them found?',
    'npx fencepost mutants unfenced token-32-bit',
  )
    .option('--seeds <N|A..B>', 'how many seeds of each, or which', '500')
    .option('--workers <N>', 'worker threads; 0 runs in this thread (default: one a core)')
    .option('--output <folder>', 'where the shrunk plans are written (default: nowhere)')
    .option('--list', 'only say which mutants there are, and what each does wrong')
    .option('--json', 'JSON lines on stdout and nothing else; the last is the summary')
    .option('-q, --quiet', 'no progress')
    .action(async (names: string[], flags: MutantsFlags) => {
      const { mutantsCommand } = await import('./mutants.ts');
      const { workers } = flags;
      done(
        await mutantsCommand(names, {
          ...parseSeeds(flags.seeds),
          workers: workers === undefined ? null : parseCount(workers, '--workers'),
          output: flags.output ?? null,
          isList: flags.list === true,
          isJson: flags.json === true,
          isQuiet: flags.quiet === true,
        }),
      );
    });
}
