/**
 * Decompresses DEFLATE data (RFC 1951) synchronously. The decompression API of browsers is
 * asynchronous: the controls would become active late and miss a reader's first click.
 */

/** The number of extra bits for the length of a copy, by symbol minus 257. */
const LENGTH_BITS = [
  0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
];
const DISTANCE_BITS = [0, 0, 0, 0, ...Array.from({ length: 26 }, (_, at) => (at >> 1) + 1)];
/** The order in which a block stores the lengths of the codes for code lengths. */
const LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** Returns the first value of each symbol. The ranges of symbols are contiguous. */
function bases(bits: readonly number[], first: number): readonly number[] {
  let next = first;
  return bits.map((count) => {
    const base = next;
    next += 2 ** count;
    return base;
  });
}

// The last symbol stands only for the longest copy, 258.
const LENGTH_BASES = [...bases(LENGTH_BITS.slice(0, 28), 3), 258];
const DISTANCE_BASES = bases(DISTANCE_BITS, 1);

/** A Huffman code: the number of codes of each length, and the symbols in code order. */
interface Code {
  readonly counts: readonly number[];
  readonly symbols: readonly number[];
}

function codeOf(lengths: readonly number[]): Code {
  const counts = Array.from({ length: 16 }, () => 0);
  for (const length of lengths) counts[length] = (counts[length] ?? 0) + 1;
  counts[0] = 0;
  const symbols = lengths
    .map((length, symbol) => ({ length, symbol }))
    .filter(({ length }) => length > 0)
    .sort((a, b) => a.length - b.length || a.symbol - b.symbol)
    .map(({ symbol }) => symbol);
  return { counts, symbols };
}

const lengthsOf = (...runs: readonly (readonly [number, number])[]): readonly number[] =>
  runs.flatMap(([length, times]) => Array.from({ length: times }, () => length));

const FIXED = [
  codeOf(lengthsOf([8, 144], [9, 112], [7, 24], [8, 8])),
  codeOf(lengthsOf([5, 30])),
] as const;

/** Decompresses `packed` to `size` bytes. The data must be undamaged. */
export function inflate(packed: Uint8Array, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  const reader = new BitReader(packed);
  let end = 0;
  for (let isLast = false; !isLast; ) {
    isLast = reader.take(1) === 1;
    const kind = reader.take(2);
    if (kind === 0) {
      const stored = reader.stored();
      bytes.set(stored, end);
      end += stored.length;
    } else {
      end = unpackBlock(reader, kind === 1 ? FIXED : codesIn(reader), bytes, end);
    }
  }
  return bytes;
}

function unpackBlock(
  reader: BitReader,
  [literals, distances]: readonly [Code, Code],
  bytes: Uint8Array,
  from: number,
): number {
  let end = from;
  for (;;) {
    const symbol = reader.symbol(literals);
    if (symbol === 256) return end;
    if (symbol < 256) {
      bytes[end] = symbol;
      end += 1;
      continue;
    }
    const length = reader.value(LENGTH_BASES, LENGTH_BITS, symbol - 257);
    const distance = reader.value(DISTANCE_BASES, DISTANCE_BITS, reader.symbol(distances));
    // Copy byte by byte, since source and target may overlap.
    for (let left = length; left > 0; left -= 1, end += 1) bytes[end] = bytes[end - distance] ?? 0;
  }
}

function codesIn(reader: BitReader): readonly [Code, Code] {
  const literals = reader.take(5) + 257;
  const distances = reader.take(5) + 1;
  const width = reader.take(4) + 4;
  const ofLengths = Array.from({ length: 19 }, () => 0);
  for (const symbol of LENGTH_ORDER.slice(0, width)) ofLengths[symbol] = reader.take(3);
  const code = codeOf(ofLengths);
  const lengths: number[] = [];
  while (lengths.length < literals + distances) {
    const symbol = reader.symbol(code);
    const repeated = symbol === 16 ? (lengths.at(-1) ?? 0) : 0;
    const times = [3 + reader.takeIf(symbol === 16, 2), 3 + reader.takeIf(symbol === 17, 3)];
    const long = 11 + reader.takeIf(symbol === 18, 7);
    if (symbol < 16) lengths.push(symbol);
    else lengths.push(...lengthsOf([repeated, [...times, long][symbol - 16] ?? 0]));
  }
  return [codeOf(lengths.slice(0, literals)), codeOf(lengths.slice(literals))];
}

class BitReader {
  private readonly packed: Uint8Array;
  private at = 0;
  private bits = 0;
  private count = 0;

  constructor(packed: Uint8Array) {
    this.packed = packed;
  }

  /** Takes `count` bits, at most 16, the lowest first. */
  take(count: number): number {
    while (this.count < count) {
      this.bits |= (this.packed[this.at] ?? 0) << this.count;
      this.at += 1;
      this.count += 8;
    }
    const taken = this.bits & (2 ** count - 1);
    this.bits >>>= count;
    this.count -= count;
    return taken;
  }

  takeIf(isTaken: boolean, count: number): number {
    return isTaken ? this.take(count) : 0;
  }

  value(firsts: readonly number[], more: readonly number[], symbol: number): number {
    return (firsts[symbol] ?? 0) + this.take(more[symbol] ?? 0);
  }

  /** Decodes a symbol. Codes of one length are consecutive and follow the shorter codes. */
  symbol({ counts, symbols }: Code): number {
    let code = 0;
    let first = 0;
    let before = 0;
    for (let length = 1; length < 16; length += 1) {
      code |= this.take(1);
      const count = counts[length] ?? 0;
      if (code - first < count) return symbols[before + code - first] ?? 0;
      before += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw new Error('the script of this page is damaged');
  }

  /** Reads an uncompressed block at a byte boundary: its length, the complement, and the data. */
  stored(): Uint8Array {
    this.at -= this.count >> 3;
    this.bits = 0;
    this.count = 0;
    const length = this.take(16);
    this.take(16);
    this.at += length;
    return this.packed.subarray(this.at - length, this.at);
  }
}
