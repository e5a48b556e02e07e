// Reads the records of one step of `npm run mutation` for the next: lines of JSON.
import { readdirSync, readFileSync } from 'node:fs';

export function linesOf(path) {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Returns the duration and the passed mutants of each test, the quickest first. */
export function reachNotes(folder) {
  return reachLines(folder)
    .filter(({ test }) => test !== undefined)
    .sort((a, b) => a.ms - b.ms || (a.test < b.test ? -1 : 1));
}

export function reachLines(folder) {
  return readdirSync(folder)
    .filter((name) => /^reach-.*jsonl$/.test(name))
    .sort()
    .flatMap((name) => linesOf(`${folder}/${name}`));
}
