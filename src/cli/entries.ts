/**
 * Collects the entries that `list` and `explain` print, such as claims, faults and commands. Each
 * registry describes its own entries; `glossary.ts` describes the words in no registry, and
 * `examples.ts` adds YAML.
 */
import type { Command } from 'commander';
import { builtInClaims } from '../check/claims.ts';
import { aboutModels } from '../linearizability/models.ts';
import { protocols } from '../parts.ts';
import {
  type DescribedWord,
  type FieldedWord,
  type SchemaWords,
  schemaWords,
} from '../scenario/json-schema.ts';
import { EXIT_WORDS } from '../search/campaign/exit-codes.ts';
import { FATES } from '../search/corpus/kept-replay.ts';
import type { OptionInfo } from '../systems/options.ts';
import { storeKinds } from '../systems/store/store-kinds.ts';
import { EVENTS, terms } from './glossary.ts';
import { schemas } from './schemas.ts';
import { shippedScenarios } from './shipped.ts';

/** The kinds of entry, named as in `fencepost list`, each with a noun phrase for one entry. */
export const KINDS = {
  locks: 'a lock',
  stores: 'a store',
  claims: 'a claim',
  fields: 'a field of a scenario',
  expectations: 'what a scenario expects',
  settings: 'a setting of clients',
  workloads: 'a kind of workload',
  steps: 'a step of a workload',
  faults: 'a fault',
  scenarios: 'a scenario',
  models: 'a model of `check`',
  commands: 'a command',
  fates: 'what became of a kept plan',
  exits: 'an exit code',
  events: 'an event of a trace',
  words: 'a word',
} as const;

export type Kind = keyof typeof KINDS;

export interface Entry {
  readonly kind: Kind;
  readonly name: string;
  readonly about: string;
  /** Other forms of the name. */
  readonly also: readonly string[];
  /** A reference to literature, or ''. */
  readonly source: string;
  /** For a claim, the situation that exercises it; otherwise ''. */
  readonly hazard: string;
  /** For a claim, the names of the rules by which it can break. */
  readonly rules: readonly string[];
  readonly fields: readonly EntryField[];
  readonly see: readonly string[];
  /** The options of a lock or store, for use in a snippet. */
  readonly options: readonly OptionInfo[];
}

export interface EntryField extends DescribedWord {
  /** The allowed values: `yes | no`, `a number`; '' if `about` describes them. */
  readonly values: string;
}

type Said = Pick<Entry, 'name' | 'about'> & Partial<Omit<Entry, 'kind'>>;

export const KIND_NAMES: readonly Kind[] = Object.keys(KINDS).filter(isKind);

/** Returns true for the name of a kind, such as `claims`. */
export function isKind(word: string): word is Kind {
  return Object.hasOwn(KINDS, word);
}

/** Returns all entries. The commands are those of `program`. */
export function allEntries(program: Command): readonly Entry[] {
  return KIND_NAMES.flatMap((kind) => entriesOf(kind, program));
}

/** Returns all entries of a kind, in the order of `list`. */
export function entriesOf(kind: Kind, program: Command): readonly Entry[] {
  return SAID[kind](program).map((entry) => {
    // Entries refer back to the glossary words that refer to them.
    const see = kind === 'words' ? [] : terms.filter((term) => term.see.includes(entry.name));
    const nothing = { also: [], source: '', hazard: '', rules: [], fields: [], options: [] };
    return { kind, ...nothing, see: see.map(({ name }) => name), ...entry };
  });
}

const SAID: Readonly<Record<Kind, (program: Command) => readonly Said[]>> = {
  locks: () => [...protocols].map(([name, row]) => partOf(name, row)),
  stores: () => [...storeKinds].map(([name, row]) => partOf(name, row)),
  claims: () =>
    [...builtInClaims.values()].map(({ name, about, source, hazard, rules }) => {
      return { name, about, source, hazard, rules };
    }),
  fields: () => scenarioWords().fields.map(withFields),
  expectations: () => scenarioWords().expectations,
  settings: () => scenarioWords().settings,
  workloads: () => scenarioWords().workloads,
  steps: () => scenarioWords().steps.map(withFields),
  faults: () => scenarioWords().faults.map(withFields),
  scenarios: shippedScenarios,
  models: () => [...aboutModels].map(wordOf),
  commands: (program) => commandsBelow(program, ''),
  fates: () =>
    Object.entries(FATES).map(([name, about]) => ({
      name,
      about,
      see: ['replay', 'corpus update'],
    })),
  exits: () => Object.entries(EXIT_WORDS).map(wordOf),
  events: () => Object.entries(EVENTS).map(wordOf),
  words: () => terms,
};

function wordOf([name, about]: readonly [string, string]): Said {
  return { name, about };
}

function scenarioWords(): SchemaWords {
  return schemaWords(schemas['scenario.schema.json']());
}

function partOf(
  name: string,
  row: { readonly about: string; readonly source: string; readonly options?: Entry['options'] },
): Said {
  const { about, source, options = [] } = row;
  const fields = options.map((option) => {
    const values = option.values === 'integer' ? 'a number' : option.values.join(' | ');
    return { name: option.name, values, about: `${option.about} (${option.fallback})` };
  });
  return { name, about, source, options, fields };
}

function withFields(word: FieldedWord): Said {
  return { ...word, fields: word.fields.map((field) => ({ ...field, values: '' })) };
}

/** Returns `corpus`, `corpus add` and so on, each with its options. */
function commandsBelow(parent: Command, path: string): readonly Said[] {
  return parent.commands.flatMap((command) => {
    const name = `${path}${command.name()}`;
    const fields = command.options.map(({ flags, description: about }) => {
      return { name: flags.replace(/^-\w, /, ''), values: '', about };
    });
    const about = command.description();
    return [{ name, about, fields }, ...commandsBelow(command, `${name} `)];
  });
}
