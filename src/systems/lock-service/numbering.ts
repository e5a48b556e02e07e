/** How the tokens of a lock service follow one another: as they should, and three ways to err. */
import { assert } from '../../core/kernel/assert.ts';

/**
 * `double`: a 64-bit counter whose tokens pass through a double on their way; `32-bit`: a signed
 * counter of 32 bits, which wraps; `random`: opaque ids, each different.
 */
export const NUMBERINGS = ['exact', 'double', '32-bit', 'random'] as const;

export type Numbering = (typeof NUMBERINGS)[number];

/** The token that follows `before` others, where the `first` is the very first. */
export function tokenOf(
  numbering: Numbering,
  { first, before }: { readonly first: number; readonly before: number },
): number {
  switch (numbering) {
    case 'exact': {
      const token = first + before;
      assert(Number.isSafeInteger(token), 'a token is a safe integer; begin with a lower one');
      return token;
    }
    case 'double':
      return Number(BigInt(first) + BigInt(before));
    case '32-bit':
      return (first + before) | 0;
    case 'random':
      return scatter(first + before);
  }
}

/** A one-to-one mixing of 32 bits (MurmurHash3's last step), above 0. */
function scatter(number: number): number {
  let bits = number | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) + 1;
}
