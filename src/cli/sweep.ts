/**
 * `fencepost sweep`: has the seeds of scenarios examined by whatever workers are on a queue, and
 * comes to the same reports, files and exit code as `run` on one machine. `fleet-sweep.ts` does so,
 * `sweep-scenario.ts` has the stages of one scenario, `sweep-manage.ts` what looks after sweeps,
 * `open-queue.ts` the queue; the workers are `worker.ts`.
 */
import type { Command } from 'commander';
import {
  type Done,
  given,
  parsePositive,
  parseSeeds,
  type ReportFlags,
  reportOptions,
  seedsOption,
  shared,
  withExample,
} from './command.ts';
import { UserError } from './exit.ts';
import { EXAMPLE_QUEUE, QUEUE_VARIABLE, queueOption, requiredQueue } from './open-queue.ts';
import type { FleetOptions } from './sweep-scenario.ts';

interface SweepReportFlags extends ReportFlags {
  readonly workers?: string;
  readonly corpus?: string;
  readonly modules?: string | boolean;
}

interface SweepFlags extends SweepReportFlags {
  readonly queue?: string;
  readonly seeds: string;
  readonly chunkSeconds: string;
}

/** Adds `sweep`, and what looks after sweeps. */
export function addSweep(command: Command, done: Done, version: string): void {
  const sweep = reporting(
    withExample(command, `sweep zombie-writer --seeds 1..100000000 --queue ${EXAMPLE_QUEUE}`)
      .addOption(queueOption())
      .option(...seedsOption('1000'))
      .option('--chunk-seconds <N>', 'how long one job takes a machine like this one', '20'),
  )
    .option(
      '--no-modules',
      'refuse files that use modules; else those in the file’s folder are run',
    )
    .action(async (files: string[], flags: SweepFlags) => {
      if (files.length === 0) throw new UserError(['sweep: which scenario? see `sweep --help`']);
      if (files.some(isQueueUrl)) throw new UserError([NO_URL]);
      const options = fleetOptions(flags, requiredQueue(flags.queue), version);
      const chunkMs = 1000 * parsePositive(flags.chunkSeconds, '--chunk-seconds');
      const { sweepFiles } = await import('./fleet-sweep.ts');
      done(await sweepFiles(files, { ...options, ...parseSeeds(flags.seeds), chunkMs }));
    });
  addManage(sweep, done);
  const resume = withExample(
    sweep
      .command('resume [sweep]')
      .description('go on with a sweep whose coordinator is gone, or that was stopped'),
    `sweep resume s0123 --queue ${EXAMPLE_QUEUE}`,
  );
  reporting(resume.addOption(queueOption()))
    .option(
      '--modules <folder>',
      'the folder that the scenario file itself is in, if it has `use:`',
    )
    .allowExcessArguments()
    .action(async (_id: string | undefined, own: SweepReportFlags) => {
      const flags = { ...sweep.opts<SweepFlags>(), modules: own.modules ?? true };
      const { queue, id } = named(resume.args, flags.queue);
      const options = fleetOptions(flags, queue, version);
      const { resumeSweep } = await import('./fleet-sweep.ts');
      done(await resumeSweep(id, { ...options, from: 0, to: 0, chunkMs: 20_000 }));
    });
}

const MANAGE = {
  status: 'how far the sweeps on a queue are, and who is at work',
  tail: 'tell how far a sweep is, until it ends',
  stop: 'take the work of a sweep off the queue; its coordinator reports what is known',
} as const;

function addManage(sweep: Command, done: Done): void {
  for (const name of ['status', 'tail', 'stop'] as const) {
    const id = name === 'status' ? '' : ' s0123';
    const example = `sweep ${name}${id} --queue ${EXAMPLE_QUEUE}`;
    const described = withExample(
      sweep.command(`${name} [sweep]`).description(MANAGE[name]),
      example,
    );
    described.addOption(queueOption()).allowExcessArguments();
    if (name === 'stop') described.option('--forget', 'take what is stopped off for good');
    else described.option('--json', 'JSON lines on stdout and nothing else');
    described.action(async (_id: string | undefined, own: { readonly forget?: boolean }) => {
      const { queue, json } = sweep.opts<SweepFlags>();
      const asked = named(described.args, queue);
      const { manage } = await import('./sweep-manage.ts');
      done(await manage[name]({ ...asked, isJson: json === true, forgets: own.forget === true }));
    });
  }
}

/**
 * Options that `sweep` and `sweep resume` have in common. Wherever they stand, it is `sweep` that
 * is given them: `resume` has them for its help.
 */
function reporting(described: Command): Command {
  return described
    .option('--workers <N>', 'worker threads for the calibration (default: one a core)')
    .option(...shared.output)
    .option(...shared.reporter)
    .option(...shared.corpus)
    .option(...shared.json)
    .option(...shared.quiet)
    .option(...shared.verbose);
}

function fleetOptions(
  flags: SweepReportFlags,
  queue: string,
  version: string,
): Omit<FleetOptions, 'from' | 'to' | 'chunkMs'> {
  const { workers, modules, corpus = null } = flags;
  return {
    ...{ queue, version, corpus, ...reportOptions(flags) },
    workers: given(workers, '--workers', parsePositive),
    modules: typeof modules === 'string' || modules === false ? modules : null,
  };
}

/**
 * What is no URL is the id of a sweep. A URL that stands first is the queue's too, as it once was;
 * what is neither is not said again, since it may be a URL with a slip of the pen.
 */
function named(
  args: readonly string[],
  flag: string | undefined,
): { readonly queue: string; readonly id: string | null } {
  const [first] = args;
  const isUrl = first?.includes('://') === true;
  const [id = null, ...others] = isUrl ? args.slice(1) : args;
  if (id !== null && isQueueUrl(id)) throw new UserError([NO_URL]);
  if (id !== null && !/^s[0-9a-f]{0,15}$/.test(id)) {
    throw new UserError(['what is given is no id of a sweep: s and up to 15 hexadecimal digits']);
  }
  if (others.length > 0) throw new UserError(['one sweep at a time']);
  return { queue: requiredQueue(isUrl ? first : flag), id };
}

const NO_URL = `the URL of a queue stands after --queue, or in ${QUEUE_VARIABLE}`;

/** Also where it is misspelt. */
function isQueueUrl(text: string): boolean {
  return /:\/\/|^(rediss?|postgres(ql)?)(:|\/\/)/i.test(text);
}
