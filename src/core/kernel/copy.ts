/** Copies plain data, so that what crosses the network is never shared by reference. */
import type { Json } from './json.ts';

export function copy<T extends Json>(value: T): T;
export function copy(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((item) => copy(item));
  const twin: { [key: string]: Json } = {};
  for (const key in value) {
    const part = value[key];
    if (part !== undefined) twin[key] = typeof part === 'object' ? copy(part) : part;
  }
  return twin;
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
