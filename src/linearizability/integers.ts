/** A growable array of 32-bit integers that keeps its memory when it is cleared. */
const smallest = 64;
/** Beyond so many it grows by less, since old and new are in memory together. */
const large = 1 << 21;

export class Integers {
  length = 0;
  private data = new Int32Array(smallest);

  /** 0 beyond what was ever set. */
  get(index: number): number {
    return this.data[index] ?? 0;
  }

  /** `index` must be below the reserved size. */
  set(index: number, value: number): void {
    this.data[index] = value;
  }

  push(value: number): void {
    if (this.length === this.data.length) this.reserve(this.length + 1);
    this.data[this.length++] = value;
  }

  /** The last one, which must exist. */
  pop(): number {
    return this.get(--this.length);
  }

  clear(): void {
    this.length = 0;
  }

  /** Makes room for `size` integers; what is beyond the length may hold anything. */
  reserve(size: number): void {
    if (size <= this.data.length) return;
    const wider = new Int32Array(this.capacityFor(size));
    wider.set(this.data);
    this.data = wider;
  }

  /** How many bytes it takes, beside the old ones, to hold `size` integers; 0: it has room. */
  bytesToHold(size: number): number {
    return size <= this.data.length ? 0 : 4 * this.capacityFor(size);
  }

  private capacityFor(size: number): number {
    const factor = this.data.length < large ? 2 : 1.25;
    return Math.max(size, Math.ceil(factor * this.data.length));
  }

  /** Makes it `size` integers long, each equal to `value`. What it held is lost. */
  reset(size: number, value: number): void {
    // The old ones are let go first, so that they need not be in memory together.
    if (size > this.data.length) this.data = new Int32Array(size);
    this.data.fill(value, 0, size);
    this.length = size;
  }

  /** Makes it `size` integers long, those beyond the old length equal to `value`. */
  extend(size: number, value: number): void {
    this.reserve(size);
    this.data.fill(value, this.length, size);
    this.length = size;
  }

  /** Gives its memory away and is empty. */
  take(): Int32Array {
    const taken = this.data.subarray(0, this.length);
    this.data = new Int32Array(smallest);
    this.length = 0;
    return taken;
  }

  toArray(): number[] {
    return Array.from(this.data.subarray(0, this.length));
  }

  get bytes(): number {
    return this.data.byteLength;
  }
}
