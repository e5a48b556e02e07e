/** Formats times, counts, lists, sentences and commands for output. Never locale-dependent. */

/** Formats virtual time in milliseconds for a table column: `12`, `12.5`, `12.345`. */
export function millisecondsOf(us: number): string {
  const text = (us / 1000).toFixed(3);
  return text.replace(/\.?0+$/, '');
}

/** Formats `1234567` as `1,234,567`. */
export function groupDigits(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Returns `1 seed` or `2 seeds`. */
export function countOf(count: number, noun: string): string {
  return `${groupDigits(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns `, token 2`, or '' if the token is 0 (a lock without tokens). */
export function tokenText(token: number): string {
  return token === 0 ? '' : `, token ${token}`;
}

/** Returns `one, two and three`. */
export function listOf(phrases: readonly string[], last: 'and' | 'or' = 'and'): string {
  if (phrases.length < 2) return phrases.join('');
  return `${phrases.slice(0, -1).join(', ')} ${last} ${phrases.at(-1)}`;
}

/** Capitalizes the first letter. */
export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Returns `clause` as a sentence that begins with `word`. Adds the word if it is missing. */
export function lead(word: string, clause: string): string {
  if (clause === '') return '';
  const [first = ''] = clause.split(/,? /);
  const begins = first.toLowerCase() === word.toLowerCase().replace(',', '');
  return sentence(begins ? clause : `${word} ${clause}`);
}

/** Capitalizes the clause and ends it with a period; '' stays ''. */
export function sentence(clause: string): string {
  if (clause === '') return '';
  const first = capitalized(clause);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/**
 * Start of every command that fencepost prints. Without `--no-install`, npx could fetch a package
 * of that name from the registry.
 */
export const FENCEPOST: readonly string[] = ['npx', '--no-install', 'fencepost'];

/** Quotes words so that a POSIX shell reads them back unchanged. */
export function shellWords(words: readonly string[]): readonly string[] {
  return words.map((word) =>
    word === '&&' || /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`,
  );
}
