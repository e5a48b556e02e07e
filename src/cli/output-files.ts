/**
 * Names the files that commands write into their output folder: a plan per kind of failure, a page
 * per scenario, the journal of a running sweep. Since names come from users, each is converted to a
 * portable file name, and conflicting names are numbered.
 */
import { join } from 'node:path';
import type { Shard } from '../search/sweep/shards.ts';

/** Returns the file for the plan of a failure. `systems` are all systems of the scenario. */
export function planFileOf(
  { system, claim }: { readonly system: string; readonly claim: string },
  place: {
    readonly scenario: string;
    readonly systems: readonly string[];
    readonly output: string;
  },
): string {
  const unique = uniqueName(system, place.systems);
  return join(place.output, `${fileName([place.scenario, unique, claim])}.yaml`);
}

/** Converts a name to a file name, numbered if an earlier one of `names` conflicts. */
export function uniqueName(name: string, names: readonly string[]): string {
  const taken = new Set<string>();
  for (const other of [...names, name]) {
    const plain = fileName([other]);
    let unique = plain;
    for (let number = 2; taken.has(unique); number += 1) unique = `${plain}-${number}`;
    if (other === name) return unique;
    taken.add(unique);
  }
  return fileName([name]);
}

/** Returns the file for the page of a scenario. */
export function pageFileOf(output: string, scenario: string): string {
  const name = fileName([scenario]);
  // `index.html` is the page with links to all others.
  return join(output, `${name === 'index' ? 'index-2' : name}.html`);
}

/** Returns the file for the journal of a running sweep. */
export function journalFileOf(output: string, scenario: string, shard: Shard | null): string {
  const part = shard === null ? [] : [`shard-${shard.index}-of-${shard.of}`];
  return join(output, `${fileName([scenario, ...part])}.journal`);
}

/**
 * Joins names to a portable file name: `zombie-writer-unfenced-linearizable-register`. A name
 * without any usable character, such as `..`, becomes `unnamed`.
 */
export function fileName(parts: readonly string[]): string {
  return parts
    .map((part) => part.replace(/[^\p{L}\p{N}_.]+/gu, '-').replace(/^[-.]+|-+$/g, ''))
    .map((part) => (part === '' ? 'unnamed' : part))
    .join('-');
}
