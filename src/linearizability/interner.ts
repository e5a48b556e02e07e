/**
 * Gives equal data equal small numbers, counted from 0 in the order in which they are first met.
 */
import type { Json } from '../core/kernel/json.ts';
import { hashContent, hasSameContent } from './content.ts';
import { Integers } from './integers.ts';

const smallest = 256;
/** What a text takes in the map, and any value in the lists that hold it. */
const bytesOfText = 64;
const bytesOfPlaces = 64;

export class Interner {
  readonly values: Json[] = [];
  /** The numbers of texts, whose own hashes are quicker. */
  private readonly texts: Map<string, number> = new Map();
  private readonly hashes = new Integers();
  /** Open addressing: a number plus one, or 0 for a free place. Its size is a power of two. */
  private readonly places = new Integers();
  private valueBytes = 0;

  reset(): void {
    this.valueBytes = 0;
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
    this.valueBytes += bytesOfPlaces + bytesOf(value);
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
    this.valueBytes += bytesOfPlaces + bytesOfText + bytesOf(text);
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
    return this.hashes.bytes + this.places.bytes + this.valueBytes;
  }

  /** How many bytes it takes to hold some more values beside those it holds; 0: it has room. */
  get bytesToGrow(): number {
    const { hashes, places } = this;
    const more = hashes.length + (hashes.length >> 4);
    return hashes.bytesToHold(more) + (2 * more > places.length ? 2 * places.bytes : 0);
  }
}

/**
 * About how many bytes an engine takes for a value, beside the place that refers to it, and for as
 * many that nobody needs any more and that it has not collected yet.
 */
function bytesOf(value: Json): number {
  if (typeof value === 'string') return 64 + value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = 128;
  for (const item of Object.values<Json>(value)) bytes += 16 + bytesOf(item);
  return bytes;
}
