/** Mutants of locks whose clients keep a session or a record, and of a replicated store. */
import { lateMessage, type Mutant, row, SLOW_CROWD, SLOW_PAIR, TRIO } from './mutant.ts';

const POSTGRES = { lock: 'postgres', store: 'unfenced' };
const ETCD = { lock: 'etcd', store: 'unfenced' };
const ZOOKEEPER = { lock: 'zookeeper', store: 'unfenced' };
const KUBERNETES = { lock: 'kubernetes', store: 'unfenced' };
const LEADERS = {
  ...SLOW_CROWD,
  clients: { ...SLOW_PAIR, ttl: '3s', think: '0s..2s', lockTimeout: '1s' },
  workload: { steps: [{ compute: '1s' }, { write: {} }] },
};

export const sessionMutants: readonly Mutant[] = [
  // etcd's mutex, whose leases are renewed by heartbeats.
  row('etcd-no-recheck', {
    change: 'a client that waited does not check again that its key exists, as in etcd 3.4.3',
    caughtBy: 'mutual-exclusion',
    base: { ...ETCD, options: { recheck: 'yes' } },
    mutant: { options: { recheck: 'no' } },
    ...SLOW_CROWD,
    clients: { ...SLOW_PAIR, think: '0s..1s', lockTimeout: '1s' },
    workload: { steps: [{ compute: '1s' }, { write: {} }] },
    faults: [{ pause: { process: 'clients', before: 'wait', for: '1s..8s', chance: '1/2' } }],
  }),
  row('etcd-lease-as-token', {
    change: 'the lease number is the fencing token, as in etcd’s own demo of fencing',
    caughtBy: 'tokens-increase',
    base: { ...ETCD, store: 'fenced', options: { token: 'revision' } },
    mutant: { options: { token: 'lease' } },
    ...SLOW_CROWD,
    clients: { ...SLOW_PAIR, lockTimeout: '1s' },
  }),
  row('etcd-old-leader', {
    change: 'a replaced leader revokes leases that have been kept alive since',
    caughtBy: 'mutual-exclusion',
    base: { ...ETCD, options: { oldLeader: 'steps-down' } },
    mutant: { options: { oldLeader: 'revokes' } },
    ...SLOW_CROWD,
    clients: { ...SLOW_PAIR, think: '0s..1s', lockTimeout: '1s' },
    workload: { steps: [{ compute: '3s' }, { write: {} }] },
    faults: [{ failover: { process: 'locks', at: '0s..6s', lag: '0s', chance: '3/4' } }],
  }),
  row('etcd-release-once', {
    change: 'a release without an answer leaves its key in a session that continues',
    caughtBy: 'progress',
    base: { ...ETCD, options: { unanswered: 'orphans' } },
    mutant: { options: { unanswered: 'kept' } },
    ...SLOW_CROWD,
    clients: { ...SLOW_PAIR, sections: 1, lockTimeout: '1s' },
    faults: [{ drop: { message: 'release', leg: 'request', chance: '1/2' } }],
  }),
  // Leader election of Kubernetes: each client judges by its own clock.
  row('kubernetes-release-observed', {
    change: 'a client that resigns rereads the record, but checks leadership on its old copy',
    caughtBy: 'owner-only-release',
    base: { ...KUBERNETES, options: { release: 'checked' } },
    mutant: { options: { release: 'observed' } },
    ...LEADERS,
    faults: [
      { pause: { process: 'clients', before: 'release-get', for: '1s..9s', chance: '1/2' } },
    ],
  }),
  row('kubernetes-duration-truncated', {
    change: 'the record has the lease in whole seconds, truncated, as in client-go',
    caughtBy: 'lease-conservative',
    base: { ...KUBERNETES, options: { duration: 'rounded-up' } },
    mutant: { options: { duration: 'truncated' } },
    ...LEADERS,
    clients: { ...SLOW_PAIR, ttl: '1900ms', backoff: '200ms', lockTimeout: '1s' },
  }),
  row('kubernetes-late-deadline', {
    change: 'a leader tries to renew for almost the complete lease',
    caughtBy: 'mutual-exclusion',
    base: { ...KUBERNETES, options: { release: 'checked' } },
    mutant: { options: { release: 'checked', renewDeadline: 94, retryPeriod: 5 } },
    ...LEADERS,
    clients: { ...SLOW_PAIR, ttl: '3s', think: '0s..1s', backoff: '100ms', lockTimeout: '1s' },
    faults: [
      { clock: { process: 'clients', at: '0s', rate: '-80000ppm..80000ppm' } },
      { pause: { process: 'clients', before: 'heartbeat', for: '3s..4s', chance: '3/4' } },
    ],
  }),
  // Curator's lock on ZooKeeper.
  row('zookeeper-sequence-as-token', {
    change: 'the sequence in a child’s name is the fencing token, though its parent may go',
    caughtBy: 'tokens-increase',
    base: { ...ZOOKEEPER, options: { parent: 'container', token: 'czxid' } },
    mutant: { options: { parent: 'container', token: 'sequence' } },
    ...SLOW_CROWD,
    clients: { ...SLOW_PAIR, ttl: '40s', think: '0s..3m', lockTimeout: '1s' },
  }),
  row('zookeeper-previous-session', {
    change: 'a child of the previous session is mistaken for its own',
    caughtBy: 'tokens-increase',
    base: { ...ZOOKEEPER, options: { followerLag: 8000, protection: 'session' } },
    mutant: { options: { followerLag: 8000, protection: 'any' } },
    ...SLOW_CROWD,
    clients: { ...SLOW_PAIR, count: 3, ttl: '4s', think: '0s..1s', lockTimeout: '1s' },
    workload: { steps: [{ compute: '1s' }, { write: {} }] },
    faults: [
      { drop: { message: 'acquire', leg: 'reply', chance: '3/4' } },
      { pause: { process: 'clients', after: 'acquire', for: '4s..12s', chance: '3/4' } },
    ],
  }),
  row('zookeeper-unprotected-create', {
    change: 'a create without an answer is not searched for, and is queued before the next',
    caughtBy: 'progress',
    base: { ...ZOOKEEPER, options: { protection: 'session' } },
    mutant: { options: { protection: 'none' } },
    ...SLOW_CROWD,
    clients: { ...SLOW_PAIR, ttl: '4s', lockTimeout: '1s' },
    faults: [{ delay: { message: 'acquire', leg: 'request', by: '400ms..12s', chance: '1/2' } }],
  }),
  row('zookeeper-release-once', {
    change: 'a delete without an answer leaves its child in a session that continues',
    caughtBy: 'progress',
    base: { ...ZOOKEEPER, options: { release: 'guaranteed' } },
    mutant: { options: { release: 'once' } },
    ...SLOW_CROWD,
    clients: { ...SLOW_PAIR, ttl: '4s', sections: 1, lockTimeout: '1s' },
    faults: [{ drop: { message: 'release', leg: 'request', chance: '1/2' } }],
  }),
  // Advisory locks of PostgreSQL, and a replicated store.
  row('postgres-session-in-pool', {
    change: 'a session’s lock is taken through a pooler that gives each statement any connection',
    caughtBy: 'mutual-exclusion',
    base: { ...POSTGRES, options: { pooler: 'transaction', level: 'transaction' } },
    mutant: { options: { pooler: 'transaction', level: 'session' } },
    clients: { ...TRIO, ttl: '40ms' },
    workload: { steps: [{ compute: '5ms' }, { write: {} }] },
    network: { latency: '1ms..2ms' },
  }),
  row('postgres-no-keepalive', {
    change: 'half-open connections have Linux’s default keep-alive, after two hours',
    caughtBy: 'progress',
    base: { ...POSTGRES, options: { peerDeath: 'half-open', keepaliveMs: 20 } },
    mutant: { options: { peerDeath: 'half-open' } },
    clients: { ...TRIO, ttl: '20ms' },
    network: { latency: '1ms..2ms' },
    faults: [{ crash: { process: 'clients', after: 'acquire', chance: '1/4' } }],
  }),
  row('postgres-locked-twice', {
    change: 'a client that did not learn of its grant acquires again, but unlocks once',
    caughtBy: 'progress',
    base: { ...POSTGRES, options: { unanswered: 'unlocks-all' } },
    mutant: { options: { unanswered: 'kept' } },
    clients: { ...TRIO, ttl: '20ms', lockTimeout: '8ms' },
    network: { latency: '1ms..2ms' },
    faults: [lateMessage('acquire', 'reply', '10ms..30ms', '1/2')],
  }),
  row('stamped-by-the-clock', {
    change: 'last-write-wins timestamps have no token prefix',
    caughtBy: 'grant-order',
    base: { lock: 'lock-service', store: 'quorum', options: { stamp: 'token-and-clock' } },
    mutant: { options: { stamp: 'clock' } },
    clients: { ...TRIO, ttl: '10ms' },
    network: { latency: '1ms..2ms' },
    faults: [{ pause: { process: 'clients', after: 'checked', for: '1ms..40ms', chance: '1/2' } }],
  }),
];
