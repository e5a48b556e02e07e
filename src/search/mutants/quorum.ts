/** Mutants of Redlock: a lock that a majority of nodes gives. */
import type { Json } from '../../core/kernel/json.ts';
import { type Mutant, row } from './mutant.ts';

const REDLOCK = { lock: 'redlock', store: 'unfenced' };

export const quorumMutants: readonly Mutant[] = [
  row('no-validity-check', {
    change: 'a majority that was reached too late counts, as in npm’s redlock 5',
    caughtBy: 'holder-overlap',
    needs: 'a late lock message',
    base: { ...REDLOCK, options: { nodes: 3, validity: 'checked' } },
    mutant: { options: { nodes: 3, validity: 'unchecked' } },
    world: {
      clients: { count: 3, ttl: '10ms', sections: 3, think: '0ms..20ms' },
      workload: { steps: [{ compute: '1ms' }] },
      network: { latency: '1ms..2ms' },
      jitter: '100%',
      faults: [
        { delay: { message: 'acquire', leg: 'reply', by: '5ms..25ms', chance: '1/2' } },
        {
          delay: { from: 'locks', to: 'clients', at: '0ms..60ms', by: '5ms..25ms', chance: '1/2' },
        },
      ],
    },
  }),
  row('quorum-half', {
    change: 'half of the nodes is enough, on four nodes',
    caughtBy: 'mutual-exclusion',
    needs: 'a partition',
    base: { ...REDLOCK, options: { nodes: 4, quorum: 'majority' } },
    mutant: { options: { nodes: 4, quorum: 'half' } },
    world: {
      clients: {
        names: ['alice', 'bob'],
        ...{ ttl: '20ms', sections: 3, think: '0ms..20ms', lockTimeout: '6ms' },
      },
      network: { latency: '1ms..2ms' },
      jitter: '100%',
      faults: [cutOff('alice', ['lock-1', 'lock-2']), cutOff('bob', ['lock-3', 'lock-4'])],
    },
  }),
  row('no-partial-release', {
    change: 'an attempt that failed leaves its keys until they expire',
    caughtBy: 'progress',
    needs: 'a race',
    base: { ...REDLOCK, options: { nodes: 3, partial: 'released' } },
    mutant: { options: { nodes: 3, partial: 'kept' } },
    world: {
      clients: { count: 3, ttl: '20ms', sections: 3, think: '0ms..3ms', backoff: '1ms' },
      network: { latency: '1ms..2ms' },
      jitter: '200%',
      time: '5ms',
    },
  }),
  row('restart-at-once', {
    change: 'a node that lost its keys serves again without delay',
    caughtBy: 'mutual-exclusion',
    needs: 'a crash of a node',
    base: { ...REDLOCK, options: { nodes: 3, restart: 'delayed' } },
    mutant: { options: { nodes: 3, restart: 'at-once' } },
    world: {
      clients: { count: 2, ttl: '20ms', sections: 2, think: '0ms..2ms', lockTimeout: '8ms' },
      workload: { steps: [{ compute: '8ms' }, { write: {} }] },
      network: { latency: '1ms..2ms' },
      jitter: '100%',
      faults: [{ crash: { process: 'lock-2', at: '2ms..20ms', restart: '1ms..2ms' } }],
    },
  }),
];

function cutOff(client: string, nodes: readonly string[]): { readonly [key: string]: Json } {
  const times = { at: '0ms..60ms', for: '10ms..60ms', chance: '1/2' };
  return { partition: { from: [client], to: nodes, ...times } };
}
