/** How times and counts read in a sentence: `10 ms`, `1,000`. Never locale-dependent. */

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
