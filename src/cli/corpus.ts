/**
 * `fencepost corpus` manages kept plans, one per kind of failure. The subcommands are implemented
 * in `corpus-folder.ts` and `corpus-update.ts`.
 */
import type { Command } from 'commander';
import { type Done, withExample } from './command.ts';
import type { CorpusOptions } from './kept-plans.ts';

interface CorpusFlags {
  readonly corpus?: string;
  readonly json?: boolean;
  readonly modules?: string | false;
}

interface AddFlags extends CorpusFlags {
  readonly replace?: boolean;
}

interface UpdateFlags extends CorpusFlags {
  readonly rename?: readonly string[];
}

interface PruneFlags extends CorpusFlags {
  readonly yes?: boolean;
}

/** Adds `corpus` with its subcommands `ls`, `add`, `check`, `update`, `accept` and `prune`. */
export function addCorpus(command: Command, done: Done): void {
  const corpus = withExample(command, 'corpus check');
  const kinds = 'with the claim, expected outcome and kind of each';
  subcommand(corpus, 'ls', `list kept plans, ${kinds}`, 'ls').action(async (flags: CorpusFlags) =>
    done(await (await folder()).listCorpus(corpusOptions(flags))),
  );
  const keep = 'keep a plan that breaks its claim, if none of its kind is kept';
  const example = 'add reports/zombie-writer-unfenced-grant-order.yaml';
  subcommand(corpus, 'add <plan>', keep, example)
    .option('--replace', 'replace a kept plan of its kind that is less simple')
    .action(async (plan: string, flags: AddFlags) => {
      const options = { ...corpusOptions(flags), replaces: flags.replace === true };
      done(await (await folder()).addToCorpus(plan, options));
    });
  const replays = 'replay all kept plans and compare with the expected outcomes';
  subcommand(corpus, 'check', replays, 'check').action(async (flags: CorpusFlags) =>
    done(await (await folder()).checkCorpus(corpusOptions(flags))),
  );
  const renewHelp = 'rewrite plans after a change of code, if their outcome is the same';
  subcommand(corpus, 'update', renewHelp, 'update --rename release=unlock --modules locks')
    .option('--rename <old=new...>', 'new names of operations, marks and timers')
    .action(async (flags: UpdateFlags) => {
      const { parseRename, updateCorpus } = await import('./corpus-update.ts');
      done(await updateCorpus(corpusOptions(flags), (flags.rename ?? []).map(parseRename)));
    });
  const fixed = 'mark plans that are fixed now: from now on their claim must hold';
  subcommand(corpus, 'accept [plan...]', fixed, 'accept').action(
    async (plans: string[], flags: CorpusFlags) => {
      const { acceptPlans } = await import('./corpus-update.ts');
      done(await acceptPlans(plans, corpusOptions(flags)));
    },
  );
  const pruneHelp = 'list plans that test nothing, and duplicates of a kind';
  subcommand(corpus, 'prune', pruneHelp, 'prune --yes')
    .option('--yes', 'delete the listed plans')
    .action(async (flags: PruneFlags) =>
      done(await (await folder()).pruneCorpus(corpusOptions(flags), flags.yes === true)),
    );
}

const folder = (): Promise<typeof import('./corpus-folder.ts')> => import('./corpus-folder.ts');

function subcommand(corpus: Command, usage: string, about: string, example: string): Command {
  return withExample(corpus.command(usage).description(about), `corpus ${example}`)
    .option('--corpus <folder>', 'folder of kept plans (default: `plans` beside each scenario)')
    .option('--modules <folder>', 'folder of the scenarios, for the modules of the plans')
    .option('--no-modules', 'refuse plans that use modules, so none of their code runs')
    .option('--json', 'print one JSON line per plan');
}

function corpusOptions({ corpus, json, modules }: CorpusFlags): CorpusOptions {
  return { corpus: corpus ?? null, isJson: json === true, modules: modules ?? null };
}
