/** Entries of maps that are made when they are first asked for. */

/** Returns the value under `key`; where there is none, what `make` returns, which is kept. */
export function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
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
