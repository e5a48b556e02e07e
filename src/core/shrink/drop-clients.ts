/**
 * Drops clients, and with each all that names it. Others meet less contention then and run earlier,
 * so where a client cannot just go, it goes together with the drawn latencies.
 */
import { calmed, roundLatency } from './change.ts';
import { dropInChunks } from './chunks.ts';
import type { Pass, Search, Steps } from './search.ts';
import { withoutClients } from './without.ts';

export const dropClients: Pass = {
  name: 'drop clients',
  *run(search: Search): Steps<void> {
    const names = (): readonly string[] => search.current.clients.map((client) => client.name);
    yield* dropInChunks(search, { list: names, without: withoutClients });
    for (const name of names()) {
      const rest = withoutClients(search.current, [name]);
      if (rest === search.current) continue;
      yield* search.attempt(calmed(rest, roundLatency(rest)));
    }
  },
};
