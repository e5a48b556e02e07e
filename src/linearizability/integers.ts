/**
 * A growable array of 32-bit integers that keeps its memory when it is cleared, to be used again.
 */
export class Integers {
  length = 0;
  private data = new Int32Array(64);

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
    const wider = new Int32Array(Math.max(size, 2 * this.data.length));
    wider.set(this.data);
    this.data = wider;
  }

  /** How many bytes more it needs at once when it becomes `size` long: one longer by default. */
  bytesToPush(size: number = this.length + 1): number {
    return size <= this.data.length ? 0 : 4 * Math.max(size, 2 * this.data.length);
  }

  /** Makes it `size` integers long, each equal to `value`. */
  reset(size: number, value: number): void {
    this.reserve(size);
    this.data.fill(value, 0, size);
    this.length = size;
  }

  /** Makes it `size` integers long, those beyond the old length equal to `value`. */
  extend(size: number, value: number): void {
    this.reserve(size);
    this.data.fill(value, this.length, size);
    this.length = size;
  }

  copy(): Int32Array {
    return this.data.slice(0, this.length);
  }

  toArray(): number[] {
    return Array.from(this.data.subarray(0, this.length));
  }

  get bytes(): number {
    return this.data.byteLength;
  }
}
