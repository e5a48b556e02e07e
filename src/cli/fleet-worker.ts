/** `fencepost worker`: works for sweeps on a queue until it is told to end. */
import { existsSync, statSync } from 'node:fs';
import { countOf, groupDigits } from '../text/prose.ts';
import { type Exit, exits, UserError } from './exit.ts';
import { Interruption } from './interruption.ts';
import { openWorker } from './open-queue.ts';
import { openTerminal } from './terminal.ts';

export interface WorkerCommandOptions {
  readonly queue: string;
  /** Worker threads. */
  readonly threads: number;
  /** The folder of the scenarios, whose modules they use; null takes none that uses any. */
  readonly modules: string | null;
  readonly isQuiet: boolean;
  /** Of fencepost. */
  readonly version: string;
}

/** Works until SIGTERM or Ctrl-C; the chunk at hand is finished first, unless told twice. */
export async function workerCommand(options: WorkerCommandOptions): Promise<Exit> {
  const { queue, threads, modules, version, isQuiet } = options;
  if (modules !== null) requireFolder(modules);
  const terminal = openTerminal({ isQuiet, isJson: false });
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
