/**
 * Assigns small numbers to data, from 0 in the order of first use. Equal data gets the same number.
 * Data is compared by content, regardless of the order of an object's fields.
 */
import type { Json } from '../core/kernel/json.ts';
import { Integers } from './integers.ts';

const smallest = 256;
/** Estimated bytes per text in the map, and per value in the lists. */
const bytesOfText = 64;
const bytesOfPlaces = 64;

export class Interner {
  readonly values: Json[] = [];
  /** The numbers of texts. A `Map` is faster for these, since it uses the engine's hashes. */
  private readonly texts: Map<string, number> = new Map();
  private readonly hashes = new Integers();
  /**
   * A hash table with open addressing, whose size is a power of two. A place contains a number plus
   * one, or 0 if it is free.
   */
  private readonly places = new Integers();
  private valueBytes = 0;

  reset(): void {
    this.valueBytes = 0;
    this.values.length = 0;
    this.hashes.clear();
    this.texts.clear();
    this.places.reset(smallest, 0);
  }

  /** Returns the number of `value`. A new value gets the previous `values.length`. */
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

  /** An estimate, since the size of a value cannot be measured. */
  get bytes(): number {
    return this.hashes.bytes + this.places.bytes + this.valueBytes;
  }

  /** Bytes to allocate for about a sixteenth more values; 0 if there is space. */
  get bytesToGrow(): number {
    const { hashes, places } = this;
    const more = hashes.length + (hashes.length >> 4);
    return hashes.bytesToHold(more) + (2 * more > places.length ? 2 * places.bytes : 0);
  }
}

/**
 * Estimates the bytes allocated for a value, without its reference. Includes an equal amount of
 * garbage that is not yet collected.
 */
function bytesOf(value: Json): number {
  if (typeof value === 'string') return 64 + value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = 128;
  for (const item of Object.values<Json>(value)) bytes += 16 + bytesOf(item);
  return bytes;
}

/** Returns a signed 32-bit integer that is equal for data of equal content. */
export function hashContent(value: Json): number {
  if (typeof value === 'number') return mix(value | 0, Math.floor(value / 0x1_0000_0000) | 0);
  if (typeof value === 'string') return hashText(value);
  if (value === null) return 0x2c1b3c6d;
  if (typeof value === 'boolean') return value ? 0x297a2d39 : 0x5bd1e995;
  if (isList(value)) return value.reduce<number>((hash, item) => mix(hash, hashContent(item)), 1);
  let sum = 0;
  // Omits the names of fields: hashing them costs more than the few collisions.
  for (const field in value) sum = (sum + hashContent(value[field] ?? null)) | 0;
  return sum;
}

export function hasSameContent(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (isList(a)) {
    if (!isList(b) || a.length !== b.length) return false;
    return a.every((item, index) => hasSameContent(item, b[index] ?? null));
  }
  if (isList(b)) return false;
  let fields = 0;
  for (const field in a) {
    const other = Object.hasOwn(b, field) ? b[field] : undefined;
    if (other === undefined || !hasSameContent(a[field] ?? null, other)) return false;
    fields += 1;
  }
  for (const _ in b) fields -= 1;
  return fields === 0;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** Hashes samples and the end of a long text. Texts that grew by appends differ at the end. */
function hashText(text: string): number {
  let hash = text.length;
  const step = 1 + (text.length >>> 5);
  for (let index = 0; index < text.length; index += step) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  if (step === 1) return hash;
  for (let index = text.length - 16; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
}

function mix(hash: number, value: number): number {
  const bits = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b) + value;
  const mixed = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
