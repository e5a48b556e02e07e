/**
 * Reads, writes and compares `fixtures/frozen/records`: a text file per subject, with a section per
 * system or command and a digest at the end, so that a damaged file is not mistaken for a change of
 * fencepost.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BLOCK, type Depth, digest, type Sections } from './seeds.ts';

export const RECORDS: string = fileURLToPath(
  new URL('../../fixtures/frozen/records/', import.meta.url),
);
const TITLE = '==== ';
const LAST = /^([\s\S]*\n)# ([0-9a-f]{12})\n$/;

/** Reads the record of a subject; throws if its file is missing or damaged. */
export function readRecord(name: string, folder: string = RECORDS): Sections {
  const file = `${folder}${name}.txt`;
  if (!existsSync(file)) {
    throw new Error(`${file} is missing: npm run freeze -- --only ${name} records it`);
  }
  const [, text = '', expected] = LAST.exec(readFileSync(file, 'utf8')) ?? [];
  if (digest(text) !== expected)
    throw new Error(`${file} is damaged, by its last line: restore it from git`);
  const [, ...parts] = `\n${text.slice(0, -1)}`.split(`\n${TITLE}`);
  const sections = parts.map((part) => part.split('\n'));
  return new Map(sections.map(([title = '', ...lines]) => [title, lines]));
}

export function writeRecord(name: string, sections: Sections, folder: string = RECORDS): void {
  const file = `${folder}${name}.txt`;
  const parts = [...sections].map(([title, lines]) => [TITLE + title, ...lines, ''].join('\n'));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, `${parts.join('')}# ${digest(parts.join(''))}\n`);
  renameSync(`${file}.${process.pid}`, file);
}

/** Describes the differences between a subject's record and its new results. */
export function differencesOf(
  name: string,
  frozen: Sections,
  found: Sections,
  depth: Depth = 'full',
): readonly string[] {
  return [...new Set([...frozen.keys(), ...found.keys()])].flatMap((title) => {
    const [before, after] = [frozen.get(title), found.get(title)];
    const place = `${name}, ${title}`;
    if (before === undefined) return [`${place}: not recorded`];
    if (after === undefined) return [`${place}: recorded, but not there`];
    if (name.startsWith('outputs/')) return printedDifference(place, before, after);
    const known = depth === 'first' ? before.slice(0, after.length) : before;
    return countDifferences(known, after).map((difference) => `${place}, ${difference}`);
  });
}

/** Describes the first line that differs. */
function printedDifference(
  place: string,
  before: readonly string[],
  after: readonly string[],
): readonly string[] {
  const longer = before.length > after.length ? before : after;
  const at = longer.findIndex((_, line) => before[line] !== after[line]);
  if (at === -1) return [];
  const [was = '(nothing)', is = '(nothing)'] = [before[at], after[at]];
  let same = 0;
  while (same < was.length && was[same] === is[same]) same += 1;
  const [old, found] = [was, is].map((line) => line.slice(Math.max(0, same - 80), same + 80));
  return [`${place}: line ${at + 1} differs at column ${same + 1}:\n  - ${old}\n  + ${found}`];
}

function countDifferences(before: readonly string[], after: readonly string[]): readonly string[] {
  const [known, found] = [entriesOf(before), entriesOf(after)];
  const blocks = new Map<string, string[]>();
  const counts: string[] = [];
  for (const key of new Set([...known.keys(), ...found.keys()])) {
    const [was, is] = [known.get(key) ?? new Map(), found.get(key) ?? new Map()];
    const changed = [...new Set([...was.keys(), ...is.keys()])].filter(
      (field) => was.get(field) !== is.get(field),
    );
    if (changed.length === 0) continue;
    const words = changed.map((field) => `${field} ${was.get(field) ?? 0} → ${is.get(field) ?? 0}`);
    const difference = `${changed.join(' and ')} differ`;
    if (/^\d/.test(key)) blocks.set(difference, [...(blocks.get(difference) ?? []), key]);
    else counts.push(`${key}: ${words.join(', ')}`);
  }
  const digests = [...blocks].map(([difference, ranges]) => {
    const more = ranges.length > 3 ? ` and ${ranges.length - 3} more blocks` : '';
    return `seeds ${ranges.slice(0, 3).join(', ')}${more}: ${difference}`;
  });
  return [...digests, ...counts];
}

type Fields = ReadonlyMap<string, string>;

/** Returns the fields of each line by its subject: `claim progress`, or a block's `25..49`. */
function entriesOf(lines: readonly string[]): ReadonlyMap<string, Fields> {
  return new Map(
    lines.map((line): [string, Fields] => {
      const [, from, plans, traces] = /^(\d+) (\w+) (\w+)$/.exec(line) ?? [];
      const block = `${from}..${Number(from) + BLOCK - 1}: plans=${plans} traces=${traces}`;
      const [key = '', text = ''] = (from === undefined ? line : block).split(': ');
      const fields = [...text.matchAll(/(\S+)=(\S+)/g)];
      return [key, new Map(fields.map(([, name = '', value = '']) => [name, value]))];
    }),
  );
}
