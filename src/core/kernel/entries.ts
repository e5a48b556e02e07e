/** Map entries that are created on first access. */

/** A `Map` or a `WeakMap`. */
interface Entries<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/** Returns the value for `key`. If there is none, stores and returns the result of `make`. */
export function entryOf<K, V>(map: Entries<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Appends a value to the list for `key`. */
export function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  entryOf(lists, key, () => []).push(value);
}
