/**
 * Every mutant there is, grouped by what it gets wrong: the store that compares tokens, the tokens
 * that a lock gives, the client, and giving back and prolonging; `lease-mutants.ts` has those of
 * when a lease is over, and of a lock that a majority of nodes gives. What a row is says
 * `mutant.ts`, and `trial.ts` what became of it.
 */
import { leaseMutants } from './lease-mutants.ts';
import { CROWD, lateMessage, type Mutant, pauseBefore, row, SLOW_CROWD } from './mutant.ts';

const lateWrite = lateMessage('write', 'request', '1ms..60ms', '1/2');
const REDIS = { lock: 'redis', store: 'unfenced' };

export const mutants: readonly Mutant[] = [
  // The store that compares tokens.
  row('unfenced', {
    change: 'no comparison at all',
    caughtBy: 'fence-monotone',
    needs: 'a pause',
    mutant: { store: 'unfenced' },
    world: { ...CROWD, faults: [pauseBefore('write', '1/2')] },
  }),
  row('read-not-registered', {
    change: 'a read ignores its token',
    caughtBy: 'no-lost-update',
    needs: 'a late store message',
    base: { store: 'fenced-reads' },
    mutant: { store: 'fenced' },
    world: { ...CROWD, workload: { kind: 'read-modify-write' }, faults: [lateWrite] },
  }),
  row('fence-inverted', {
    change: 'refuses the higher token',
    caughtBy: 'progress',
    needs: '',
    mutant: { store: 'fence-inverted' },
    world: CROWD,
  }),
  row('fence-equality', {
    change: 'refuses any token but the first, as etcd’s own demo of fencing does',
    caughtBy: 'progress',
    needs: '',
    mutant: { store: 'fence-equality' },
    world: CROWD,
  }),
  row('fence-strict', {
    change: '`<` became `<=`: refuses the second write of a grant',
    caughtBy: 'progress',
    needs: '',
    mutant: { store: 'fenced-strict' },
    world: { ...CROWD, workload: { kind: 'blind-writes', writesPerGrant: 2 } },
  }),
  row('same-token-reorder', {
    change: 'no sequence within a token',
    caughtBy: 'holder-order',
    needs: 'a duplicate, or writes that overtake one another',
    base: { store: 'fenced-sequenced' },
    mutant: { store: 'fenced' },
    world: {
      ...CROWD,
      workload: { kind: 'blind-writes', writesPerGrant: 2, awaits: false },
      network: { link: 'datagram', latency: '1ms..3ms' },
      faults: [{ delay: { by: '1ms..20ms', chance: '1/10' } }, duplicates()],
    },
  }),
  row('highest-not-updated', {
    change: 'the highest token is compared with, but never assigned',
    caughtBy: 'fence-monotone',
    needs: 'a pause',
    mutant: { store: 'highest-not-updated' },
    world: { ...CROWD, faults: [pauseBefore('write', '1/2')] },
  }),
  row('highest-per-key', {
    change: 'the highest token is kept by resource and key',
    caughtBy: 'fence-monotone',
    needs: 'a late store message',
    mutant: { store: 'fenced-per-key' },
    world: {
      ...CROWD,
      workload: { kind: 'blind-writes', keys: ['x', 'y'] },
      faults: [lateWrite],
    },
  }),
  row('highest-volatile', {
    change: 'the highest token is lost in a restart',
    caughtBy: 'fence-durable',
    needs: 'a crash of the store',
    mutant: { store: 'fenced-volatile' },
    world: {
      ...CROWD,
      faults: [
        { crash: { process: 'stores', after: 'write', restart: '1ms..5ms', chance: '1/2' } },
      ],
    },
  }),
  row('highest-on-one-replica', {
    change: 'only the first of two replicas compares',
    caughtBy: 'fence-monotone',
    needs: 'a failover, and a pause',
    mutant: { store: 'highest-on-one-replica' },
    world: {
      ...CROWD,
      faults: [
        { failover: { process: 'stores', at: '0ms..60ms', lag: '0ms', chance: '1/2' } },
        pauseBefore('write', '1/2'),
      ],
    },
  }),
  // The tokens that a lock gives.
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
  // The client: what it attaches to a write, compares itself, or sends again.
  row('client-side-fence', {
    change: 'the client reads the fence, compares, then writes plainly',
    caughtBy: 'fence-monotone',
    needs: 'a pause',
    mutant: { store: 'client-side-fence' },
    world: { ...CROWD, faults: [pauseBefore('write', '1/2')] },
  }),
  row('token-borrowed', {
    change: 'the client fetches the current token when it writes, as with Redisson’s getToken',
    caughtBy: 'token-bound',
    needs: 'a pause',
    base: { clients: { checksLease: false } },
    mutant: { options: { attaches: 'current' } },
    world: {
      ...CROWD,
      faults: [
        { pause: { process: 'clients', after: 'acquire', for: '1ms..40ms', chance: '1/2' } },
      ],
    },
  }),
  row('token-missing-accepted', {
    change: 'a write without a token is accepted, and the client forgets it at times',
    caughtBy: 'fence-monotone',
    needs: 'a pause',
    base: { options: { attaches: 'at-times' } },
    mutant: { store: 'token-missing-accepted' },
    world: { ...CROWD, faults: [pauseBefore('write', '1/2')] },
  }),
  row('retry-unknown-commit', {
    change: 'an optimistic client tries again after a timeout, without an idempotency key',
    caughtBy: 'no-lost-update',
    needs: 'a lost message',
    base: { lock: 'optimistic', store: 'versioned', options: { unknownCommit: 'read-again' } },
    mutant: { options: { unknownCommit: 'retry-blindly' } },
    world: {
      clients: {
        ...{ count: 3, ttl: '50ms', sections: 3, think: '0ms..20ms' },
        ...{ backoff: '2ms', storeTimeout: '15ms' },
      },
      workload: { kind: 'read-modify-write' },
      network: { latency: '1ms..2ms' },
      faults: [{ drop: { chance: '1/20' } }],
    },
  }),
  // Giving back and prolonging: what touches a grant that it does not mean.
  row('release-by-client', {
    change: 'a release frees whatever its client holds by then',
    caughtBy: 'owner-only-release',
    needs: 'a late lock message',
    mutant: { options: { release: 'by-client' } },
    world: {
      ...CROWD,
      clients: {
        count: 2,
        ttl: '10ms',
        sections: 3,
        think: '0ms..20ms',
        lockTimeout: '5ms',
        pool: 2,
      },
      faults: [lateMessage('release', 'request', '1ms..40ms', '1/2')],
    },
  }),
  row('release-get-then-delete', {
    change: 'a GET and a DEL instead of one script',
    caughtBy: 'owner-only-release',
    needs: 'a pause, or an eviction',
    base: { ...REDIS, options: { release: 'compare-and-delete' } },
    mutant: { options: { release: 'get-then-delete' } },
    world: {
      ...CROWD,
      faults: [
        pauseBefore('release', '1/3'),
        { evict: { process: 'lock', key: 'db', before: 'release', chance: '1/3' } },
      ],
    },
  }),
  row('release-unconditional', {
    change: 'a plain DEL',
    caughtBy: 'owner-only-release',
    needs: 'a pause, or a partition',
    base: { ...REDIS, options: { release: 'compare-and-delete' } },
    mutant: { options: { release: 'delete' } },
    world: {
      ...CROWD,
      clients: {
        count: 3,
        ttl: '10ms',
        sections: 3,
        think: '0ms..20ms',
        tries: 3,
        lockTimeout: '6ms',
      },
      faults: [
        pauseBefore('write', '1/3'),
        {
          partition: {
            ...{ from: 'clients', to: ['lock'], before: 'release' },
            ...{ for: '1ms..15ms', chance: '1/3' },
          },
        },
      ],
    },
  }),
  row('renew-no-owner', {
    change: 'a renew prolongs whoever’s key is there',
    caughtBy: 'renew-live',
    needs: 'a pause',
    base: { ...REDIS, options: { renew: 'compare' } },
    mutant: { options: { renew: 'any' } },
    world: {
      ...CROWD,
      workload: { steps: ['renew', { write: {} }] },
      faults: [pauseBefore('renew', '1/3')],
    },
  }),
  ...leaseMutants,
];

function duplicates(): { readonly duplicate: { readonly by: string; readonly chance: string } } {
  return { duplicate: { by: '1ms..20ms', chance: '1/10' } };
}
