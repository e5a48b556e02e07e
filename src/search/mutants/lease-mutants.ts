/** Mutants of when a lease is over, and of Redlock, a lock that a majority of nodes gives. */
import type { Json } from '../../core/kernel/json.ts';
import { CROWD, lateMessage, type Mutant, pauseBefore, row } from './mutant.ts';

const TTL_100MS = { count: 3, ttl: '100ms', sections: 3, think: '0ms..20ms', lockTimeout: '10ms' };
const REDLOCK = { lock: 'redlock', store: 'unfenced' };

export const leaseMutants: readonly Mutant[] = [
  // When a lease is over.
  row('expiry-boundary', {
    change: 'the client’s `>=` became `>`: at its end a lease is not over yet',
    caughtBy: 'lease-conservative',
    needs: 'two events at one instant',
    base: { clients: { countsLeaseFrom: 'issued' } },
    mutant: { clients: { countsLeaseFrom: 'issued', leaseEnds: 'after' } },
    world: {
      clients: { count: 2, ttl: '10ms', sections: 3, think: '0ms..20ms' },
      workload: { steps: [{ compute: '8ms' }, { write: {} }] },
      network: { latency: '1ms..2ms' },
    },
  }),
  row('expiry-from-reply', {
    change: 'the client counts its lease from the reply',
    caughtBy: 'lease-conservative',
    needs: '',
    mutant: { clients: { countsLeaseFrom: 'reply' } },
    world: CROWD,
  }),
  row('drift-ignored', {
    change: 'the client keeps no margin for drift',
    caughtBy: 'lease-conservative',
    needs: 'clocks that drift',
    base: { lock: 'redlock', store: 'unfenced', options: { nodes: 3, drift: 'counted' } },
    mutant: { options: { nodes: 3, drift: 'ignored' } },
    world: {
      clients: TTL_100MS,
      network: { latency: '500us..1ms' },
      jitter: '100%',
      clocks: { drift: '10000ppm' },
      faults: [
        { clock: { process: 'clients', at: '0ms', chance: '1/2' } },
        { clock: { process: 'locks', at: '0ms', chance: '1/2' } },
      ],
    },
  }),
  row('wall-clock-elapsed', {
    change: 'the client counts its time by the wall clock',
    caughtBy: 'lease-conservative',
    needs: 'a clock that is set',
    base: { lock: 'redlock', store: 'unfenced', options: { nodes: 3, elapsed: 'monotonic' } },
    mutant: { options: { nodes: 3, elapsed: 'wall' } },
    world: {
      clients: { count: 3, ttl: '20ms', sections: 3, think: '0ms..20ms', lockTimeout: '8ms' },
      network: { latency: '1ms..2ms' },
      jitter: '100%',
      faults: [
        { clock: { process: 'clients', at: '0ms..60ms', step: '-30ms..30ms', chance: '3/4' } },
      ],
    },
  }),
  row('caller-time', {
    change: 'expiry is judged by the requester’s clock',
    caughtBy: 'mutual-exclusion',
    needs: 'clocks that differ',
    base: { lock: 'lease-dynamodb', options: { clock: 'server' } },
    mutant: { options: { clock: 'client' } },
    world: {
      clients: { count: 2, ttl: '10s', sections: 3, think: '0s..4s', backoff: '500ms' },
      workload: { steps: [{ job: { for: '2s' } }] },
      network: { latency: '1ms..20ms' },
      slack: '40s',
      faults: [{ clock: { process: 'clients', at: '0s', step: '-20s..20s', chance: '1/2' } }],
    },
  }),
  row('no-recheck-after-wait', {
    change: 'at the head of the line a client does not look at its own entry, as in etcd 3.4.3',
    caughtBy: 'lease-conservative',
    needs: 'a late lock message',
    base: { options: { waits: 'in-line' } },
    mutant: { options: { waits: 'in-line-unverified' } },
    world: {
      ...CROWD,
      faults: [lateMessage('acquire', 'request', '1ms..20ms', '1/2'), lateAsking()],
    },
  }),
  row('abort-only-on-reject', {
    change: 'the client has no timer at the end of its lease: it works on until it is refused',
    caughtBy: 'lease-conservative',
    needs: 'a late lock message',
    mutant: { clients: { leaseEnds: 'refused' } },
    world: {
      ...CROWD,
      workload: { steps: ['renew', { write: {} }] },
      faults: [lateMessage('renew', 'reply', '1ms..30ms', '1/2')],
    },
  }),
  row('duration-truncated', {
    change: 'the record has the lease in whole seconds, rounded down, as in client-go',
    caughtBy: 'lease-conservative',
    needs: '',
    base: { lock: 'lease-dynamodb', options: { seconds: 'whole' } },
    mutant: { options: { seconds: 'truncated' } },
    world: {
      clients: { count: 2, ttl: '1500ms', sections: 3, think: '0s..3s', backoff: '300ms' },
      network: { latency: '1ms..20ms' },
      slack: '10s',
    },
  }),
  row('own-duration', {
    change: 'who judges another’s lease uses its own duration, not the recorded one',
    caughtBy: 'mutual-exclusion',
    needs: '',
    base: { lock: 'lease-dynamodb', options: { timeout: 'recorded' } },
    mutant: { options: { timeout: 'own' } },
    world: {
      clients: {
        ...{ ttl: '10s', sections: 3, think: '0s..4s', backoff: '500ms' },
        each: {
          alice: { workload: { steps: [{ job: { for: '5s' } }] } },
          bob: { ttl: '1s', workload: { steps: [{ job: { for: '500ms' } }] } },
        },
      },
      network: { latency: '1ms..20ms' },
      slack: '20s',
    },
  }),
  row('lock-delay-zero', {
    change: 'no delay after a lease that ran out',
    caughtBy: 'grant-order',
    needs: 'a pause shorter than the delay',
    base: { store: 'unfenced', clients: { checksLease: false }, options: { lockDelay: 50 } },
    mutant: { options: { lockDelay: 0 } },
    world: { ...CROWD, slack: '200ms', faults: [pauseBefore('write', '1/2')] },
  }),
  // Redlock: a lock that a majority of nodes gives.
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

function lateAsking(): { readonly delay: { readonly [key: string]: string } } {
  return {
    delay: { from: 'clients', to: 'locks', at: '0ms..100ms', by: '5ms..25ms', chance: '1/2' },
  };
}

function cutOff(client: string, nodes: readonly string[]): { readonly [key: string]: Json } {
  const times = { at: '0ms..60ms', for: '10ms..60ms', chance: '1/2' };
  return { partition: { from: [client], to: nodes, ...times } };
}
