/**
 * All that can be explained, each with what it is and its fields. Nothing is said here: the words
 * come from where each thing is defined. `examples.ts` has YAML for it.
 */
import { builtInClaims } from '../check/claims.ts';
import { aboutModels } from '../linearizability/models.ts';
import {
  type DescribedWord,
  type FieldedWord,
  type SchemaWords,
  schemaWords,
} from '../scenario/json-schema.ts';
import type { OptionInfo } from '../systems/protocol.ts';
import { protocols } from '../systems/protocols.ts';
import { storeKinds } from '../systems/store/store-kinds.ts';
import { EXIT_WORDS } from './exit.ts';
import { EVENTS, TERMS } from './glossary.ts';
import { schemas } from './schemas.ts';
import { shippedScenarios } from './shipped.ts';

/** The kinds of entry, as `fencepost list` calls them, each with what one of them is. */
export const KINDS = {
  locks: 'a lock',
  stores: 'a store',
  claims: 'a claim',
  fields: 'a field of a scenario',
  settings: 'a setting of clients',
  workloads: 'a kind of workload',
  steps: 'a step of a workload',
  faults: 'a fault',
  scenarios: 'a scenario',
  models: 'a model of `check`',
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

/** What a word of the glossary leads to leads back to that word. */
function entryOf(kind: Kind, said: Said): Entry {
  const see = kind === 'words' ? [] : wordsAbout(said.name);
  const nothing = { also: [], source: '', hazard: '', rules: [], fields: [], see, options: [] };
  return { ...nothing, ...said, kind };
}

function wordsAbout(name: string): readonly string[] {
  return Object.entries(TERMS).flatMap(([word, { see = [] }]) => {
    return word !== name && see.includes(name) ? [word] : [];
  });
}

/** All of one kind, in the order in which they are listed. */
export function entriesOf(kind: Kind): readonly Entry[] {
  return SAID[kind]().map((said) => entryOf(kind, said));
}

/** All there are. */
export function allEntries(): readonly Entry[] {
  return KIND_NAMES.flatMap(entriesOf);
}

export const KIND_NAMES: readonly Kind[] = Object.keys(KINDS).filter(isKind);

/** Whether it is the name of a kind: `claims`. */
export function isKind(word: string): word is Kind {
  return Object.hasOwn(KINDS, word);
}

const SAID: Readonly<Record<Kind, () => readonly Said[]>> = {
  locks: () => [...protocols].map(([name, kind]) => partOf(name, kind)),
  stores: () => [...storeKinds].map(([name, kind]) => partOf(name, kind)),
  claims: () =>
    [...builtInClaims.values()].map(({ name, about, source, hazard, rules }) => {
      return { name, about, source, hazard, rules: Object.keys(rules) };
    }),
  fields: () => scenarioWords().fields.map(withFields),
  settings: () => scenarioWords().settings,
  workloads: () => scenarioWords().workloads,
  steps: () => scenarioWords().steps.map(withFields),
  faults: () => scenarioWords().faults.map(withFields),
  scenarios: shippedScenarios,
  models: () => [...aboutModels].map(([name, about]) => ({ name, about })),
  exits: () => Object.entries(EXIT_WORDS).map(([name, about]) => ({ name, about })),
  events: () => Object.entries(EVENTS).map(([name, about]) => ({ name, about })),
  words: () => Object.entries(TERMS).map(([name, term]) => ({ name, ...term })),
};

function scenarioWords(): SchemaWords {
  return schemaWords(schemas['scenario.schema.json']());
}

function partOf(
  name: string,
  kind: { readonly about: string; readonly source: string; readonly options?: Entry['options'] },
): Said {
  const { about, source, options = [] } = kind;
  return { name, about, source, options, fields: options.map(fieldOf) };
}

function fieldOf({ name, values, fallback, about }: OptionInfo): EntryField {
  const choice = values === 'integer' ? 'a number' : values.join(' | ');
  return { name, values: choice, about: `${about} (${fallback})` };
}

function withFields(word: FieldedWord): Said {
  return { ...word, fields: word.fields.map((field) => ({ ...field, values: '' })) };
}
