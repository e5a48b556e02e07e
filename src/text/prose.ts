/** How times, counts, lists, sentences and commands read. Never locale-dependent. */

/** An instant of virtual time in milliseconds, for a column: `12`, `12.5`, `12.345`. */
export function millisecondsOf(us: number): string {
  const text = (us / 1000).toFixed(3);
  return text.replace(/\.?0+$/, '');
}

/** `1234567` as `1,234,567`. */
export function groupDigits(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 seed`, `2 seeds`. */
export function countOf(count: number, noun: string): string {
  return `${groupDigits(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `, token 2`; '' for the 0 of a lock without tokens. */
export function tokenText(token: number): string {
  return token === 0 ? '' : `, token ${token}`;
}

/** `one, two and three`. */
export function listOf(phrases: readonly string[], last: 'and' | 'or' = 'and'): string {
  if (phrases.length < 2) return phrases.join('');
  return `${phrases.slice(0, -1).join(', ')} ${last} ${phrases.at(-1)}`;
}

/** With a capital letter. */
export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** A clause led by a word that it may already begin with. */
export function lead(word: string, clause: string): string {
  if (clause === '') return '';
  const begins = clause.toLowerCase().startsWith(`${word.toLowerCase()} `);
  return sentence(begins ? clause : `${word} ${clause}`);
}

/** With a capital and a full stop; '' stays ''. */
export function sentence(clause: string): string {
  if (clause === '') return '';
  const first = capitalized(clause);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/**
 * How every command that is printed begins: in a folder where fencepost is not installed, npx would
 * else fetch whatever has that name in the registry.
 */
export const FENCEPOST: readonly string[] = ['npx', '--no-install', 'fencepost'];

/** Words that a POSIX shell reads back as they are. */
export function shellWords(words: readonly string[]): readonly string[] {
  return words.map((word) =>
    word === '&&' || /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`,
  );
}
