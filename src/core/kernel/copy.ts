/** Copies plain data, so that messages are never shared by reference. */
import type { Json } from './json.ts';

export function copy<T extends Json>(value: T): T;
export function copy(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((item) => copy(item));
  const twin: { [key: string]: Json } = {};
  for (const key in value) {
    const part = value[key];
    if (part === undefined) continue;
    const same = typeof part === 'object' ? copy(part) : part;
    // Plain assignment to `__proto__` would set the prototype instead of adding a key.
    if (key === '__proto__') {
      const descriptor = { value: same, configurable: true, enumerable: true, writable: true };
      Object.defineProperty(twin, key, descriptor);
    } else twin[key] = same;
  }
  return twin;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
