/** `fencepost worker`: works for sweeps on a queue until it is told to end. */
import { existsSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { countOf, groupDigits } from '../text/prose.ts';
import { type Done, given, outputOptions, parsePositive, withExample } from './command.ts';
import { type Exit, exits, UserError } from './exit.ts';
import { Interruption } from './interruption.ts';
import { EXAMPLE_QUEUE, openWorker, queueOption, requiredQueue } from './open-queue.ts';
import { openTerminal } from './terminal.ts';

interface WorkerFlags {
  readonly queue?: string;
  readonly workers?: string;
  readonly modules?: string;
  readonly quiet?: boolean;
}

export function addWorker(command: Command, done: Done, version: string): void {
  withExample(command, `worker --queue ${EXAMPLE_QUEUE}`)
    .addOption(queueOption())
    .option('--workers <N>', 'worker threads (default: one a core)')
    .option(
      '--modules <folder>',
      'the folder that the scenario file itself is in, if it has `use:`',
    )
    .option('-q, --quiet', 'only what is wrong')
    .action(async (flags: WorkerFlags) => done(await work(flags, version)));
}

/** Works until SIGTERM or Ctrl-C; the chunk at hand is finished first, unless told twice. */
async function work(flags: WorkerFlags, version: string): Promise<Exit> {
  const queue = requiredQueue(flags.queue);
  const threads = given(flags.workers, '--workers', parsePositive) ?? availableParallelism();
  const { modules = null } = flags;
  if (modules !== null) requireFolder(modules);
  const terminal = openTerminal(outputOptions({ quiet: flags.quiet === true }));
  let chunks = 0;
  let runs = 0;
  const { worker, shown } = await openWorker(queue, {
    ...{ threads, modules, version },
    note: (line) => terminal.warn(line),
    onChunk: ({ tallies, from, to, milliseconds }, { sweep, scenario, number, chunks: all }) => {
      chunks += 1;
      runs += Object.values(tallies).reduce((sum, { seeds }) => sum + seeds, 0);
      const seconds = (milliseconds / 1000).toFixed(1);
      const which = `chunk ${groupDigits(number)} of ${groupDigits(all)}`;
      terminal.progress(`${sweep}  ${scenario}  ${which}: seeds ${from}..${to} in ${seconds} s`);
    },
  });
  terminal.note(`worker on ${shown}: ${countOf(threads, 'thread')}; Ctrl-C or SIGTERM ends it`);
  await toldToEnd(() => terminal.note('finishing the chunk at hand (again to stop at once)'));
  await worker.close();
  terminal.endProgress();
  terminal.note(`${groupDigits(chunks)} chunks, ${groupDigits(runs)} runs`);
  return exits.met;
}

function requireFolder(folder: string): void {
  if (existsSync(folder) && statSync(folder).isDirectory()) return;
  throw new UserError([`--modules: ${folder} is no folder`]);
}

/** Resolves at the first signal; the second one ends the process, and others take its job over. */
function toldToEnd(onFirst: () => void): Promise<void> {
  return new Promise((resolve) => {
    const first = (): void => {
      onFirst();
      resolve();
    };
    new Interruption().listen(first, ['SIGINT', 'SIGTERM']);
  });
}
