/** The options of `fencepost sweep` and `fencepost worker`. */
import { availableParallelism } from 'node:os';
import { type Command, Option } from 'commander';
import { type Done, describedCommand } from './command.ts';
import { UserError } from './exit.ts';
import type { FleetOptions } from './fleet-scenario.ts';
import { ABOUT_REPORTERS, defaultReporters, parseReporters } from './reporters.ts';
import { parsePositive, parseSeeds } from './seeds.ts';
import { DEFAULT_OUTPUT } from './sweep-rest.ts';
import { QUEUE_VARIABLE } from './sweep-words.ts';

interface ReportFlags {
  readonly output: string;
  readonly reporter: string;
  readonly workers?: string;
  readonly corpus?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly modules?: string | boolean;
}

interface SweepFlags extends ReportFlags {
  readonly queue?: string;
  readonly seeds: string;
  readonly chunkSeconds: string;
}

interface WorkerFlags {
  readonly queue?: string;
  readonly workers?: string;
  readonly modules?: string;
  readonly quiet?: boolean;
}

const QUEUE = 'redis://127.0.0.1:6379';

/** Adds `worker`. */
export function addWorker(program: Command, done: Done): void {
  describedCommand(
    program,
    'worker',
    'work for the sweeps on a queue, until SIGTERM or Ctrl-C',
    `npx fencepost worker --queue ${QUEUE}`,
  )
    .addOption(queueOption())
    .option('--workers <N>', 'worker threads (default: one a core)')
    .option(
      '--modules <folder>',
      'the folder that the scenario file itself is in, if it has `use:`',
    )
    .option('-q, --quiet', 'only what is wrong')
    .action(async (flags: WorkerFlags) => {
      const { workerCommand } = await import('./fleet-worker.ts');
      const { workers, modules = null } = flags;
      done(
        await workerCommand({
          queue: required(flags.queue),
          threads: workers === undefined ? cores() : parsePositive(workers, '--workers'),
          ...{ modules, isQuiet: flags.quiet === true, version: versionOf(program) },
        }),
      );
    });
}

/** Adds `sweep`, and what looks after sweeps. */
export function addSweep(program: Command, done: Done): void {
  const sweep = reporting(
    describedCommand(
      program,
      'sweep [scenario...]',
      'have the workers on a queue examine the seeds; ends as `run` does',
      `npx fencepost sweep zombie-writer --seeds 1..100000000 --queue ${QUEUE}`,
    )
      .addOption(queueOption())
      .option('--seeds <N|A..B>', 'how many seeds, or which', '1000')
      .option('--chunk-seconds <N>', 'how long one job takes a machine like this one', '20'),
  )
    .option(
      '--no-modules',
      'refuse files that use modules; else those in the file’s folder are run',
    )
    .action(async (files: string[], flags: SweepFlags) => {
      if (files.length === 0) throw new UserError(['sweep: which scenario? see `sweep --help`']);
      if (files.some(isQueueUrl)) throw new UserError([NO_URL]);
      const { sweepCommand } = await import('./sweep-fleet.ts');
      const options = fleetOptions(flags, required(flags.queue), versionOf(program));
      const chunkMs = 1000 * parsePositive(flags.chunkSeconds, '--chunk-seconds');
      done(await sweepCommand(files, { ...options, ...parseSeeds(flags.seeds), chunkMs }));
    });
  addManage(sweep, done);
  const resume = describedCommand(
    sweep,
    'resume [sweep]',
    'go on with a sweep whose coordinator is gone, or that was stopped',
    `npx fencepost sweep resume s0123 --queue ${QUEUE}`,
  );
  reporting(resume.addOption(queueOption()))
    .option(
      '--modules <folder>',
      'the folder that the scenario file itself is in, if it has `use:`',
    )
    .allowExcessArguments()
    .action(async (_id: string | undefined, own: ReportFlags) => {
      const { resumeCommand } = await import('./sweep-fleet.ts');
      const flags = { ...sweep.opts<SweepFlags>(), modules: own.modules ?? true };
      const { queue, id } = named(resume.args, flags.queue);
      const options = fleetOptions(flags, queue, versionOf(program));
      done(await resumeCommand(id, { ...options, from: 0, to: 0, chunkMs: 20_000 }));
    });
}

function addManage(sweep: Command, done: Done): void {
  const about = {
    status: 'how far the sweeps on a queue are, and who is at work',
    tail: 'tell how far a sweep is, until it ends',
    stop: 'take the work of a sweep off the queue; its coordinator reports what is known',
  } as const;
  for (const name of ['status', 'tail', 'stop'] as const) {
    const id = name === 'status' ? '' : ' s0123';
    const example = `npx fencepost sweep ${name}${id} --queue ${QUEUE}`;
    const described = describedCommand(sweep, `${name} [sweep]`, about[name], example);
    described.addOption(queueOption()).allowExcessArguments();
    if (name === 'stop') described.option('--forget', 'take what is stopped off for good');
    else described.option('--json', 'JSON lines on stdout and nothing else');
    described.action(async (_id: string | undefined, own: { readonly forget?: boolean }) => {
      const manage = await import('./sweep-manage.ts');
      const { statusCommand: status, tailCommand: tail, stopCommand: stop } = manage;
      const { queue, json } = sweep.opts<SweepFlags>();
      const given = named(described.args, queue);
      const forgets = own.forget === true;
      done(await { status, tail, stop }[name]({ ...given, isJson: json === true, forgets }));
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
    .option('--output <folder>', 'where plans and pages are written', DEFAULT_OUTPUT)
    .option('--reporter <list>', ABOUT_REPORTERS, defaultReporters(process.env))
    .option('--corpus <folder>', 'the kept plans (default: `plans` beside each scenario)')
    .option('--json', 'JSON lines on stdout and nothing else; the last is the summary')
    .option('-q, --quiet', 'no progress')
    .option('-v, --verbose', 'every claim in the overview');
}

function fleetOptions(
  flags: ReportFlags,
  queue: string,
  version: string,
): Omit<FleetOptions, 'from' | 'to' | 'chunkMs'> {
  const { workers, modules } = flags;
  return {
    ...{ queue, version, output: flags.output, corpus: flags.corpus ?? null },
    workers: workers === undefined ? null : parsePositive(workers, '--workers'),
    reporters: parseReporters(flags.reporter),
    modules: typeof modules === 'string' || modules === false ? modules : null,
    ...{ isJson: flags.json === true, isQuiet: flags.quiet === true },
    isVerbose: flags.verbose === true,
  };
}

function queueOption(): Option {
  const about = 'redis://…; in the environment it stands in no list of processes';
  return new Option('--queue <url>', about).env(QUEUE_VARIABLE);
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
  return { queue: required(isUrl ? first : flag), id };
}

const NO_URL = `the URL of a queue stands after --queue, or in ${QUEUE_VARIABLE}`;

/** Also where it is misspelt. */
function isQueueUrl(text: string): boolean {
  return /:\/\/|^(rediss?|postgres(ql)?)(:|\/\/)/i.test(text);
}

function required(queue: string | undefined): string {
  if (queue !== undefined && queue !== '') return queue;
  throw new UserError([`which queue? name it with --queue, or set ${QUEUE_VARIABLE}`]);
}

function cores(): number {
  return availableParallelism();
}

function versionOf(program: Command): string {
  return program.version() ?? '';
}
