/** The options of `fencepost doctor`. */
import type { Command } from 'commander';
import { type Done, describedCommand } from './command.ts';

interface DoctorFlags {
  readonly canary?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Adds `doctor`. */
export function addDoctor(program: Command, done: Done): void {
  describedCommand(
    program,
    'doctor',
    'can fencepost run here, and does it still see a failure?',
    'npx fencepost doctor --canary',
  )
    .option('--canary', 'only run a system that must break, and see that it is found')
    .option('--json', 'one JSON line')
    .option('-q, --quiet', 'no progress')
    .action(async (flags: DoctorFlags) => {
      const { doctorCommand } = await import('./doctor.ts');
      done(
        await doctorCommand({
          isCanaryOnly: flags.canary === true,
          isJson: flags.json === true,
          isQuiet: flags.quiet === true,
        }),
      );
    });
}
