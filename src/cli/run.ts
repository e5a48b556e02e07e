/** `fencepost run` examines the seeds of scenarios and reports the results. */
import type { Command } from 'commander';
import type { ExhaustScope } from '../scenario/scenario.ts';
import {
  type Done,
  freshSeeds,
  parseCount,
  parseOption,
  parsePositive,
  parseSeeds,
  parseTimeMs,
  seedsOption,
  shared,
  withExample,
} from './command.ts';
import { UserError } from './exit.ts';
import { type ReportFlags, reportOptions } from './report-options.ts';

interface RunFlags extends ReportFlags {
  readonly seeds: string;
  readonly seed?: string;
  readonly fresh?: boolean;
  readonly time?: string;
  readonly workers?: string;
  readonly checkDeterminism?: boolean;
  readonly shard?: string;
  readonly exhaust?: string;
  readonly ties?: string;
  readonly clients?: string;
  readonly sections?: string;
  readonly lastFailed?: boolean;
  readonly resume?: boolean;
  readonly corpus?: string;
  readonly modules: boolean;
}

export function addRun(command: Command, done: Done, version: string): void {
  withExample(command, 'run zombie-writer --seeds 1000')
    .optionsGroup('Seeds:')
    .option(...seedsOption('1000'))
    .option('--seed <S>', 'run only this seed')
    .option('--fresh', 'start the range at a random seed')
    .option('--time <duration>', 'stop each scenario after this long, e.g. 60s')
    .optionsGroup('Exhaustive search:')
    .option('--exhaust <k>', 'run every plan with at most k faults instead of seeds')
    .option('--ties <t>', 'and at most t swaps of tied events')
    .option('--clients <N>', 'only the first N clients')
    .option('--sections <N>', 'only the first N sections of each client')
    .optionsGroup('Execution:')
    .option(...shared.workers)
    .option(
      '--check-determinism',
      'run each seed twice, some with fresh modules, and compare all events',
    )
    .option(...shared.corpus)
    .option(...shared.noModules)
    .option('--last-failed', 'run only the scenarios that failed in the last run')
    .option('--resume', 'continue this command where it was killed or stopped')
    .optionsGroup('CI:')
    .option('--shard <i/n>', 'run only part i of n of the seeds or plans, for `merge`')
    .option(...shared.baseline)
    .optionsGroup('Output:')
    .option(...shared.output)
    .option(...shared.reporter)
    .option(...shared.json)
    .option(...shared.quiet)
    .option(...shared.verbose)
    .helpOption('-h, --help', 'display help for command')
    .action(async (files: string[], flags: RunFlags, command: Command) => {
      const seed = parseOption(flags.seed, '--seed', parseCount);
      if (seed !== null && command.getOptionValueSource('seeds') === 'cli') {
        throw new UserError(['--seed and --seeds: use only one of them']);
      }
      const seeds = seed === null ? parseSeeds(flags.seeds) : { from: seed, to: seed };
      const range = flags.fresh === true ? freshSeeds(seeds) : seeds;
      // A random range differs each time, so no other machine or attempt can share it.
      const other = flags.shard === undefined ? '--resume' : '--shard';
      if (flags.fresh === true && (flags.shard !== undefined || flags.resume === true)) {
        throw new UserError([
          `--fresh and ${other}: use only one; ${other} needs the same range each time`,
        ]);
      }
      requireSeedsOrPlans(flags);
      const { parseShard, runFiles } = await import('./run-scenarios.ts');
      done(
        await runFiles(files, {
          ...range,
          timeMs: parseOption(flags.time, '--time', parseTimeMs),
          workers: parseOption(flags.workers, '--workers', parseCount),
          ...reportOptions(flags),
          checksDeterminism: flags.checkDeterminism === true,
          exhaust: exhaustOf(flags),
          shard: parseOption(flags.shard, '--shard', parseShard),
          isLastFailed: flags.lastFailed === true,
          isResumed: flags.resume === true,
          corpus: flags.corpus ?? null,
          version,
          modules: flags.modules ? null : false,
        }),
      );
    });
}

function exhaustOf({ exhaust, ties, clients, sections }: RunFlags): ExhaustScope | null {
  const faults = parseOption(exhaust, '--exhaust', parseCount);
  if (faults === null) return null;
  return {
    faults,
    ties: parseOption(ties, '--ties', parseCount) ?? 0,
    clients: parseOption(clients, '--clients', parsePositive),
    sections: parseOption(sections, '--sections', parsePositive),
  };
}

/** Refuses options for seeds together with an exhaustive search, and the reverse. */
function requireSeedsOrPlans(flags: RunFlags): void {
  if (flags.exhaust === undefined) {
    const lone = (['ties', 'clients', 'sections'] as const).find(
      (name) => flags[name] !== undefined,
    );
    if (lone !== undefined) {
      const why = lone === 'ties' ? 'seeds draw every order' : 'seeds take all';
      throw new UserError([`--${lone}: only with --exhaust; ${why}`]);
    }
    return;
  }
  const { seed, fresh, checkDeterminism } = flags;
  const others = {
    '--seed': seed !== undefined,
    '--fresh': fresh === true,
    '--check-determinism': checkDeterminism === true,
  };
  const [other] = Object.entries(others).flatMap(([name, isGiven]) => (isGiven ? [name] : []));
  if (other !== undefined) {
    throw new UserError([`${other}: not with --exhaust, which runs no seeds`]);
  }
}
