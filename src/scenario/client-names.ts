/** The names that clients, locks, keys and stores have when a scenario only counts them. */
import type { ReadNames } from './scenario-file.ts';

const CLIENTS = [
  ...['alice', 'bob', 'carol', 'dave', 'erin', 'frank', 'grace', 'heidi', 'ivan', 'judy'],
  ...['kim', 'leo', 'mallory', 'nina', 'olivia', 'peggy', 'quinn', 'rupert', 'sybil', 'trent'],
  ...['uma', 'victor', 'walter', 'xena', 'yuri', 'zoe'],
];

/** `alice`, `bob`, … and from the 27th on `client-27`. */
export function clientNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => CLIENTS[at] ?? `client-${at + 1}`);
}

/** Those given; or `base` for one, and `base-1`, `base-2`, … for more. */
export function namesOf(read: ReadNames | undefined, base: string): readonly string[] {
  if (read === undefined || read === 1) return [base];
  if (typeof read !== 'number') return read;
  return Array.from({ length: read }, (_, at) => `${base}-${at + 1}`);
}
