/**
 * `fencepost list`: the words that a scenario may use, each with what it means and its source; and
 * `fencepost schema`: the shapes that others may rely on, as JSON Schema.
 */
import type { Command } from 'commander';
import type { Claim } from '../check/claim.ts';
import { builtInClaims } from '../check/claims.ts';
import { vocabulary } from '../load.ts';
import { outputJsonSchema } from '../report/output-schema.ts';
import { type DescribedWord, scenarioJsonSchema, schemaWords } from '../scenario/json-schema.ts';
import type { OptionInfo, Protocol } from '../systems/protocol.ts';
import { protocols } from '../systems/protocols.ts';
import { storeKinds } from '../systems/store/store-kinds.ts';
import { type Done, withExample } from './command.ts';
import { exits } from './exit.ts';
import { shippedScenarios } from './shipped.ts';

export function addList(command: Command, done: Done): void {
  withExample(command, 'npx fencepost list')
    .option('--json', 'as one JSON line')
    .action(({ json }: { readonly json?: boolean }) => {
      printList(json === true);
      done(exits.met);
    });
}

export function printList(isJson: boolean): void {
  process.stdout.write(isJson ? `${JSON.stringify(listing())}\n` : listText());
}

export function addSchema(command: Command, done: Done): void {
  withExample(command, 'npx fencepost schema > scenario.schema.json')
    .option('--output', 'that of the lines which --json writes instead')
    .action(({ output }: { readonly output?: boolean }) => {
      const schema = output === true ? outputJsonSchema() : scenarioJsonSchema(vocabulary);
      process.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
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
    ...schemaWords(),
    scenarios: shippedScenarios(),
  };
}

/** Each kind of word in two columns; a lock's options follow it, those of a variant only once. */
function listText(): string {
  const described = new Map<readonly OptionInfo[], string>();
  const locks = [...protocols].flatMap(([name, protocol]) => [
    rowOf({ name, ...protocol }),
    ...optionRows(name, protocol, described),
  ]);
  const stores = [...storeKinds].flatMap(([name, { options = [], ...kind }]) => [
    rowOf({ name, ...kind }),
    ...optionRows(name, { options }, described),
  ]);
  const { settings, workloads, steps, faults } = schemaWords();
  return [
    ...section('locks', locks),
    ...section('stores', stores),
    ...section('claims', [...builtInClaims.values()].flatMap(claimRows)),
    ...section('settings of clients', settings.map(plainRow)),
    ...section('kinds of workload', workloads.map(plainRow)),
    ...section('steps of a workload', steps.map(plainRow)),
    ...section('faults', faults.map(plainRow)),
    ...section('scenarios, which `run` and `show` take by name', shippedScenarios().map(plainRow)),
  ].join('');
}

type Row = readonly [string, string];

function rowOf({ name, about, source }: Word): Row {
  return [name, `${about} [${source}]`];
}

/** With what puts it to the test: where that never arose, it is not judged. */
function claimRows(claim: Claim): readonly Row[] {
  return [rowOf(claim), ['', `tested by ${claim.hazard}`]];
}

function plainRow({ name, about }: DescribedWord): Row {
  return [name, about];
}

function optionRows(
  name: string,
  { options }: Pick<Protocol, 'options'>,
  described: Map<readonly OptionInfo[], string>,
): readonly Row[] {
  const first = described.get(options);
  if (first !== undefined && options.length > 0) return [['', `options: those of ${first}`]];
  described.set(options, name);
  return options.map(({ name: option, values, fallback, about }) => {
    const choice = values === 'integer' ? 'a number' : values.join(' | ');
    return [`  ${option}: ${choice}`, `${about} (${fallback})`];
  });
}

function section(title: string, rows: readonly Row[]): readonly string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return [`${title}\n`, ...rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}\n`)];
}
