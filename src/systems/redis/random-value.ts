/**
 * The random value by which an acquisition is told from all others. Redis' clients draw 20 random
 * bytes; here it is a function of the acquisition's name, so that equal plans give equal runs.
 */
import { type Name, under } from '../../core/kernel/name.ts';

const HIGH_BITS = 20;

/** A safe integer of 52 bits from 1, in no order; two names with the same one are not to be met. */
export function randomValue(acquisition: Name): number {
  const low = mixed(acquisition.hash) >>> 0;
  const high = mixed(under(acquisition, 'value').hash) >>> (32 - HIGH_BITS);
  return high * 0x1_0000_0000 + low + 1;
}

/** The finalizer of MurmurHash3: each bit of the input changes half of those of the result. */
function mixed(hash: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return second ^ (second >>> 16);
}
