/** Mutants of when a lease is over. */
import { type Mutant, row } from './mutant.ts';
import { CROWD, lateMessage, pauseBefore } from './worlds.ts';

const TTL_100MS = { count: 3, ttl: '100ms', sections: 3, think: '0ms..20ms', lockTimeout: '10ms' };

export const expiryMutants: readonly Mutant[] = [
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
];

function lateAsking(): { readonly delay: { readonly [key: string]: string } } {
  return {
    delay: { from: 'clients', to: 'locks', at: '0ms..100ms', by: '5ms..25ms', chance: '1/2' },
  };
}
