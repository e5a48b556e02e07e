// Reads equivalent.json: mutants that no test can catch, each with its reason.
import { readFileSync } from 'node:fs';

/**
 * Reads the entries of a list. Throws, with the lines, for an entry whose text occurs at several
 * places or at none: it would not identify a mutant.
 */
export function readEquivalents(path) {
  const entries = JSON.parse(readFileSync(path, 'utf8'));
  const wrong = entries.flatMap((entry) => {
    const found = linesOfEntry(entry, readFileSync(entry.file, 'utf8'));
    return found.length === 1 ? [] : [mistakeIn(entry, found)];
  });
  if (wrong.length > 0) throw new Error(`${path}:\n${wrong.join('\n')}`);
  return entries;
}

function mistakeIn({ file, original, within }, lines) {
  const what = `${file}: \`${original}\`${within === undefined ? '' : ` within \`${within}\``}`;
  if (lines.length === 0) return `${what} is nowhere`;
  return `${what} is at lines ${lines.join(', ')}: say by "within" which one is meant`;
}

/** Returns the lines, from 1, at which an entry finds its text in the file. */
export function linesOfEntry({ original, within }, text) {
  const lines = [];
  for (let at = text.indexOf(original); at >= 0; at = text.indexOf(original, at + 1)) {
    // A part of a longer name is another expression.
    const isPart = /^\w/.test(original.slice(0, 1)) && /[\w.]/.test(text.charAt(at - 1));
    const isType = /^\W/.test(original) && /\w/.test(text.charAt(at - 1));
    const line = text.slice(0, at).split('\n').length;
    if (!isPart && !isType && isWithin(text, line, within)) lines.push(line);
  }
  return lines;
}

export function isEquivalent({ file, line, original, replacement }, entries) {
  const text = readFileSync(file, 'utf8');
  return entries.some(
    (one) =>
      one.file === file &&
      one.original === original &&
      one.replacement === replacement &&
      isWithin(text, line, one.within),
  );
}

/** Returns true if the line contains `within`; with a line break, adjacent lines are included. */
function isWithin(text, line, within = '') {
  const reach = within.includes('\n') ? 1 : 0;
  const around = text.split('\n').slice(Math.max(0, line - 1 - reach), line + reach);
  return around.join('\n').includes(within);
}
