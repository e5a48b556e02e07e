/** `fencepost worker` runs shards of the sweeps on a queue until it is interrupted. */
import { existsSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { type Exit, exits } from '../search/campaign/exit-codes.ts';
import { countOf } from '../text/prose.ts';
import { type Done, outputOptions, parseOption, parsePositive, withExample } from './command.ts';
import { UserError } from './exit.ts';
import { Interruption } from './interruption.ts';
import { EXAMPLE_QUEUE, queueOption, queuePlace, reached } from './open-queue.ts';
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
    .option('--workers <N>', 'worker threads (default: one per core)')
    .option('--modules <folder>', 'folder of the scenario file, if it has `use:`')
    .option('-q, --quiet', 'print only problems')
    .action(async (flags: WorkerFlags) => done(await work(flags, version)));
}

/**
 * Runs shards until SIGTERM or Ctrl-C, then finishes the current one. A second signal ends the
 * process at once.
 */
async function work(flags: WorkerFlags, version: string): Promise<Exit> {
  const place = queuePlace(flags.queue);
  const threads = parseOption(flags.workers, '--workers', parsePositive) ?? availableParallelism();
  const { modules = null } = flags;
  if (modules !== null) requireFolder(modules);
  const terminal = openTerminal(outputOptions({ quiet: flags.quiet === true }));
  const { runShard } = await import('./run-scenarios.ts');
  const worker = await reached(place, async () => {
    const { startFleetWorker } = await import('../adapters/fleet/worker.ts');
    return await startFleetWorker({
      address: place.address,
      threads,
      modules,
      version,
      runShard,
      onNote: (line) => terminal.warn(line),
      onShard: (line) => terminal.note(line),
    });
  });
  terminal.note(`worker on ${place.shown}: ${countOf(threads, 'thread')}; stop with Ctrl-C`);
  await new Promise<void>((resolve) => {
    // A second signal ends the process, and another worker takes over its shard.
    new Interruption().listen(resolve, ['SIGINT', 'SIGTERM']);
  });
  terminal.note('finishing the current shard (again to stop at once)');
  await worker.close();
  return exits.met;
}

function requireFolder(folder: string): void {
  if (existsSync(folder) && statSync(folder).isDirectory()) return;
  throw new UserError([`--modules: ${folder} is not a folder`]);
}
