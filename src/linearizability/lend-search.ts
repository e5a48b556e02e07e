/** Lends a search, so that its memory serves the next history too, unless it grew large. */
import { Search } from './search.ts';

const keptBytes = 1 << 26;
const spareSearches: Search[] = [];

export function withSearch<Result>(use: (search: Search) => Result): Result {
  const search = spareSearches.pop() ?? new Search();
  const result = use(search);
  if (search.bytes <= keptBytes) spareSearches.push(search);
  return result;
}
