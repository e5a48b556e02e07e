/**
 * The random values that a simulated process draws. Each kind of draw has its own stream, so draws
 * of one kind do not change the others.
 */
import { mix } from '../../core/kernel/chance.ts';
import { nameOf } from '../../core/kernel/name.ts';

/** Odd, so that the counter passes through all 32-bit integers. */
const STEP = 0x9e3779b9;

/** Returns a function that yields unsigned 32-bit integers. */
function streamOf(root: number): () => number {
  let drawn = 0;
  return () => {
    drawn += 1;
    return mix(mix(root + Math.imul(drawn, STEP)) ^ root);
  };
}

const KINDS = ['number', 'bytes', 'uuid', 'integer'] as const;

export type DrawKind = (typeof KINDS)[number];

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
);

const TWO_21 = 0x200000;
const TWO_32 = 0x100000000;

export class Randomness {
  private readonly streams: ReadonlyMap<DrawKind, () => number>;

  /** Creates the set of streams with this number for one incarnation of a process. */
  constructor(process: string, { number, incarnation }: { number: number; incarnation: number }) {
    this.streams = new Map(
      KINDS.map((kind) => [
        kind,
        streamOf(mix(nameOf(`${process}/${incarnation}/${kind}`).hash ^ number)),
      ]),
    );
  }

  private bits(kind: DrawKind): number {
    return this.streams.get(kind)?.() ?? 0;
  }

  /** Returns a number from 0 (inclusive) to 1 (exclusive) with 53 random bits. */
  fraction(kind: DrawKind = 'number'): number {
    const high = this.bits(kind) >>> 11;
    return (high * TWO_32 + this.bits(kind)) / (TWO_21 * TWO_32);
  }

  fill(bytes: Uint8Array, kind: DrawKind = 'bytes'): void {
    let word = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      word = at % 4 === 0 ? this.bits(kind) : word >>> 8;
      bytes[at] = word & 0xff;
    }
  }

  /** Returns an integer from `min` (inclusive) to `max` (exclusive). */
  integer(min: number, max: number): number {
    return min + Math.floor(this.fraction('integer') * (max - min));
  }

  /** Returns a UUID (RFC 9562): version 7 with `atMs`, milliseconds since 1970, else version 4. */
  uuid(atMs: number | null = null): `${string}-${string}-${string}-${string}-${string}` {
    const bytes = new Uint8Array(16);
    this.fill(bytes, 'uuid');
    const version = atMs === null ? 0x40 : 0x70;
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | version;
    for (let at = 5, left = Math.floor(atMs ?? 0); atMs !== null && at >= 0; at--) {
      bytes[at] = left % 256;
      left = Math.floor(left / 256);
    }
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    let hex = '';
    for (const byte of bytes) hex += HEX[byte] ?? '';
    const [a, b, c] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16)];
    return `${a}-${b}-${c}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }
}
