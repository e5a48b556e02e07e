/** The options of `fencepost corpus` and of what it does with a folder of kept plans. */
import type { Command } from 'commander';
import { type Done, describedCommand } from './command.ts';

interface CorpusFlags {
  readonly corpus: string;
  readonly json?: boolean;
  readonly modules?: string | false;
}

interface AddFlags extends CorpusFlags {
  readonly claim?: string;
  readonly force?: boolean;
  readonly replace?: boolean;
}

interface PruneFlags extends CorpusFlags {
  readonly yes?: boolean;
}

/** Adds `corpus` with `ls`, `add`, `check` and `prune`. */
export function addCorpus(program: Command, done: Done): void {
  const corpus = describedCommand(
    program,
    'corpus',
    'a folder of kept plans in git, one a kind of failure: list, add, check, prune',
    'npx fencepost corpus check',
  );
  addLs(corpus, done);
  addAdd(corpus, done);
  addCheck(corpus, done);
  addPrune(corpus, done);
}

function addCommon(described: Command): Command {
  return described
    .option('--corpus <folder>', 'the folder of kept plans', 'plans')
    .option('--modules <folder>', 'the folder of the scenarios, whose modules the plans use')
    .option('--no-modules', 'refuse plans that use modules, which would be run')
    .option('--json', 'one JSON line a plan');
}

function commonOf({ corpus, json, modules }: CorpusFlags): {
  readonly corpus: string;
  readonly isJson: boolean;
  readonly modules: string | false | null;
} {
  return { corpus, isJson: json === true, modules: modules ?? null };
}

function addLs(corpus: Command, done: Done): void {
  addCommon(
    describedCommand(
      corpus,
      'ls',
      'the kept plans, the claim and outcome that each expects, and what kind of failure it is',
      'npx fencepost corpus ls',
    ),
  ).action(async (flags: CorpusFlags) => {
    const { listCorpus } = await import('./corpus.ts');
    done(await listCorpus(commonOf(flags)));
  });
}

function addAdd(corpus: Command, done: Done): void {
  addCommon(
    describedCommand(
      corpus,
      'add <plan>',
      'keep a plan that breaks its claim, unless one of its kind is kept',
      'npx fencepost corpus add reports/zombie-writer-unfenced-grant-order.yaml',
    ),
  )
    .option('--claim <claim>', 'the claim that it is kept for (default: the plan’s own)')
    .option('--force', 'keep it also where it breaks nothing, as what it is')
    .option('--replace', 'let it take the place of one of its kind that is less simple')
    .action(async (plan: string, flags: AddFlags) => {
      const { addToCorpus } = await import('./corpus-add.ts');
      const { claim = null, force, replace } = flags;
      const asked = { claim, isForced: force === true, replaces: replace === true };
      done(await addToCorpus(plan, { ...commonOf(flags), ...asked }));
    });
}

function addCheck(corpus: Command, done: Done): void {
  addCommon(
    describedCommand(
      corpus,
      'check',
      'replay all kept plans: reproduced, fixed, inert or diverged; as expected?',
      'npx fencepost corpus check',
    ),
  ).action(async (flags: CorpusFlags) => {
    const { checkCorpus } = await import('./corpus.ts');
    done(await checkCorpus(commonOf(flags)));
  });
}

function addPrune(corpus: Command, done: Done): void {
  addCommon(
    describedCommand(
      corpus,
      'prune',
      'the kept plans that test nothing any more, and all but one of each kind',
      'npx fencepost corpus prune --yes',
    ),
  )
    .option('--yes', 'delete them')
    .action(async (flags: PruneFlags) => {
      const { pruneCorpus } = await import('./corpus-prune.ts');
      done(await pruneCorpus({ ...commonOf(flags), isConfirmed: flags.yes === true }));
    });
}
