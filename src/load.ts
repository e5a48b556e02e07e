/** Reads scenarios with the vocabulary of a catalogue, by default the built-in one. */
import { builtIn, type Catalogue } from './catalogue.ts';
import { isAboutGrants } from './check/claims.ts';
import type { ModuleDigests } from './core/plan/plan.ts';
import { serversIn } from './run.ts';
import { readScenario, type ScenarioRead } from './scenario/read-scenario.ts';
import type { LockWord, OptionWord, ReplicaNames, Vocabulary } from './scenario/vocabulary.ts';
import { type OptionInfo, Options } from './systems/options.ts';
import type { Protocol } from './systems/protocol.ts';
import type { StoreKind } from './systems/store/store-kinds.ts';

export const vocabulary: Vocabulary = vocabularyOf(builtIn);

export function wordsOf(catalogue: Catalogue): Vocabulary {
  return catalogue === builtIn ? vocabulary : vocabularyOf(catalogue);
}

function vocabularyOf({ locks, stores, claims, modules }: Catalogue): Vocabulary {
  return {
    locks: new Map([...locks].map(([name, protocol]) => [name, wordOf(protocol)])),
    stores: [...stores.keys()],
    storeOptions: new Map(
      [...stores].map(([name, { options = [] }]) => [name, options.map(optionWordOf)]),
    ),
    replicas: new Map(
      [...stores].flatMap(([name, kind]) => {
        const names = replicaNamesOf(kind);
        return names === null ? [] : [[name, names] as const];
      }),
    ),
    claims: [...claims.keys()],
    grantClaims: new Set([...claims.keys()].filter(isAboutGrants)),
    serversOf: (plan) => serversIn(plan, { locks, stores }),
    modules: digestsOf(modules),
  };
}

function replicaNamesOf({ replicated, options = [] }: StoreKind): ReplicaNames | null {
  if (replicated === undefined) return null;
  return (store, values) => {
    const read = Options.read(options, values);
    return typeof read === 'string' ? [] : replicated.names(store, read);
  };
}

/** Returns the digests by module path. */
export function digestsOf(modules: Catalogue['modules']): ModuleDigests {
  return Object.fromEntries(modules.map(({ path, digest }) => [path, digest]));
}

function optionWordOf({ name, values, range }: OptionInfo): OptionWord {
  return {
    name,
    values: values === 'integer' ? null : values,
    ...(range === undefined ? {} : { range }),
  };
}

/** Operations of asynchronous clients are known only if their lock lists them. */
function operationsOf({ operations, buildAsync }: Protocol): Pick<LockWord, 'operations'> {
  if (operations !== undefined) return { operations };
  return buildAsync === undefined ? {} : { operations: [] };
}

function wordOf(protocol: Protocol): LockWord {
  return {
    options: protocol.options.map(optionWordOf),
    servers: (values) => {
      const options = Options.read(protocol.options, values);
      return typeof options === 'string' ? [] : protocol.servers(options);
    },
    problem: (values, clients) => {
      const options = Options.read(protocol.options, values);
      return typeof options === 'string' ? null : (protocol.problem?.(options, clients) ?? null);
    },
    canRenew: protocol.canRenew !== false,
    takesMessages: protocol.takesMessages === true,
    hasGrants: protocol.hasGrants !== false,
    isAsync: protocol.buildAsync !== undefined,
    ...operationsOf(protocol),
    ...(protocol.jitter === undefined ? {} : { jitter: protocol.jitter }),
  };
}

/**
 * Reads a scenario from `text`, or returns every problem in it. `file` is used only in the text of
 * the problems. The scenario may `use` the modules in the catalogue; `loadScenarioFile` loads them.
 */
export function loadScenario(
  text: string,
  file: string,
  catalogue: Catalogue = builtIn,
): ScenarioRead {
  return readScenario({ file, text, vocabulary: wordsOf(catalogue) });
}
