/** The options of `fencepost init`. */
import { type Command, Option } from 'commander';
import { type Done, describedCommand } from './command.ts';

interface InitFlags {
  readonly ci?: 'github';
  readonly vitest: boolean;
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

/** Adds `init`. */
export function addInit(program: Command, done: Done): void {
  describedCommand(
    program,
    'init [folder]',
    'begin: write a scenario, a lock of your own and its tests, ready to be run',
    'npx fencepost init --ci github && npx fencepost run locks/zombie.yaml',
  )
    .addOption(new Option('--ci <server>', 'write its workflow as well').choices(['github']))
    .option('--no-vitest', 'write no tests of vitest')
    .option('--force', 'overwrite files that exist')
    .option('--dry-run', 'only say what would be written')
    .action(async (folder: string | undefined, flags: InitFlags) => {
      const { initCommand } = await import('./init.ts');
      done(
        initCommand(folder ?? '.', {
          ci: flags.ci ?? null,
          hasVitest: flags.vitest,
          isForced: flags.force === true,
          isDryRun: flags.dryRun === true,
        }),
      );
    });
}
