/**
 * Chance keyed by identity: every draw depends only on the seed and a name, never on earlier draws.
 * Removing a client, an operation or a fault leaves all other draws unchanged. Shrinking, old seeds
 * and handwritten plans depend on this. Uses integers only.
 */
import alea from 'seedrandom/lib/alea.js';
import { type Name, under } from './name.ts';

/** Quantities drawn for a name, each independently. The numbers are part of the format. */
export const draws = {
  latency: 1,
  delay: 2,
  delayLength: 3,
  drop: 4,
  duplicate: 5,
  duplicateLength: 6,
  late: 7,
  lateLength: 8,
  jitter: 9,
  tie: 10,
  stream: 11,
} as const;

type Draw = (typeof draws)[keyof typeof draws];

/** The finalizer of MurmurHash3 (Appleby): each input bit flips about half of the output bits. */
export function mix(value: number): number {
  let bits = value ^ (value >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/**
 * Returns a safe integer from 1 to 2^52 that depends only on `name` and `label`. The order of the
 * integers has no meaning, and collisions are not expected.
 */
export function randomOf(name: Name, label: string): number {
  return (mix(under(name, label).hash) >>> 12) * 0x1_0000_0000 + mix(name.hash) + 1;
}

export class Chance {
  private readonly root: number;

  /** `seed` is a safe non-negative integer. */
  constructor(seed: number) {
    this.root = alea(String(seed)).int32();
  }

  /** Draws an unsigned 32-bit integer. */
  bits(name: Name, draw: Draw): number {
    return mix(mix(this.root ^ name.hash) + Math.imul(draw, 0x9e3779b1));
  }

  /**
   * Draws `minUs` plus a multiple of `stepUs`, at most `maxUs`. The range may have at most 2³² − 1
   * steps; the modulo bias is below 0.1 % for ranges under 4 s.
   */
  within(
    name: Name,
    draw: Draw,
    range: { readonly minUs: number; readonly maxUs: number },
    stepUs = 1,
  ): number {
    const steps = Math.floor((range.maxUs - range.minUs) / stepUs) + 1;
    return range.minUs + (this.bits(name, draw) % steps) * stepUs;
  }

  /** Draws true with a probability of `numerator` in `denominator`. */
  happens(
    name: Name,
    draw: Draw,
    odds: { readonly numerator: number; readonly denominator: number },
  ): boolean {
    return this.bits(name, draw) % odds.denominator < odds.numerator;
  }
}
