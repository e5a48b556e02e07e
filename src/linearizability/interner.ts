/**
 * Gives equal data equal small numbers, counted from 0 in the order in which they are first met.
 */
import type { Json } from '../kernel/json.ts';
import { hashContent, hasSameContent } from './content.ts';
import { Integers } from './integers.ts';

const smallest = 256;
const bytesOfValue = 64;

export class Interner {
  readonly values: Json[] = [];
  /** The numbers of texts, whose own hashes are quicker. */
  private readonly texts: Map<string, number> = new Map();
  private readonly hashes = new Integers();
  /** Open addressing: a number plus one, or 0 for a free place. Its size is a power of two. */
  private readonly places = new Integers();

  reset(): void {
    this.values.length = 0;
    this.hashes.clear();
    this.texts.clear();
    this.places.reset(smallest, 0);
  }

  /** The number of `value`; a new one when it is `values.length` before the call. */
  intern(value: Json): number {
    if (typeof value === 'string') return this.internText(value);
    const hash = hashContent(value);
    const place = this.find(hash, value);
    const known = this.places.get(place);
    if (known !== 0) return known - 1;
    this.values.push(value);
    this.hashes.push(hash);
    this.places.set(place, this.values.length);
    if (2 * this.values.length > this.places.length) this.widen();
    return this.values.length - 1;
  }

  private internText(text: string): number {
    const known = this.texts.get(text);
    if (known !== undefined) return known;
    this.texts.set(text, this.values.length);
    this.values.push(text);
    this.hashes.push(0);
    return this.values.length - 1;
  }

  private find(hash: number, value: Json): number {
    const mask = this.places.length - 1;
    let place = hash & mask;
    for (;;) {
      const known = this.places.get(place) - 1;
      if (known < 0) return place;
      if (this.hashes.get(known) === hash) {
        const other = this.values[known];
        if (other !== undefined && hasSameContent(other, value)) return place;
      }
      place = (place + 1) & mask;
    }
  }

  private widen(): void {
    this.places.reset(2 * this.places.length, 0);
    const mask = this.places.length - 1;
    for (let known = 0; known < this.values.length; known++) {
      if (typeof this.values[known] === 'string') continue;
      let place = this.hashes.get(known) & mask;
      while (this.places.get(place) !== 0) place = (place + 1) & mask;
      this.places.set(place, known + 1);
    }
  }

  /** About how many, since nobody can tell the size of a value. */
  get bytes(): number {
    return this.hashes.bytes + this.places.bytes + bytesOfValue * this.values.length;
  }
}
