/** Integers as Redis reads them: 64 bits, in the one way of writing each. */

const LEAST = -(2n ** 63n);
const MOST = 2n ** 63n - 1n;

/** Null for whatever is not written as Redis itself would write it, or is out of range. */
export function readInteger(text: string): bigint | null {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return null;
  const value = BigInt(text);
  return isInRange(value) ? value : null;
}

/** Whether it has 64 bits or fewer. */
export function isInRange(value: bigint): boolean {
  return value >= LEAST && value <= MOST;
}
