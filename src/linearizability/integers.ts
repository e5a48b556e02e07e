/** A growable array of 32-bit integers. Clearing the array keeps its memory. */
const smallest = 64;
/** Larger arrays grow in smaller steps, since growing needs a copy in memory. */
const large = 1 << 21;

export class Integers {
  length = 0;
  private data = new Int32Array(smallest);

  /** Returns 0 beyond the last integer that was ever set. */
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

  /** Removes and returns the last integer, which must exist. */
  pop(): number {
    return this.get(--this.length);
  }

  clear(): void {
    this.length = 0;
  }

  /** Reserves space for `size` integers. Integers beyond the length have arbitrary values. */
  reserve(size: number): void {
    if (size <= this.data.length) return;
    const wider = new Int32Array(this.capacityFor(size));
    wider.set(this.data);
    this.data = wider;
  }

  /** Returns the bytes that `reserve(size)` would allocate. */
  bytesToHold(size: number): number {
    return size <= this.data.length ? 0 : 4 * this.capacityFor(size);
  }

  private capacityFor(size: number): number {
    const factor = this.data.length < large ? 2 : 1.25;
    return Math.max(size, Math.ceil(factor * this.data.length));
  }

  /** Sets the length to `size` and every integer to `value`, discarding the contents. */
  reset(size: number, value: number): void {
    // Unlike `reserve`, does not copy the old contents.
    if (size > this.data.length) this.data = new Int32Array(size);
    this.data.fill(value, 0, size);
    this.length = size;
  }

  /** Extends the length to `size`; the new integers equal `value`. */
  extend(size: number, value: number): void {
    this.reserve(size);
    this.data.fill(value, this.length, size);
    this.length = size;
  }

  /** Returns the contents and releases the memory, leaving the array empty. */
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
