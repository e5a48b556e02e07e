/**
 * `fencepost explain` prints the meaning of any word that fencepost prints, with its fields, YAML
 * to copy, and the scenarios that show it.
 */
import type { Command } from 'commander';
import { exits } from '../search/campaign/exit-codes.ts';
import { paintFor } from '../text/colour.ts';
import { nearestFirst, suggest } from '../text/problem.ts';
import { hang, wrap } from '../text/visible.ts';
import { type Done, shared, withExample } from './command.ts';
import { allEntries, type Entry, type EntryField, KINDS } from './entries.ts';
import { shownBy, snippetOf } from './examples.ts';
import { UserError } from './exit.ts';
import { openTerminal, type Terminal } from './terminal.ts';

export function addExplain(command: Command, done: Done): void {
  withExample(command, 'explain grant-order')
    .option(shared.json[0], 'print one JSON line')
    .action((...args: [readonly string[], { readonly json?: boolean }, Command]) => {
      const [words, { json: isJson = false }, { parent }] = args;
      printEntries(entriesMeant(words, allEntries(parent ?? command)), isJson);
      done(exits.met);
    });
}

/** Looks the words up as one term first, then separately. Throws if a word is unknown. */
export function entriesMeant(
  words: readonly string[],
  entries: readonly Entry[],
): readonly Entry[] {
  const asOne = meaningsOf(words.join(' '), entries);
  if (asOne.length > 0) return asOne;
  const each = words.map((word) => meaningsOf(word, entries));
  const at = each.findIndex((meanings) => meanings.length === 0);
  if (at < 0) return [...new Set(each.flat())];
  const [unknown = ''] = words.length > 1 ? words.slice(at) : words;
  const known = new Set(entries.flatMap(({ name, also, rules }) => [name, ...also, ...rules]));
  throw new UserError([`${unknown}: unknown word${nearest(unknown, [...known])}`]);
}

/**
 * Looks a word up as an entry, then as a field, a rule of a claim, or an option of a command. A
 * model of `check` does not hide a field of the same name: `counter` is both.
 */
function meaningsOf(asked: string, entries: readonly Entry[]): readonly Entry[] {
  const word = plain(asked);
  const isIt = (name: string): boolean => plain(name) === word;
  const called = entries.filter(({ name, also }) => [name, ...also].some(isIt));
  if (called.some(({ kind }) => kind !== 'models')) return called;
  const withField = entries.filter(({ fields }) => fields.some(({ name }) => isIt(name)));
  const isCommand = ({ kind }: Entry): boolean => kind === 'commands';
  const meanings = [...called, ...withField.filter((entry) => !isCommand(entry))];
  if (meanings.length > 0) return meanings;
  const broken = entries.filter(({ rules }) => rules.some(isIt));
  return broken.length > 0 ? broken : withField;
}

/** Normalizes capitals, hyphens and plurals. */
function plain(word: string): string {
  const text = word
    .toLowerCase()
    .replace(/ <.*>$/, '')
    .replaceAll(/[\s_-]+/g, ' ')
    .trim();
  return text.replace(/(?<=[a-z]{3}[^s])s$/, '').replace(/^exit (code )?(?=\d)/, '');
}

function nearest(word: string, known: readonly string[]): string {
  const hint = suggest(word, known);
  if (hint !== '') return hint;
  const near = nearestFirst(word.toLowerCase(), known).slice(0, 3).join(', ');
  return `; similar words: ${near}; \`fencepost list\` lists all`;
}

/** Prints entries one after another, or as one JSON line. */
export function printEntries(entries: readonly Entry[], isJson: boolean): void {
  const terminal = openTerminal({ isJson });
  if (isJson) {
    terminal.printJson('explain', { entries: entries.map(entryFields) });
    return;
  }
  for (const [at, entry] of entries.entries()) {
    if (at > 0) terminal.print('');
    for (const line of linesOf(entry, terminal)) terminal.print(line);
  }
}

function entryFields(entry: Entry): object {
  const { also, options, ...fields } = entry;
  return { ...fields, yaml: snippetOf(entry), shownBy: shownBy(entry) };
}

function linesOf(entry: Entry, { width, colour }: Terminal): readonly string[] {
  const { kind, name, about, source, hazard, rules, fields, see } = entry;
  const columns = Math.min(width, 100) - 2;
  const labelled = (label: string, text: string): readonly string[] =>
    text === '' ? [] : hang(text, columns - label.length - 2, `  ${label}: `, '    ');
  const yaml = snippetOf(entry)?.trimEnd().split('\n') ?? [];
  return [
    `${paintFor(colour).bold(name)}: ${KINDS[kind]}`,
    ...wrap(about, columns).map((line) => `  ${line}`),
    ...labelled('tested by', hazard),
    ...labelled('rules', rules.join(', ')),
    ...labelled('source', source),
    ...fieldLines(fields, columns),
    ...(yaml.length === 0 ? [] : ['', ...yaml.map((line) => `    ${line}`), '']),
    ...shownBy(entry).flatMap(({ how, scenarios }) => labelled(how, fewOf(scenarios))),
    ...labelled('see', see.join(', ')),
  ];
}

function fieldLines(fields: readonly EntryField[], columns: number): readonly string[] {
  if (fields.length === 0) return [];
  const wide = Math.max(...fields.map(({ name }) => name.length));
  const lines = fields.flatMap(({ name, values, about }) => {
    const text = values === '' ? about : `${values}: ${about}`;
    return hang(text, columns - wide - 4, `    ${name.padEnd(wide)}  `, ' '.repeat(wide + 6));
  });
  return ['', ...lines];
}

const MOST_LISTED = 6;

function fewOf(names: readonly string[]): string {
  const rest = names.length - MOST_LISTED;
  return `${names.slice(0, MOST_LISTED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
