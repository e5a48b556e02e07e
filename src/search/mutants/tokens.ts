/** Mutants of the tokens that a lock gives. */
import { type Mutant, row } from './mutant.ts';
import { CROWD, SLOW_CROWD } from './worlds.ts';

export const tokenMutants: readonly Mutant[] = [
  row('token-above-2^53', {
    change: 'a 64-bit token passes through a double; the counter starts near 2^53',
    caughtBy: 'tokens-unique',
    needs: '',
    mutant: { options: { tokens: 'double', firstToken: 9_007_199_254_740_990 } },
    world: CROWD,
  }),
  row('token-32-bit', {
    change: 'the counter wraps at 2^31, as ZooKeeper’s suffix does; it starts near there',
    caughtBy: 'tokens-increase',
    needs: '',
    base: { options: { firstToken: 2_147_483_645 } },
    mutant: { options: { firstToken: 2_147_483_645, tokens: '32-bit' } },
    world: CROWD,
  }),
  row('token-not-raised-on-takeover', {
    change: 'the token is raised only where no lease is in the way, not where one has run out',
    caughtBy: 'tokens-unique',
    needs: 'a pause',
    base: { lock: 'lease-dynamodb', options: { takeover: 'raises' } },
    mutant: { options: { takeover: 'keeps' } },
    world: {
      ...SLOW_CROWD,
      faults: [{ pause: { process: 'clients', before: 'write', for: '1s..8s', chance: '1/2' } }],
    },
  }),
  row('token-restarts-when-absent', {
    change: 'an absent entry means token 1, as in memcached or with Consul’s LockIndex',
    caughtBy: 'tokens-increase',
    needs: 'an eviction',
    base: { lock: 'lease-memcached', options: { absent: 'clock' } },
    mutant: { options: { absent: 'one' } },
    world: {
      ...SLOW_CROWD,
      faults: [{ evict: { process: 'lock', key: 'db', at: '0s..10s', chance: '1/2' } }],
    },
  }),
  row('token-is-random', {
    change: 'an opaque id serves as token',
    caughtBy: 'tokens-increase',
    needs: '',
    mutant: { options: { tokens: 'random' } },
    world: CROWD,
  }),
  row('secondary-counter', {
    change: 'the standby counts by itself',
    caughtBy: 'tokens-increase',
    needs: 'a partition',
    base: { lock: 'lease-dynamodb', options: { standby: 'no' } },
    mutant: { options: { standby: 'yes' } },
    world: {
      clients: {
        ...{ count: 2, ttl: '10s', sections: 3, think: '0s..4s' },
        ...{ backoff: '1s', lockTimeout: '1s' },
      },
      network: { latency: '1ms..20ms' },
      slack: '20s',
      faults: [
        {
          partition: {
            ...{ from: 'clients', to: ['lock'], at: '0s..15s', for: '1s..10s', chance: '1/2' },
          },
        },
      ],
    },
  }),
  row('false-is-zero', {
    change: 'a lease that somebody holds (False) is taken for a system error (0): it flips',
    caughtBy: 'mutual-exclusion',
    needs: '',
    base: { lock: 'lease-dynamodb', options: { standby: 'yes', onDenied: 'waits' } },
    mutant: { options: { standby: 'yes', onDenied: 'flips' } },
    world: {
      ...SLOW_CROWD,
      clients: {
        ...{ count: 2, ttl: '10s', sections: 1, think: '0s..1s' },
        ...{ backoff: '1s', lockTimeout: '1s' },
      },
      workload: { steps: [{ job: { for: '2s' } }] },
      slack: '20s',
    },
  }),
  row('renew-new-token', {
    change: 'a renew raises the token',
    caughtBy: 'token-stable',
    needs: '',
    mutant: { options: { renew: 'raises' } },
    world: { ...CROWD, workload: { steps: ['renew', { write: {} }] } },
  }),
];
