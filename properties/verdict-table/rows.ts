/**
 * The verdict table: which lock before which store keeps which claim, and loses which, under which
 * faults. `none` is the empty list of faults. Without faults nothing else breaks: see `calm.ts`.
 */
import type { Letter } from './faults.ts';
import * as f from './faults.ts';
import type { Row } from './row.ts';
import * as w from './works.ts';

const { P, D, R, L, U, O, C, CL, CR, E, F, N, Q, S } = f;
const { W1, W1_SEVERAL, W1_UNAWAITED, W2, W3, W4 } = w;

const ANY_FENCED = [
  ...['fenced', 'fenced-strict', 'fenced-reads', 'fenced-open', 'fenced-sequenced'],
  ...['fenced-per-key', 'fenced-volatile'],
];
const VERSIONED = ['versioned', 'versioned-sql', 'stock', 'stock-sql'];
const TIMESTAMPED = ['timestamped', 'timestamped-sql'];
const TOKENS = ['tokens-unique', 'tokens-increase'];
const FENCED = ['fenced', 'fenced-strict', 'fenced-volatile', 'fenced-per-key'];
const GIVES_UP = {
  clients: { storeTimeout: '15ms', tries: 3 },
  note: 'calls are given up after 15 ms',
};
const LATE: readonly Letter[] = [P, D, R, L, O];
const KEPT_BY_HEARTBEAT = [
  { lock: 'etcd', options: { token: 'revision', unanswered: 'orphans' } },
  { lock: 'zookeeper', options: { token: 'czxid' } },
  { lock: 'kubernetes', options: { token: 'transitions', release: 'checked' } },
];

export const rows: readonly Row[] = [
  {
    ...{ lock: 'lock-service', stores: ['unfenced'], work: W1, faults: [P] },
    breaks: ['grant-order', 'fence-monotone', 'linearizable(fenced-register)'],
  },
  {
    ...{ lock: 'lock-service', stores: ['fenced'], work: W1, faults: LATE },
    holds: ['grant-order', 'fence-monotone', 'tokens-increase', 'linearizable'],
  },
  ...[R, f.P_BEFORE_WRITE].map((fault) => ({
    ...{ lock: 'lock-service', stores: ['fenced', 'fenced-strict'], work: W2, faults: [fault] },
    holds: ['fence-monotone'],
    breaks: ['grant-order', 'no-lost-update', 'read-fence'],
  })),
  ...[LATE, [P, D, R, L, U]].map((faults) => ({
    ...{ lock: 'lock-service', stores: ['fenced-reads', 'fenced-open'], work: W2, faults },
    holds: ['grant-order', 'no-lost-update', 'read-fence', 'fence-monotone'],
  })),
  {
    ...{ lock: 'lock-service', stores: ['fenced'], work: W1_UNAWAITED, faults: [O] },
    breaks: ['holder-order'],
  },
  {
    ...{ lock: 'lock-service', stores: ['fenced'], work: W1_SEVERAL, faults: [U] },
    breaks: ['holder-order'],
  },
  {
    ...{ lock: 'lock-service', stores: ['fenced-strict'], work: W1_SEVERAL, faults: [] },
    breaks: ['progress'],
  },
  ...[LATE, [P, D, R, L, U]].map((faults) => ({
    ...{ lock: 'lock-service', stores: ['fenced-sequenced'], work: W1_UNAWAITED, faults },
    holds: ['fence-monotone', 'holder-order'],
  })),
  {
    ...{ lock: 'lock-service', stores: ['fenced-volatile'], work: W1, faults: [CR] },
    breaks: ['fence-durable'],
  },
  {
    ...{ lock: 'lock-service', stores: ['fenced-volatile'], work: W1, faults: [P, CR] },
    breaks: ['fence-monotone', 'grant-order'],
  },
  ...['token-and-clock', 'token-and-count'].map((stamp) => ({
    ...{ lock: 'lock-service', stores: ['quorum'], work: W1 },
    ...{ faults: [f.P_AFTER_CHECK, f.R_OF_REPLICAS, f.L_OF_REPLICAS, D], options: { stamp } },
    holds: ['grant-order', 'fence-monotone'],
  })),
  {
    ...{ lock: 'lock-service', stores: ['quorum'], work: W1, faults: [f.P_AFTER_CHECK] },
    options: { stamp: 'clock' },
    breaks: ['grant-order', 'fence-monotone'],
  },
  ...[{ readQuorum: 1 }, { writeQuorum: 1, readQuorum: 1 }, { writeQuorum: 1 }].map((options) => ({
    ...{ lock: 'lock-service', stores: ['quorum'], work: W1, faults: [f.L_OF_REPLICAS], options },
    breaks: ['grant-order'],
  })),
  {
    ...{ lock: 'lock-service', stores: ['quorum'], work: W2, faults: [f.P_BEFORE_WRITE] },
    holds: ['fence-monotone'],
    breaks: ['grant-order', 'no-lost-update', 'read-fence'],
  },
  {
    ...{ lock: 'lock-service', stores: ['quorum'], work: w.W1_READ_BACK },
    ...{ faults: [f.L_OF_REPLICAS], clients: { storeTimeout: '4ms' } },
    breaks: ['grant-order'],
    note: 'a holder that takes an unanswered write for done',
  },
  {
    ...{ lock: 'lock-service', stores: ['fenced'], work: W1, faults: [CL] },
    options: { counter: 'volatile' },
    breaks: ['tokens-increase', 'progress'],
  },
  ...[W1, W2, W3].map((work) => ({
    ...{ lock: 'lock-service-published', stores: ['fenced'], work, faults: [S] },
    holds: ['fence-monotone'],
    breaks: ['mutual-exclusion'],
  })),
  {
    ...{ lock: 'lock-service', stores: ANY_FENCED, work: W3, faults: [P] },
    holds: ['fence-monotone'],
    breaks: ['cross-key'],
  },
  {
    ...{ lock: 'lock-service', stores: ['fenced'], work: W1, faults: [R] },
    clients: { storeTimeout: '4ms' },
    breaks: ['no-write-after-release'],
  },

  ...[E].map((fault) => ({
    ...{ lock: 'lease-memcached', stores: ['fenced'], work: W4, faults: [fault], breaks: TOKENS },
  })),
  ...['lease-memcached', 'lease-redis'].map((lock) => ({
    ...{ lock, stores: ['fenced'], work: w.W4_IDLE, faults: [], breaks: TOKENS },
    note: 'a lease in Redis is forgotten as well: it is stored with SETEX, for 24 hours',
  })),
  {
    ...{ lock: 'lease-dynamodb', stores: ['fenced'], work: w.W4_IDLE, faults: [] },
    holds: TOKENS,
  },
  {
    ...{ lock: 'lease-dynamodb', stores: ['fenced'], work: W4, faults: [P, D, L, C] },
    holds: TOKENS,
  },
  ...[S, f.S_WITHIN].map((fault) => ({
    ...{ lock: 'lease-dynamodb', stores: ['fenced'], work: W4, faults: [fault] },
    holds: TOKENS,
    breaks: ['mutual-exclusion'],
    note: 'not only S > timeout: more than what is left of the lease is enough',
  })),
  {
    ...{ lock: 'lease-dynamodb', stores: ['fenced'], work: W4, faults: [N] },
    options: { standby: 'yes' },
    breaks: ['mutual-exclusion', 'tokens-increase'],
  },

  ...[W1, W2].map((work) => ({
    ...{ lock: 'cache-lock', stores: ['unfenced'], work, faults: [] },
    holds: ['mutual-exclusion', 'owner-only-release'],
    breaks: ['lease-conservative'],
  })),
  ...[W1, W2].map((work) => ({
    ...{ lock: 'cache-lock', stores: ['unfenced'], work, faults: [E] },
    breaks: ['mutual-exclusion'],
  })),
  ...[W1, W2].map((work) => ({
    ...{ lock: 'cache-lock', stores: ['unfenced'], work, faults: [f.P_IN_RELEASE] },
    // Whose key was deleted still holds the lock, so the next grant makes a second holder.
    breaks: ['owner-only-release', 'mutual-exclusion'],
  })),

  ...[W1, W2].map((work) => ({
    ...{ lock: 'redis', stores: ['unfenced'], work, faults: [P, D, L, C] },
    holds: ['mutual-exclusion', 'owner-only-release'],
    breaks: ['grant-order'],
  })),
  ...[W1, W2].map((work) => ({
    ...{ lock: 'redis', stores: ['unfenced'], work, faults: [P] },
    options: { release: 'delete' },
    // Whose key was deleted still holds the lock, so the next grant makes a second holder.
    breaks: ['owner-only-release', 'mutual-exclusion'],
  })),
  ...[W1, W2].map((work) => ({
    ...{ lock: 'redis', stores: ['unfenced'], work, faults: [F] },
    breaks: ['mutual-exclusion'],
  })),

  ...[W1, W2].map((work) => ({
    ...{ lock: 'redlock', stores: ['unfenced'], work, faults: [D, f.P_WHILE_ACQUIRING, C, Q] },
    options: { nodes: 3 },
    holds: ['mutual-exclusion', 'lease-conservative'],
  })),
  ...[f.P_AFTER_CHECK, R].map((fault) => ({
    ...{ lock: 'redlock', stores: ['unfenced'], work: W1, faults: [fault] },
    options: { nodes: 3 },
    breaks: ['grant-order'],
  })),
  {
    ...{ lock: 'redlock', stores: ['unfenced'], work: w.BUSY, faults: [f.J_ON_ONE_NODE] },
    options: { nodes: 3 },
    breaks: ['mutual-exclusion'],
  },
  {
    ...{ lock: 'redlock', stores: ['unfenced'], work: w.BUSY, faults: [CL] },
    options: { nodes: 3, restart: 'at-once' },
    breaks: ['mutual-exclusion'],
  },
  {
    ...{ lock: 'redlock', stores: ['unfenced'], work: w.BUSY, faults: [CL] },
    options: { nodes: 3 },
    holds: ['mutual-exclusion'],
  },
  {
    ...{ lock: 'redlock', stores: ['unfenced'], work: w.BUSY, faults: [D] },
    options: { nodes: 3, validity: 'unchecked' },
    clients: { lockTimeout: 'never' },
    breaks: ['holder-overlap'],
  },

  ...['lock-service', 'lock-service-published'].map((lock) => ({
    ...{ lock, stores: ['unique-token'], work: W2, faults: [P, D, R, O] },
    holds: ['no-lost-update'],
  })),
  {
    ...{ lock: 'redis', stores: ['unique-token'], work: W2, faults: [P, D, R, O] },
    options: { token: 'value' },
    holds: ['no-lost-update'],
  },
  ...['lock-service', 'lock-service-published'].map((lock) => ({
    ...{ lock, stores: ['unique-token'], work: W2, faults: [P, D, R, U] },
    breaks: ['no-lost-update'],
  })),

  {
    ...{ lock: 'optimistic', stores: VERSIONED, work: W2, faults: [P, R, O] },
    holds: ['no-lost-update', 'linearizable'],
  },
  {
    ...{ lock: 'optimistic', stores: VERSIONED, work: W2, faults: [L] },
    clients: { storeTimeout: '15ms' },
    holds: ['no-lost-update', 'linearizable'],
  },
  {
    ...{ lock: 'optimistic', stores: VERSIONED, work: W2, faults: [L] },
    options: { unknownCommit: 'retry-blindly' },
    clients: { storeTimeout: '15ms' },
    holds: ['linearizable'],
    breaks: ['no-lost-update'],
  },
  {
    ...{ lock: 'optimistic', stores: TIMESTAMPED, work: w.W2_SAME_TICK, faults: [] },
    breaks: ['no-lost-update', 'linearizable'],
  },
  {
    ...{ lock: 'optimistic', stores: TIMESTAMPED, work: W2, faults: [P, f.J_OF_STORES] },
    breaks: ['no-lost-update', 'linearizable'],
  },

  {
    ...{ lock: 'optimistic', stores: ['timestamped-by-client'], work: W2, faults: [f.S_SOME_MS] },
    breaks: ['no-lost-update', 'linearizable'],
    note: 'where the clients set the timestamp; one clock of the store, however wrong, does not',
  },
  {
    ...{ lock: 'optimistic', stores: TIMESTAMPED, work: W2, faults: [f.S_SOME_MS] },
    holds: ['no-lost-update', 'linearizable'],
  },

  // Calls whose answers are lost or come too late: nothing is said of a store but what was heard.
  ...[W1, W2].map((work) => ({
    ...{ lock: 'lock-service', stores: ['unfenced'], work, faults: [P, R, L], ...GIVES_UP },
    breaks: ['grant-order', 'fence-monotone', 'linearizable'],
  })),
  ...[W1, W2].map((work) => ({
    ...{ lock: 'lock-service', stores: FENCED, work, faults: [P, R, L, O], ...GIVES_UP },
    holds: ['fence-monotone', 'linearizable'],
  })),
  {
    ...{ lock: 'lock-service', stores: ['fenced-reads', 'fenced-open'], work: W2 },
    ...{ faults: [P, R, L, O], ...GIVES_UP },
    holds: ['grant-order', 'no-lost-update', 'read-fence', 'fence-monotone', 'linearizable'],
  },
  {
    ...{ lock: 'lock-service', stores: ['fenced-sequenced'], work: W1_UNAWAITED },
    ...{ faults: [P, R, L, O], ...GIVES_UP },
    holds: ['fence-monotone', 'holder-order'],
  },
  {
    ...{ lock: 'lock-service', stores: ['unique-token'], work: W2, faults: [P, R, O, L] },
    ...GIVES_UP,
    holds: ['no-lost-update'],
  },
  {
    ...{ lock: 'lock-service', stores: ['check-sequencer'], work: W1, faults: [P, R, L] },
    ...GIVES_UP,
    holds: ['fence-monotone'],
  },
  {
    ...{ lock: 'optimistic', stores: TIMESTAMPED.concat('timestamped-by-client'), work: W2 },
    ...{ faults: [L, R], ...GIVES_UP },
    holds: ['linearizable'],
  },

  {
    ...{ lock: 'postgres', stores: ['unfenced'], work: W2, faults: [P, D, R, C, O] },
    holds: ['mutual-exclusion', 'owner-only-release', 'progress'],
  },
  {
    ...{ lock: 'postgres', stores: ['unfenced'], work: W2, faults: [] },
    options: { pooler: 'transaction' },
    breaks: ['mutual-exclusion', 'grant-order', 'no-lost-update'],
  },
  {
    ...{ lock: 'postgres', stores: ['unfenced'], work: W2, faults: [P, D, R] },
    options: { pooler: 'transaction', level: 'transaction' },
    holds: ['mutual-exclusion', 'grant-order', 'no-lost-update', 'progress'],
  },
  {
    ...{ lock: 'postgres', stores: ['unfenced'], work: W1, faults: [f.O_OF_LOCK, P] },
    breaks: ['grant-order'],
  },
  {
    ...{ lock: 'postgres', stores: ['fenced'], work: W1, faults: [f.O_OF_LOCK, P] },
    options: { token: 'sequence' },
    holds: ['grant-order', 'fence-monotone'],
  },
  ...[F, CL].map((fault) => ({
    ...{ lock: 'postgres', stores: ['unfenced'], work: w.BUSY, faults: [fault] },
    breaks: ['mutual-exclusion'],
  })),
  {
    ...{ lock: 'postgres', stores: ['unfenced'], work: W1, faults: [f.C_FOR_EVER] },
    options: { peerDeath: 'half-open' },
    breaks: ['progress'],
  },
  {
    ...{ lock: 'postgres', stores: ['unfenced'], work: W1, faults: [f.C_FOR_EVER] },
    options: { peerDeath: 'half-open', keepaliveMs: 20 },
    holds: ['progress'],
  },
  // Sessions, and a record, which a heartbeat keeps.
  ...KEPT_BY_HEARTBEAT.map(({ lock, options }) => ({
    ...{ lock, stores: ['unfenced'], work: w.W1_SLOW, faults: [f.P_BEFORE_WRITE], options },
    holds: ['mutual-exclusion', 'lease-conservative'],
    breaks: ['grant-order', 'fence-monotone'],
  })),
  ...KEPT_BY_HEARTBEAT.map(({ lock, options }) => ({
    ...{ lock, stores: ['fenced'], work: w.W1_SLOW, faults: [P, R, O], options },
    holds: ['grant-order', 'fence-monotone', 'tokens-increase', 'mutual-exclusion', 'progress'],
  })),
  {
    ...{ lock: 'zookeeper', stores: ['fenced'], work: w.W1_SLOW, faults: [f.D_OF_ACQUIRES] },
    options: { protection: 'none' },
    breaks: ['progress'],
    note: 'who gives up before the answer stays in line for as long as its session lasts',
  },
  {
    ...{ lock: 'zookeeper', stores: ['fenced'], work: w.W1_SLOW, faults: [f.D_OF_ACQUIRES] },
    holds: ['progress', 'mutual-exclusion', 'tokens-increase'],
  },
  {
    ...{ lock: 'etcd', stores: ['check-sequencer'], work: w.W1_SLOW },
    ...{ faults: [f.P_BEFORE_WRITE], options: { unanswered: 'orphans' } },
    holds: ['grant-order', 'fence-monotone'],
  },
  ...[
    { lock: 'etcd', wrong: { unanswered: 'kept' }, right: { unanswered: 'orphans' } },
    { lock: 'zookeeper', wrong: { release: 'once' }, right: { release: 'guaranteed' } },
  ].flatMap(({ lock, wrong, right }) => {
    const row = { lock, stores: ['unfenced'], work: w.W1_SLOW, faults: [f.L_OF_RELEASES] };
    return [
      { ...row, options: wrong, breaks: ['progress'] },
      { ...row, options: right, holds: ['progress', 'mutual-exclusion'] },
    ];
  }),
  {
    ...{ lock: 'zookeeper', stores: ['fenced'], work: w.W1_IDLE, faults: [] },
    options: { token: 'sequence', parent: 'container' },
    breaks: [...TOKENS, 'progress'],
  },
  {
    ...{ lock: 'zookeeper', stores: ['fenced'], work: w.W1_IDLE, faults: [] },
    options: { token: 'czxid', parent: 'container' },
    holds: [...TOKENS, 'progress'],
  },
  {
    ...{ lock: 'zookeeper', stores: ['fenced'], work: w.W1_SLOW_BUSY },
    ...{ faults: [f.L_OF_ANSWERS_AND_P], options: { protection: 'any', followerLag: 8000 } },
    breaks: ['tokens-increase', 'lease-conservative'],
  },
  {
    ...{ lock: 'zookeeper', stores: ['fenced'], work: w.W1_SLOW_BUSY },
    ...{ faults: [f.L_OF_ANSWERS_AND_P], options: { protection: 'session', followerLag: 8000 } },
    holds: ['tokens-increase', 'lease-conservative', 'mutual-exclusion'],
  },
  {
    ...{ lock: 'kubernetes', stores: ['unfenced'], work: w.W1_SLOW_BUSY },
    ...{ faults: [f.P_IN_RELEASE_GET], options: { release: 'observed' } },
    breaks: ['owner-only-release', 'mutual-exclusion'],
  },
  {
    ...{ lock: 'kubernetes', stores: ['unfenced'], work: w.W1_SLOW_BUSY },
    ...{ faults: [f.P_IN_RELEASE_GET], options: { release: 'checked' } },
    holds: ['owner-only-release', 'mutual-exclusion'],
  },

  {
    ...{ lock: 'pessimistic', stores: ['unfenced'], work: W2, faults: [P] },
    clients: { checksLease: false },
    holds: ['grant-order'],
  },
  {
    ...{ lock: 'pessimistic', stores: ['unfenced'], work: W2, faults: [f.C_FOR_EVER] },
    clients: { checksLease: false, lockTimeout: 'never' },
    breaks: ['progress'],
  },
  {
    ...{ lock: 'pessimistic', stores: ['unfenced'], work: w.W2_OPPOSITE, faults: [] },
    clients: { checksLease: false, lockTimeout: 'never' },
    breaks: ['progress'],
  },

  {
    ...{ lock: 'lock-service', stores: ['unfenced'], work: W1, faults: [f.P_R_WITHIN] },
    options: { lockDelay: f.LOCK_DELAY_MS },
    holds: ['grant-order'],
    prevents: true,
  },
  ...[
    { fault: f.P_R_BEYOND, lockDelay: f.LOCK_DELAY_MS },
    { fault: f.P_R_WITHIN, lockDelay: 0 },
  ].map(({ fault, lockDelay }) => ({
    ...{ lock: 'lock-service', stores: ['unfenced'], work: W1, faults: [fault] },
    options: { lockDelay },
    breaks: ['grant-order'],
  })),
];

/** Rows about systems that are not there, with the reason. */
export const LATER: readonly (readonly [string, string])[] = [
  ['npm redlock 5 · D longer than the ttl', 'the package itself is not run here'],
  ['DynamoDB lock client · S / Q beyond the bound', 'there is no such protocol'],
  ['Consul and Chubby themselves', 'the lock-delay is an option of the lock service here'],
];
