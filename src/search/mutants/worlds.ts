/** What most mutants meet: clients, networks and faults that several rows of the table share. */
import type { Json } from '../../core/kernel/json.ts';

type Fields = Readonly<Record<string, Json>>;

/** Three clients that often want the lock at once and write one value each time. */
export const CROWD: Fields = {
  clients: { count: 3, ttl: '10ms', sections: 3, think: '0ms..20ms' },
  workload: { kind: 'blind-writes' },
  network: { latency: '1ms..2ms' },
};

/** The same in seconds, for locks that count in them. */
export const SLOW_CROWD: Fields = {
  clients: { count: 2, ttl: '2s', sections: 3, think: '0s..4s', backoff: '500ms' },
  workload: { kind: 'blind-writes' },
  network: { latency: '1ms..20ms' },
  slack: '10s',
};

/** A client is stopped before a step, at times past the end of its lease. */
export function pauseBefore(verb: string, chance: string): Fields {
  return { pause: { process: 'clients', before: verb, for: '1ms..40ms', chance } };
}

/** A message of this kind is late. */
export function lateMessage(
  verb: string,
  leg: 'request' | 'reply',
  by: string,
  chance: string,
): Fields {
  return { delay: { message: verb, leg, by, chance } };
}
