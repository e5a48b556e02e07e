/**
 * Formats data as JSON with sorted keys, and from it computes the digest of a trace like
 * `digestOf`, in less than half of the time, which dominates a freeze.
 */
import { createHash } from 'node:crypto';
import type { Trace } from '../../src/core/history/trace.ts';

type Order = readonly (readonly [key: string, head: string])[];

/** Sorted keys by an object's keys in their order: there are few such shapes. */
const orders: Map<string, Order> = new Map();

/** Formats data; undefined fields are left out. */
export function sortedText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(sortedText).join()}]`;
  const keys = Object.keys(value).filter((key) => Reflect.get(value, key) !== undefined);
  const shape = keys.join();
  const order = orders.get(shape) ?? keys.sort().map((key) => [key, `${JSON.stringify(key)}:`]);
  orders.set(shape, order);
  return `{${order.map(([key, head]) => head + sortedText(Reflect.get(value, key))).join()}}`;
}

export function traceDigest({ events, ending }: Trace): string {
  const happened = events.filter(({ kind }) => kind !== 'key-change');
  const text = happened.map((event) => {
    return sortedText('index' in event ? { ...event, index: undefined } : event);
  });
  const hash = createHash('sha256').update([...text, ending.kind].join('\n'));
  return `sha256:${hash.digest('hex')}`;
}
