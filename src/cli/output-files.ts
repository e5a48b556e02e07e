/**
 * What the files are called that commands write into their output folder: a plan for each kind of
 * failure, a page for each scenario, the journal of a sweep under way. Names come from users, so
 * each is made one that any file system takes, and two that would be the same are numbered.
 */
import { join } from 'node:path';
import type { Shard } from '../search/sweep/shards.ts';

/** Where the plan of a kind of failure is written; `systems` are all of the scenario's. */
export function planFileOf(
  { system, claim }: { readonly system: string; readonly claim: string },
  place: {
    readonly scenario: string;
    readonly systems: readonly string[];
    readonly output: string;
  },
): string {
  const own = ownName(system, place.systems);
  return join(place.output, `${fileName([place.scenario, own, claim])}.yaml`);
}

/** A name as part of a file's name, numbered where an earlier one of `names` gives the same. */
export function ownName(name: string, names: readonly string[]): string {
  const taken = new Set<string>();
  for (const other of [...names, name]) {
    const plain = fileName([other]);
    let own = plain;
    for (let number = 2; taken.has(own); number += 1) own = `${plain}-${number}`;
    if (other === name) return own;
    taken.add(own);
  }
  return fileName([name]);
}

/** Where the page of a scenario is written. */
export function pageFileOf(output: string, scenario: string): string {
  const name = fileName([scenario]);
  // What leads to all pages is called `index.html`.
  return join(output, `${name === 'index' ? 'index-2' : name}.html`);
}

/** Where the journal of a sweep is kept while it is under way. */
export function journalFileOf(output: string, scenario: string, shard: Shard | null): string {
  const part = shard === null ? [] : [`shard-${shard.index}-of-${shard.of}`];
  return join(output, `${fileName([scenario, ...part])}.journal`);
}

/**
 * Names as one that any file system takes: `zombie-writer-unfenced-linearizable-register`. A name
 * of which nothing can be taken, such as `..`, is `unnamed`.
 */
export function fileName(parts: readonly string[]): string {
  return parts
    .map((part) => part.replace(/[^\p{L}\p{N}_.]+/gu, '-').replace(/^[-.]+|-+$/g, ''))
    .map((part) => (part === '' ? 'unnamed' : part))
    .join('-');
}
