/**
 * The numbers of `math.random`, as Redis draws them: `drand48`, one stream for all scripts of a
 * node, the same after each of its starts.
 */

const MULTIPLIER = 0x5deece66dn;
const INCREMENT = 0xbn;
const BITS_48 = (1n << 48n) - 1n;
const LOW_WORD = 0x330en;
const START = 0x1234_abcd_330en;

export class LuaChance {
  private current: bigint = START;

  /** Begins anew. */
  seed(seed: number): void {
    this.current = (BigInt.asUintN(32, BigInt(Math.trunc(seed))) << 16n) | LOW_WORD;
  }

  /** In [0, 1), in steps of 2⁻³¹. */
  draw(): number {
    this.current = (this.current * MULTIPLIER + INCREMENT) & BITS_48;
    const most = 0x7fff_ffff;
    return (Number(this.current >> 17n) % most) / most;
  }
}
