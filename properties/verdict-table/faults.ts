/**
 * The letters of the table's column of faults, each with its faults for a scenario with leases of a
 * given length. All of them fire by chance, so that they combine in many ways.
 */
import type { Json } from '../../src/core/kernel/json.ts';

/** One or two faults of a scenario file. */
export interface Letter {
  readonly letter: string;
  readonly faults: (time: Breath) => readonly Json[];
}

/** Times of a scenario for its faults, as text. */
export interface Breath {
  /** From a tenth of the ttl to three times the ttl. */
  readonly long: string;
  /** A small part of the ttl. */
  readonly short: string;
  /** Any time within the first five ttl. */
  readonly any: string;
  /** More than the ttl, in both directions. */
  readonly off: string;
  /** Less than the ttl, in both directions. */
  readonly within: string;
  /** More than the ttl, forward. */
  readonly ahead: string;
}

export function breathOf(ttlUs: number): Breath {
  const tenth = Math.ceil(ttlUs / 10);
  return {
    long: `${tenth}us..${30 * tenth}us`,
    short: `${tenth}us..${2 * tenth}us`,
    any: `0us..${50 * tenth}us`,
    off: `-${40 * tenth}us..${40 * tenth}us`,
    within: `-${9 * tenth}us..${9 * tenth}us`,
    ahead: `${10 * tenth}us..${40 * tenth}us`,
  };
}

const clients = 'clients';
const stores = 'stores';
const locks = 'locks';

function letter(name: string, faults: Letter['faults']): Letter {
  return { letter: name, faults };
}

/** A client is paused before it writes, or at any time. */
export const P: Letter = letter('P', ({ long, any }) => [
  { pause: { process: clients, before: 'write', for: long, chance: '1/2' } },
  { pause: { process: clients, at: any, for: long, chance: '1/4' } },
]);

export const P_BEFORE_WRITE: Letter = letter('P before the write', ({ long }) => [
  { pause: { process: clients, before: 'write', for: long, chance: '1/2' } },
]);

/** Before the client measures how long the attempt took. */
export const P_WHILE_ACQUIRING: Letter = letter('P before the check', ({ long, any }) => [
  { pause: { process: clients, at: any, for: long, chance: '1/2' } },
  { pause: { process: clients, before: 'acquire', for: long, chance: '1/4' } },
]);

export const P_AFTER_CHECK: Letter = letter('P after the check', ({ long }) => [
  { pause: { process: clients, after: 'checked', for: long, chance: '1/2' } },
]);

export const P_IN_RELEASE: Letter = letter('P in release', ({ long }) => [
  { pause: { process: clients, before: 'release', for: long, chance: '1/2' } },
]);

/** A Kubernetes leader reads the record before it gives up leadership. */
export const P_IN_RELEASE_GET: Letter = letter('P in release', ({ long }) => [
  { pause: { process: clients, before: 'release-get', for: long, chance: '1/2' } },
]);

function pauseAndDelay(name: string, pause: string): Letter {
  return letter(name, () => [
    { pause: { process: clients, before: 'write', for: pause, chance: '1/2' } },
    { delay: { message: 'write', leg: 'request', by: '1ms..30ms', chance: '1/2' } },
  ]);
}

/** A pause and a delay, together less than `LOCK_DELAY_MS`. */
export const P_R_WITHIN: Letter = pauseAndDelay('P + R < d', '1ms..25ms');

/** A pause and a delay that sometimes exceed `LOCK_DELAY_MS`. */
export const P_R_BEYOND: Letter = pauseAndDelay('P + R > d', '1ms..120ms');

export const LOCK_DELAY_MS = 60;

/** Messages to and from the lock are late. */
export const D: Letter = letter('D', ({ long }) => [
  { delay: { message: 'acquire', leg: 'request', by: long, chance: '1/4' } },
  { delay: { message: 'acquire', leg: 'reply', by: long, chance: '1/4' } },
  { delay: { message: 'release', leg: 'request', by: long, chance: '1/4' } },
]);

/** Requests for a lock are so late that the client has given up. */
export const D_OF_ACQUIRES: Letter = letter('D of acquires', ({ long }) => [
  { delay: { message: 'acquire', leg: 'request', by: long, chance: '1/2' } },
]);

/** Messages to the store are late. */
export const R: Letter = letter('R', ({ long }) => [
  { delay: { message: 'write', leg: 'request', by: long, chance: '1/2' } },
]);

/** Messages to replicas of a store: some get a message late, and one never. */
export const R_OF_REPLICAS: Letter = letter('R of replicas', ({ long, any }) => [
  { delay: { from: clients, to: stores, at: any, by: long, chance: '1/2' } },
]);

/** Two of three replicas may miss a write. */
export const L_OF_REPLICAS: Letter = letter('L of replicas', ({ any }) => [
  { drop: { from: clients, to: stores, at: any, chance: '3/4' } },
  { drop: { from: clients, to: stores, at: any, chance: '3/4' } },
]);

export const L: Letter = letter('L', () => [{ drop: { chance: '1/30' } }]);

/** Releases are lost, together with their connection. */
export const L_OF_RELEASES: Letter = letter('L of releases', () => [
  { drop: { message: 'release', leg: 'request', chance: '1/2' } },
]);

/** A client is granted the lock, does not learn of it, and stalls. */
export const L_OF_ANSWERS_AND_P: Letter = letter('L of answers, P', ({ long }) => [
  { drop: { message: 'acquire', leg: 'reply', chance: '3/4' } },
  { pause: { process: clients, after: 'acquire', for: long, chance: '3/4' } },
]);

/** Datagrams are duplicated and overtake each other. */
export const U: Letter = letter('U', ({ long }) => [{ duplicate: { by: long, chance: '1/8' } }]);

/** Connections are replaced, so a later message overtakes an earlier one. */
export const O: Letter = letter('O', () => [
  { reset: { from: clients, to: stores, before: 'write', chance: '1/2' } },
]);

/** Connections to the lock are replaced as their clients learn that they hold it. */
export const O_OF_LOCK: Letter = letter('O of the lock', () => [
  { reset: { from: clients, to: locks, after: 'acquire', chance: '3/4' } },
]);

/** Clocks of clients are off by more than a ttl. */
export const S: Letter = letter('S', ({ off }) => [
  { clock: { process: clients, at: '0us', step: off, chance: '1/2' } },
]);

/** By less than a ttl: a step longer than the rest of the lease is enough. */
export const S_WITHIN: Letter = letter('S < ttl', ({ within }) => [
  { clock: { process: clients, at: '0us', step: within, chance: '1/2' } },
]);

/** Clocks of clients differ by some milliseconds. */
export const S_SOME_MS: Letter = letter('S', () => [
  { clock: { process: clients, at: '0us', step: '-20ms..20ms', chance: '3/4' } },
]);

/** Clocks run too fast or too slow, within the drift that is declared. */
export const Q: Letter = letter('Q', () => [
  { clock: { process: clients, at: '0us', chance: '1/2' } },
  { clock: { process: locks, at: '0us', chance: '1/2' } },
]);

/** The clock of one node is set forward. */
export const J_ON_ONE_NODE: Letter = letter('J on one node', ({ any, ahead }) => [
  { clock: { process: 'lock-2', at: any, step: ahead } },
]);

/** The clocks of stores are set back. */
export const J_OF_STORES: Letter = letter('J', ({ any }) => [
  { clock: { process: stores, at: any, step: '-10ms..-1ms', chance: '3/4' } },
]);

export const C: Letter = letter('C', ({ short }) => [
  { crash: { process: clients, after: 'acquire', restart: short, chance: '1/4' } },
]);

export const C_FOR_EVER: Letter = letter('C', () => [
  { crash: { process: clients, after: 'acquire', chance: '1/3' } },
]);

export const CL: Letter = letter('CL', ({ any, short }) => [
  { crash: { process: locks, at: any, restart: short, chance: '3/4' } },
]);

export const CR: Letter = letter('CR', ({ short }) => [
  { crash: { process: stores, after: 'write', restart: short, chance: '2/3' } },
]);

export const F: Letter = letter('F', ({ short }) => [
  { failover: { process: locks, after: 'acquire', lag: short, chance: '2/3' } },
]);

export const E: Letter = letter('E', ({ any }) => [
  { evict: { process: locks, at: any, key: 'db', chance: '3/4' } },
]);

/** A client cannot reach the primary for a while. */
export const N: Letter = letter('N', ({ any, long }) => [
  { partition: { from: clients, to: ['lock'], at: any, for: long, chance: '1/2' } },
]);
