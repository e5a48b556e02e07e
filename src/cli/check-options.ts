/** The options of `fencepost check`. */
import type { Command } from 'commander';
import { CHECK_HELP } from './check-help.ts';
import { type Done, describedCommand } from './command.ts';
import { parsePositive, parseTimeMs } from './seeds.ts';

interface CheckFlags {
  readonly model?: string;
  readonly format: string;
  readonly fail: string;
  readonly init?: string;
  readonly maxConfigurations?: string;
  readonly time?: string;
  readonly memory?: string;
  readonly html?: string;
  readonly output?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Adds `check`. */
export function addCheck(program: Command, done: Done): void {
  describedCommand(
    program,
    'check <history...>',
    'is a recorded history linearizable to a model, and if not, why? - is standard input',
    'npx fencepost check jepsen.log --model cas-register --fail strict --html why.html',
  )
    .option('--model <name>', 'the sequential specification (default: told by the operations)')
    .option('--format <name>', 'how the file is written', 'auto')
    .option('--fail <policy>', 'a failed call: drop (it did not happen), strict (say why)', 'drop')
    .option('--init <value>', 'what the object holds at first (default: nothing)')
    .option('--max-configurations <N>', 'how many the search may meet for each key')
    .option('--time <duration>', 'stop judging a history after this long, e.g. 60s')
    .option('--memory <MB>', 'how much the process may take for a history')
    .option('--html <file>', 'where a page with the picture is written')
    .option('--output <folder>', 'the same, named after the history')
    .option('--json', 'one JSON line a history on stdout and nothing else')
    .option('-q, --quiet', 'no progress')
    .addHelpText('after', CHECK_HELP)
    .action(async (files: string[], flags: CheckFlags) => {
      const { checkCommand } = await import('./check.ts');
      const count = (text: string | undefined, flag: string): number | null =>
        text === undefined ? null : parsePositive(text, flag);
      done(
        await checkCommand(files, {
          model: flags.model ?? null,
          format: flags.format,
          fail: flags.fail,
          initial: flags.init ?? null,
          maxConfigurations: count(flags.maxConfigurations, '--max-configurations'),
          timeMs: flags.time === undefined ? null : parseTimeMs(flags.time, '--time'),
          memoryMb: count(flags.memory, '--memory'),
          html: flags.html ?? null,
          output: flags.output ?? null,
          isJson: flags.json === true,
          isQuiet: flags.quiet === true,
        }),
      );
    });
}
