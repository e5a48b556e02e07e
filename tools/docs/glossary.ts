/**
 * Writes `docs/glossary.md` from the registries that `fencepost list` and `fencepost explain` read:
 * the words that stand in none of them, then a table of each kind.
 */
import { type Entry, entriesOf, type Kind } from '../../src/cli/entries.ts';
import { buildProgram } from '../../src/cli/program.ts';

const INTRODUCTION = `# Glossary

\`fencepost explain <word>\` says the same, and has the fields of each claim, fault, lock, store, setting and step, with
YAML to copy and the scenarios that show it. \`fencepost list <kind>\` has all of a kind.`;

/** The tables, each with its title and the head of its columns. */
const TABLES: readonly (readonly [Kind, title: string, head: string])[] = [
  ['commands', 'Commands', 'command | does'],
  ['claims', 'Claims', 'claim | says | tested by'],
  ['faults', 'Faults', 'fault | does'],
  ['locks', 'Locks', 'lock | is'],
  ['stores', 'Stores', 'store | is'],
  ['fates', 'Kept plans', 'a kept plan is | where'],
  ['exits', 'Exit codes', 'code | means'],
  ['events', 'Events of a trace', 'event | says'],
];

/** The text of the page. */
export async function glossaryPage(): Promise<string> {
  const program = await buildProgram('explain', '', () => {});
  const words = entriesOf('words', program).map(({ name, also, about, see }) => {
    const others = also.length === 0 ? '' : ` (${also.join(', ')})`;
    return `**${name}**${others}: ${about}${see.length === 0 ? '' : ` See ${see.join(', ')}.`}`;
  });
  const tables = TABLES.map(([kind, title, head]) => {
    const columns = head.split(' | ').length;
    const rows = entriesOf(kind, program).map((entry) => rowOf(entry, columns));
    const rule = Array.from({ length: columns }, () => '---').join(' | ');
    return [`## ${title}\n`, ...[head, rule, ...rows].map((row) => `| ${row} |`)].join('\n');
  });
  return `${[INTRODUCTION, ...words, ...tables].join('\n\n')}\n`;
}

function rowOf({ name, about, hazard }: Entry, columns: number): string {
  const cells = [`\`${name}\``, about, ...(columns > 2 ? [hazard] : [])];
  return cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ');
}
