/** Entries of maps that are made when they are first asked for. */

/** A `Map` or a `WeakMap`. */
interface Entries<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/** Returns the value under `key`; where there is none, what `make` returns, which is kept. */
export function entryOf<K, V>(map: Entries<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Adds a value at the end of the list under `key`. */
export function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  entryOf(lists, key, () => []).push(value);
}
