/** Compares plain data by content; the order of an object's fields does not matter. */
import type { Json } from '../core/kernel/json.ts';

/** A signed 32-bit integer, equal for data of equal content. */
export function hashContent(value: Json): number {
  if (typeof value === 'number') return mix(value | 0, Math.floor(value / 0x1_0000_0000) | 0);
  if (typeof value === 'string') return hashText(value);
  if (value === null) return 0x2c1b3c6d;
  if (typeof value === 'boolean') return value ? 0x297a2d39 : 0x5bd1e995;
  if (isList(value)) return value.reduce<number>((hash, item) => mix(hash, hashContent(item)), 1);
  let sum = 0;
  // Without the fields' names: to take them in costs more than the few collisions.
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

/** Of a long text only some characters, and its end, where texts that grew differ. */
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
