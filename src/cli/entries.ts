/**
 * All that can be explained, by walking the registries: claims, faults, locks, stores, models, the
 * schema of scenarios, what becomes of kept plans, exit codes, and the commands with their options.
 * Nothing is said here: each row says what it is, and `glossary.ts` has the words that stand in no
 * registry. `list` and `explain` print these entries; `examples.ts` has YAML.
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

/** The kinds of entry, as `fencepost list` calls them, each with what one of them is. */
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
  /** Where it is written down; '' for nowhere. */
  readonly source: string;
  /** Of a claim, what puts it to the test; else ''. */
  readonly hazard: string;
  /** Of a claim, the names of the rules by which it breaks. */
  readonly rules: readonly string[];
  readonly fields: readonly EntryField[];
  readonly see: readonly string[];
  /** Options of its own, to be put into a snippet; of locks and stores. */
  readonly options: readonly OptionInfo[];
}

export interface EntryField extends DescribedWord {
  /** What it may be: `yes | no`, `a number`; '' where `about` says it. */
  readonly values: string;
}

type Said = Pick<Entry, 'name' | 'about'> & Partial<Omit<Entry, 'kind'>>;

export const KIND_NAMES: readonly Kind[] = Object.keys(KINDS).filter(isKind);

/** Whether it is the name of a kind: `claims`. */
export function isKind(word: string): word is Kind {
  return Object.hasOwn(KINDS, word);
}

/** All there are; the commands are those of `program`. */
export function allEntries(program: Command): readonly Entry[] {
  return KIND_NAMES.flatMap((kind) => entriesOf(kind, program));
}

/** All of one kind, in the order in which they are listed. */
export function entriesOf(kind: Kind, program: Command): readonly Entry[] {
  return SAID[kind](program).map((said) => {
    // What a word of the glossary leads to leads back to that word.
    const see = kind === 'words' ? [] : terms.filter((term) => term.see.includes(said.name));
    const nothing = { also: [], source: '', hazard: '', rules: [], fields: [], options: [] };
    return { kind, ...nothing, see: see.map(({ name }) => name), ...said };
  });
}

const SAID: Readonly<Record<Kind, (program: Command) => readonly Said[]>> = {
  locks: () => [...protocols].map(([name, row]) => partOf(name, row)),
  stores: () => [...storeKinds].map(([name, row]) => partOf(name, row)),
  claims: () =>
    [...builtInClaims.values()].map(({ name, about, source, hazard, rules }) => {
      return { name, about, source, hazard, rules: Object.keys(rules) };
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

/** `corpus` and `corpus add`, each with its options. */
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
