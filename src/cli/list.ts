/**
 * `fencepost list`: the words that a scenario may use, each with what it means and its source, all
 * of them, those of one kind, or one by itself; and `fencepost schema`: the shapes that others may
 * rely on, as JSON Schema.
 */
import type { Command } from 'commander';
import { builtInClaims } from '../check/claims.ts';
import { schemaWords } from '../scenario/json-schema.ts';
import { protocols } from '../systems/protocols.ts';
import { storeKinds } from '../systems/store/store-kinds.ts';
import { suggest } from '../text/problem.ts';
import { type Done, shared, withExample } from './command.ts';
import { type Entry, entriesOf, isKind, KIND_NAMES, type Kind } from './entries.ts';
import { exits, UserError } from './exit.ts';
import { entriesMeant, printEntries } from './explain.ts';
import { schemas } from './schemas.ts';
import { shippedScenarios } from './shipped.ts';

export function addList(command: Command, done: Done): void {
  withExample(command, 'list faults pause')
    .option(shared.json[0], 'as one JSON line')
    .action((named: string | undefined, name: string | undefined, { json }: ListFlags) => {
      const isJson = json === true;
      if (named === undefined) printList(isJson);
      else printKind(kindMeant(named), name, isJson);
      done(exits.met);
    });
}

interface ListFlags {
  readonly json?: boolean;
}

export function printList(isJson: boolean): void {
  process.stdout.write(isJson ? `${JSON.stringify(listing())}\n` : listText());
}

/** All of one kind in a table, or one of them with its fields and YAML. */
function printKind(kind: Kind, name: string | undefined, isJson: boolean): void {
  const entries = entriesOf(kind);
  if (name !== undefined) printEntries(entriesMeant([name], entries), isJson);
  else if (isJson) printEntries(entries, true);
  else process.stdout.write(section(kind, entries.flatMap(rowsOf)).slice(1).join(''));
}

function kindMeant(word: string): Kind {
  const kind = [word, `${word}s`].find(isKind);
  if (kind !== undefined) return kind;
  throw new UserError([`list ${word}: unknown kind "${word}"${suggest(word, KIND_NAMES)}`]);
}

export function addSchema(command: Command, done: Done): void {
  withExample(command, 'schema > scenario.schema.json')
    .option('--output', 'that of the lines which --json writes instead')
    .action(({ output }: { readonly output?: boolean }) => {
      const file = output === true ? 'output.schema.json' : 'scenario.schema.json';
      process.stdout.write(`${JSON.stringify(schemas[file](), null, 2)}\n`);
      done(exits.met);
    });
}

interface Word {
  readonly name: string;
  readonly about: string;
  readonly source: string;
}

function words(kinds: ReadonlyMap<string, Omit<Word, 'name'>>): readonly Word[] {
  return [...kinds].map(([name, { about, source }]) => ({ name, about, source }));
}

function listing(): object {
  return {
    version: 1,
    type: 'list',
    locks: words(protocols).map((word) => ({
      ...word,
      options: protocols.get(word.name)?.options ?? [],
    })),
    stores: words(storeKinds).map((word) => {
      const { options } = storeKinds.get(word.name) ?? {};
      return options === undefined ? word : { ...word, options };
    }),
    claims: [...builtInClaims.values()].map(({ name, about, source, hazard }) => {
      return { name, about, source, hazard };
    }),
    ...schemaWords(schemas['scenario.schema.json']()),
    scenarios: shippedScenarios(),
  };
}

/** The words of scenarios, each kind in two columns; the options of a variant only once. */
function listText(): string {
  const described = new Map<string, string>();
  const tables = TITLES.map(([kind, title]) => {
    return section(
      title,
      entriesOf(kind).flatMap((entry) => briefRows(entry, described)),
    );
  });
  const more = '`fencepost explain <word>` says more of each, and of every other word\n';
  return [...tables.flat(), more].join('');
}

const TITLES: readonly (readonly [Kind, string])[] = [
  ['locks', 'locks'],
  ['stores', 'stores'],
  ['claims', 'claims'],
  ['fields', 'fields of a scenario'],
  ['settings', 'settings of clients'],
  ['workloads', 'kinds of workload'],
  ['steps', 'steps of a workload'],
  ['faults', 'faults'],
  ['scenarios', 'scenarios, which `run` and `show` take by name'],
  ['models', 'models, which `check` takes by name'],
];

type Row = readonly [string, string];

function briefRows(entry: Entry, described: Map<string, string>): readonly Row[] {
  const { kind, name, fields } = entry;
  if ((kind !== 'locks' && kind !== 'stores') || fields.length === 0) return headRows(entry);
  const key = JSON.stringify(fields);
  const first = described.get(key);
  if (first !== undefined) return [...headRows(entry), ['', `options: those of ${first}`]];
  described.set(key, name);
  return rowsOf(entry);
}

function rowsOf(entry: Entry): readonly Row[] {
  const fields = entry.fields.map(({ name, values, about }): Row => {
    return [values === '' ? `  ${name}` : `  ${name}: ${values}`, about];
  });
  return [...headRows(entry), ...fields];
}

/** A claim with what puts it to the test: where that never arose, it is not judged. */
function headRows({ name, about, source, hazard }: Entry): readonly Row[] {
  const tested: readonly Row[] = hazard === '' ? [] : [['', `tested by ${hazard}`]];
  return [[name, source === '' ? about : `${about} [${source}]`], ...tested];
}

function section(title: string, rows: readonly Row[]): readonly string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return [`${title}\n`, ...rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}\n`)];
}
