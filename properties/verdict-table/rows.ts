/**
 * The verdict table: which lock with which store holds or breaks which claims under which faults.
 * `none` is the empty list of faults. Without faults no other claim breaks: see `calm.ts`.
 */
import type { Letter } from './faults.ts';
import * as f from './faults.ts';
import type { Row } from './row.ts';
import * as w from './works.ts';

const { P, D, R, L, U, O, C, CL, CR, E, F, N, Q, S } = f;
const { W1, W1_SEVERAL, W1_UNAWAITED, W2, W3, W4 } = w;

const ANY_FENCED = [
  'fenced',
  'fenced-strict',
  'fenced-reads',
  'fenced-open',
  'fenced-sequenced',
  'fenced-per-key',
  'fenced-volatile',
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

function row(
  lock: string,
  stores: readonly string[],
  work: Row['work'],
  faults: readonly Letter[],
  rest: Omit<Row, 'lock' | 'stores' | 'work' | 'faults'>,
): Row {
  return { lock, stores, work, faults, ...rest };
}

export const rows: readonly Row[] = [
  row('lock-service', ['unfenced'], W1, [P], {
    breaks: ['grant-order', 'fence-monotone', 'linearizable(fenced-register)'],
  }),
  row('lock-service', ['fenced'], W1, LATE, {
    holds: ['grant-order', 'fence-monotone', 'tokens-increase', 'linearizable'],
  }),
  ...[R, f.P_BEFORE_WRITE].map((fault) =>
    row('lock-service', ['fenced', 'fenced-strict'], W2, [fault], {
      holds: ['fence-monotone'],
      breaks: ['grant-order', 'no-lost-update', 'read-fence'],
    }),
  ),
  ...[LATE, [P, D, R, L, U]].map((faults) =>
    row('lock-service', ['fenced-reads', 'fenced-open'], W2, faults, {
      ...(faults === LATE ? {} : GIVES_UP),
      holds: ['grant-order', 'no-lost-update', 'read-fence', 'fence-monotone'],
    }),
  ),
  row('lock-service', ['fenced'], W1_UNAWAITED, [O], { breaks: ['holder-order'] }),
  row('lock-service', ['fenced'], W1_SEVERAL, [U], { breaks: ['holder-order'] }),
  row('lock-service', ['fenced-strict'], W1_SEVERAL, [], { breaks: ['progress'] }),
  ...[LATE, [P, D, R, L, U]].map((faults) =>
    row('lock-service', ['fenced-sequenced'], W1_UNAWAITED, faults, {
      ...(faults === LATE ? {} : GIVES_UP),
      holds: ['fence-monotone', 'holder-order'],
    }),
  ),
  row('lock-service', ['fenced-volatile'], W1, [CR], { breaks: ['fence-durable'] }),
  row('lock-service', ['fenced-volatile'], W1, [P, CR], {
    breaks: ['fence-monotone', 'grant-order'],
  }),
  ...['token-and-clock', 'token-and-count'].map((stamp) =>
    row('lock-service', ['quorum'], W1, [f.P_AFTER_CHECK, f.R_OF_REPLICAS, f.L_OF_REPLICAS, D], {
      options: { stamp },
      holds: ['grant-order', 'fence-monotone'],
    }),
  ),
  row('lock-service', ['quorum'], W1, [f.P_AFTER_CHECK], {
    options: { stamp: 'clock' },
    breaks: ['grant-order', 'fence-monotone'],
  }),
  ...[{ readQuorum: 1 }, { writeQuorum: 1, readQuorum: 1 }, { writeQuorum: 1 }].map((options) =>
    row('lock-service', ['quorum'], W1, [f.L_OF_REPLICAS], { options, breaks: ['grant-order'] }),
  ),
  row('lock-service', ['quorum'], W2, [f.P_BEFORE_WRITE], {
    holds: ['fence-monotone'],
    breaks: ['grant-order', 'no-lost-update', 'read-fence'],
  }),
  row('lock-service', ['quorum'], w.W1_READ_BACK, [f.L_OF_REPLICAS], {
    clients: { storeTimeout: '4ms' },
    breaks: ['grant-order'],
    note: 'a holder that takes an unanswered write for done',
  }),
  row('lock-service', ['fenced'], W1, [CL], {
    options: { counter: 'volatile' },
    breaks: ['tokens-increase', 'progress'],
  }),
  ...[W1, W2, W3].map((work) =>
    row('lock-service-published', ['fenced'], work, [S], {
      holds: ['fence-monotone'],
      breaks: ['mutual-exclusion'],
    }),
  ),
  row('lock-service', ANY_FENCED, W3, [P], { holds: ['fence-monotone'], breaks: ['cross-key'] }),
  row('lock-service', ['fenced'], W1, [R], {
    clients: { storeTimeout: '4ms' },
    breaks: ['no-write-after-release'],
  }),

  ...[E].map((fault) => row('lease-memcached', ['fenced'], W4, [fault], { breaks: TOKENS })),
  ...['lease-memcached', 'lease-redis'].map((lock) =>
    row(lock, ['fenced'], w.W4_IDLE, [], {
      breaks: TOKENS,
      note: 'a lease in Redis is forgotten as well: it is stored with SETEX, for 24 hours',
    }),
  ),
  row('lease-dynamodb', ['fenced'], w.W4_IDLE, [], { holds: TOKENS }),
  row('lease-dynamodb', ['fenced'], W4, [P, D, L, C], { holds: TOKENS }),
  ...[S, f.S_WITHIN].map((fault) =>
    row('lease-dynamodb', ['fenced'], W4, [fault], {
      holds: TOKENS,
      breaks: ['mutual-exclusion'],
      note: 'not only S > timeout: more than what is left of the lease is enough',
    }),
  ),
  row('lease-dynamodb', ['fenced'], W4, [N], {
    options: { standby: 'yes' },
    breaks: ['mutual-exclusion', 'tokens-increase'],
  }),

  ...[W1, W2].map((work) =>
    row('cache-lock', ['unfenced'], work, [], {
      holds: ['mutual-exclusion', 'owner-only-release'],
      breaks: ['lease-conservative'],
    }),
  ),
  ...[W1, W2].map((work) =>
    row('cache-lock', ['unfenced'], work, [E], { breaks: ['mutual-exclusion'] }),
  ),
  ...[W1, W2].map((work) =>
    row('cache-lock', ['unfenced'], work, [f.P_IN_RELEASE], {
      // The client whose key was deleted still holds the lock, so the next grant adds a second
      // holder.
      breaks: ['owner-only-release', 'mutual-exclusion'],
    }),
  ),

  ...[W1, W2].map((work) =>
    row('redis', ['unfenced'], work, [P, D, L, C], {
      holds: ['mutual-exclusion', 'owner-only-release'],
      breaks: ['grant-order'],
    }),
  ),
  ...[W1, W2].map((work) =>
    row('redis', ['unfenced'], work, [P], {
      options: { release: 'delete' },
      // The client whose key was deleted still holds the lock, so the next grant adds a second
      // holder.
      breaks: ['owner-only-release', 'mutual-exclusion'],
    }),
  ),
  ...[W1, W2].map((work) =>
    row('redis', ['unfenced'], work, [F], { breaks: ['mutual-exclusion'] }),
  ),

  ...[W1, W2].map((work) =>
    row('redlock', ['unfenced'], work, [D, f.P_WHILE_ACQUIRING, C, Q], {
      options: { nodes: 3 },
      holds: ['mutual-exclusion', 'lease-conservative'],
    }),
  ),
  ...[f.P_AFTER_CHECK, R].map((fault) =>
    row('redlock', ['unfenced'], W1, [fault], { options: { nodes: 3 }, breaks: ['grant-order'] }),
  ),
  row('redlock', ['unfenced'], w.BUSY, [f.J_ON_ONE_NODE], {
    options: { nodes: 3 },
    breaks: ['mutual-exclusion'],
  }),
  row('redlock', ['unfenced'], w.BUSY, [CL], {
    options: { nodes: 3, restart: 'at-once' },
    breaks: ['mutual-exclusion'],
  }),
  row('redlock', ['unfenced'], w.BUSY, [CL], {
    options: { nodes: 3 },
    holds: ['mutual-exclusion'],
  }),
  row('redlock', ['unfenced'], w.BUSY, [D], {
    options: { nodes: 3, validity: 'unchecked' },
    clients: { lockTimeout: 'never' },
    breaks: ['holder-overlap'],
  }),

  ...['lock-service', 'lock-service-published'].map((lock) =>
    row(lock, ['unique-token'], W2, [P, D, R, O], { holds: ['no-lost-update'] }),
  ),
  row('redis', ['unique-token'], W2, [P, D, R, O], {
    options: { token: 'value' },
    holds: ['no-lost-update'],
  }),
  ...['lock-service', 'lock-service-published'].map((lock) =>
    row(lock, ['unique-token'], W2, [P, D, R, U], { breaks: ['no-lost-update'] }),
  ),

  row('optimistic', VERSIONED, W2, [P, R, O], { holds: ['no-lost-update', 'linearizable'] }),
  row('optimistic', VERSIONED, W2, [L], {
    clients: { storeTimeout: '15ms' },
    holds: ['no-lost-update', 'linearizable'],
  }),
  row('optimistic', VERSIONED, W2, [L], {
    options: { unknownCommit: 'retry-blindly' },
    clients: { storeTimeout: '15ms' },
    holds: ['linearizable'],
    breaks: ['no-lost-update'],
  }),
  row('optimistic', TIMESTAMPED, w.W2_SAME_TICK, [], {
    breaks: ['no-lost-update', 'linearizable'],
  }),
  row('optimistic', TIMESTAMPED, W2, [P, f.J_OF_STORES], {
    breaks: ['no-lost-update', 'linearizable'],
  }),

  row('optimistic', ['timestamped-by-client'], W2, [f.S_SOME_MS], {
    breaks: ['no-lost-update', 'linearizable'],
    note: 'where the clients set the timestamp; one clock of the store, however wrong, does not',
  }),
  row('optimistic', TIMESTAMPED, W2, [f.S_SOME_MS], { holds: ['no-lost-update', 'linearizable'] }),

  // Calls whose answers are lost or late: claims judge a store only by the answers that arrived.
  ...[W1, W2].map((work) =>
    row('lock-service', ['unfenced'], work, [P, R, L], {
      ...GIVES_UP,
      breaks: ['grant-order', 'fence-monotone', 'linearizable'],
    }),
  ),
  ...[W1, W2].map((work) =>
    row('lock-service', FENCED, work, [P, R, L, O], {
      ...GIVES_UP,
      holds: ['fence-monotone', 'linearizable'],
    }),
  ),
  row('lock-service', ['fenced-reads', 'fenced-open'], W2, [P, R, L, O], {
    ...GIVES_UP,
    holds: ['grant-order', 'no-lost-update', 'read-fence', 'fence-monotone', 'linearizable'],
  }),
  row('lock-service', ['fenced-sequenced'], W1_UNAWAITED, [P, R, L, O], {
    ...GIVES_UP,
    holds: ['fence-monotone', 'holder-order'],
  }),
  row('lock-service', ['unique-token'], W2, [P, R, O, L], {
    ...GIVES_UP,
    holds: ['no-lost-update'],
  }),
  row('lock-service', ['check-sequencer'], W1, [P, R, L], {
    ...GIVES_UP,
    holds: ['fence-monotone'],
  }),
  row('optimistic', TIMESTAMPED.concat('timestamped-by-client'), W2, [L, R], {
    ...GIVES_UP,
    holds: ['linearizable'],
  }),

  row('postgres', ['unfenced'], W2, [P, D, R, C, O], {
    holds: ['mutual-exclusion', 'owner-only-release', 'progress'],
  }),
  row('postgres', ['unfenced'], W2, [], {
    options: { pooler: 'transaction' },
    breaks: ['mutual-exclusion', 'grant-order', 'no-lost-update'],
  }),
  row('postgres', ['unfenced'], W2, [P, D, R], {
    options: { pooler: 'transaction', level: 'transaction' },
    holds: ['mutual-exclusion', 'grant-order', 'no-lost-update', 'progress'],
  }),
  row('postgres', ['unfenced'], W1, [f.O_OF_LOCK, P], { breaks: ['grant-order'] }),
  row('postgres', ['fenced'], W1, [f.O_OF_LOCK, P], {
    options: { token: 'sequence' },
    holds: ['grant-order', 'fence-monotone'],
  }),
  ...[F, CL].map((fault) =>
    row('postgres', ['unfenced'], w.BUSY, [fault], { breaks: ['mutual-exclusion'] }),
  ),
  row('postgres', ['unfenced'], W1, [f.C_FOR_EVER], {
    options: { peerDeath: 'half-open' },
    breaks: ['progress'],
  }),
  row('postgres', ['unfenced'], W1, [f.C_FOR_EVER], {
    options: { peerDeath: 'half-open', keepaliveMs: 20 },
    holds: ['progress'],
  }),
  // Sessions, and a record that a heartbeat renews.
  ...KEPT_BY_HEARTBEAT.map(({ lock, options }) =>
    row(lock, ['unfenced'], w.W1_SLOW, [f.P_BEFORE_WRITE], {
      options,
      holds: ['mutual-exclusion', 'lease-conservative'],
      breaks: ['grant-order', 'fence-monotone'],
    }),
  ),
  ...KEPT_BY_HEARTBEAT.map(({ lock, options }) =>
    row(lock, ['fenced'], w.W1_SLOW, [P, R, O], {
      options,
      holds: ['grant-order', 'fence-monotone', 'tokens-increase', 'mutual-exclusion', 'progress'],
    }),
  ),
  row('zookeeper', ['fenced'], w.W1_SLOW, [f.D_OF_ACQUIRES], {
    options: { protection: 'none' },
    breaks: ['progress'],
    note: 'who gives up before the answer stays in line for as long as its session lasts',
  }),
  row('zookeeper', ['fenced'], w.W1_SLOW, [f.D_OF_ACQUIRES], {
    holds: ['progress', 'mutual-exclusion', 'tokens-increase'],
  }),
  row('etcd', ['check-sequencer'], w.W1_SLOW, [f.P_BEFORE_WRITE], {
    options: { unanswered: 'orphans' },
    holds: ['grant-order', 'fence-monotone'],
  }),
  ...[
    { lock: 'etcd', wrong: { unanswered: 'kept' }, right: { unanswered: 'orphans' } },
    { lock: 'zookeeper', wrong: { release: 'once' }, right: { release: 'guaranteed' } },
  ].flatMap(({ lock, wrong, right }) => {
    const loses = row(lock, ['unfenced'], w.W1_SLOW, [f.L_OF_RELEASES], {});
    return [
      { ...loses, options: wrong, breaks: ['progress'] },
      { ...loses, options: right, holds: ['progress', 'mutual-exclusion'] },
    ];
  }),
  row('zookeeper', ['fenced'], w.W1_IDLE, [], {
    options: { token: 'sequence', parent: 'container' },
    breaks: [...TOKENS, 'progress'],
  }),
  row('zookeeper', ['fenced'], w.W1_IDLE, [], {
    options: { token: 'czxid', parent: 'container' },
    holds: [...TOKENS, 'progress'],
  }),
  row('zookeeper', ['fenced'], w.W1_SLOW_BUSY, [f.L_OF_ANSWERS_AND_P], {
    options: { protection: 'any', followerLag: 8000 },
    breaks: ['tokens-increase', 'lease-conservative'],
  }),
  row('zookeeper', ['fenced'], w.W1_SLOW_BUSY, [f.L_OF_ANSWERS_AND_P], {
    options: { protection: 'session', followerLag: 8000 },
    holds: ['tokens-increase', 'lease-conservative', 'mutual-exclusion'],
  }),
  row('kubernetes', ['unfenced'], w.W1_SLOW_BUSY, [f.P_IN_RELEASE_GET], {
    options: { release: 'observed' },
    breaks: ['owner-only-release', 'mutual-exclusion'],
  }),
  row('kubernetes', ['unfenced'], w.W1_SLOW_BUSY, [f.P_IN_RELEASE_GET], {
    options: { release: 'checked' },
    holds: ['owner-only-release', 'mutual-exclusion'],
  }),

  row('pessimistic', ['unfenced'], W2, [P], {
    clients: { checksLease: false },
    holds: ['grant-order'],
  }),
  row('pessimistic', ['unfenced'], W2, [f.C_FOR_EVER], {
    clients: { checksLease: false, lockTimeout: 'never' },
    breaks: ['progress'],
  }),
  row('pessimistic', ['unfenced'], w.W2_OPPOSITE, [], {
    clients: { checksLease: false, lockTimeout: 'never' },
    breaks: ['progress'],
  }),

  row('lock-service', ['unfenced'], W1, [f.P_R_WITHIN], {
    options: { lockDelay: f.LOCK_DELAY_MS },
    holds: ['grant-order'],
    prevents: true,
  }),
  ...[
    { fault: f.P_R_BEYOND, lockDelay: f.LOCK_DELAY_MS },
    { fault: f.P_R_WITHIN, lockDelay: 0 },
  ].map(({ fault, lockDelay }) =>
    row('lock-service', ['unfenced'], W1, [fault], {
      options: { lockDelay },
      breaks: ['grant-order'],
    }),
  ),
];

/** Rows about systems that are not modeled, with the reason. */
export const LATER: readonly (readonly [string, string])[] = [
  ['npm redlock 5 · D longer than the ttl', 'the package itself is not run here'],
  ['DynamoDB lock client · S / Q beyond the bound', 'there is no such protocol'],
  ['Consul and Chubby themselves', 'the lock-delay is an option of the lock service here'],
];
