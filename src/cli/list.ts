/**
 * `fencepost list` prints the words that a scenario may use, with their meaning and source: all of
 * them, those of one kind, or a single one. `fencepost schema` prints the JSON Schema of scenarios.
 */
import type { Command } from 'commander';
import { exits } from '../search/campaign/exit-codes.ts';
import { suggest } from '../text/problem.ts';
import { type Done, shared, withExample } from './command.ts';
import { type Entry, entriesOf, isKind, KIND_NAMES, type Kind } from './entries.ts';
import { UserError } from './exit.ts';
import { entriesMeant, printEntries } from './explain.ts';
import { schemas } from './schemas.ts';

/** The kinds to list by default, with their titles. */
const LISTED: readonly (readonly [Kind, string])[] = [
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

export function addList(command: Command, done: Done): void {
  withExample(command, 'list faults pause')
    .option(shared.json[0], 'print one JSON line')
    .action((...args: [string | undefined, string | undefined, { json?: boolean }, Command]) => {
      const [word, name, { json: isJson = false }, { parent }] = args;
      const program = parent ?? command;
      if (word === undefined) printList(program, isJson);
      else {
        const kind = kindMeant(word);
        const entries = entriesOf(kind, program);
        if (name !== undefined) printEntries(entriesMeant([name], entries), isJson);
        else if (isJson) printEntries(entries, true);
        else process.stdout.write(tableOf(kind, entries.flatMap(rowsOf)).slice(1).join(''));
      }
      done(exits.met);
    });
}

function kindMeant(word: string): Kind {
  const kind = [word, `${word}s`].find(isKind);
  if (kind !== undefined) return kind;
  throw new UserError([`list ${word}: unknown kind "${word}"${suggest(word, KIND_NAMES)}`]);
}

export function addSchema(command: Command, done: Done): void {
  withExample(command, 'schema > scenario.schema.json').action(() => {
    process.stdout.write(`${JSON.stringify(schemas['scenario.schema.json'](), null, 2)}\n`);
    done(exits.met);
  });
}

/** Prints the words of scenarios, each kind in two columns, or everything as one JSON line. */
export function printList(program: Command, isJson: boolean): void {
  if (isJson) {
    const kinds = LISTED.map(([kind]) => [kind, entriesOf(kind, program).map(listedFields)]);
    const listing = { version: 1, type: 'list', ...Object.fromEntries(kinds) };
    process.stdout.write(`${JSON.stringify(listing)}\n`);
    return;
  }
  const described = new Map<string, string>();
  for (const [kind, title] of LISTED) {
    const rows = entriesOf(kind, program).flatMap((entry) => briefRows(entry, described));
    process.stdout.write(tableOf(title, rows).join(''));
  }
  process.stdout.write('for details: `fencepost explain <word>`\n');
}

function listedFields({ name, about, source, hazard, options, fields }: Entry): object {
  return { name, about, source, hazard, options, fields };
}

type Row = readonly [string, string];

/** Returns the rows of an entry. Options that variants share are described only once. */
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

/** Returns the first rows of an entry. For a claim, they include the hazard that exercises it. */
function headRows({ name, about, source, hazard }: Entry): readonly Row[] {
  const tested: readonly Row[] = hazard === '' ? [] : [['', `tested by ${hazard}`]];
  return [[name, source === '' ? about : `${about} [${source}]`], ...tested];
}

function tableOf(title: string, rows: readonly Row[]): readonly string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return [`${title}\n`, ...rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}\n`)];
}
