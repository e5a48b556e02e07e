/**
 * Lists the known risks of widely used locks, keyed by the names that `init --lock` accepts. Each
 * risk is a scenario in `fixtures` that contains a failure and its cure, with a short description.
 */
export const lockRisks: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  redis: {
    'redis-release': 'a late DEL that frees the next holder’s lock, and a script that compares',
    'no-token': 'a late holder, or a failover; and a store that compares versions instead',
  },
  redlock: {
    'no-token': 'a late holder, although a majority agreed; and a store that compares versions',
    'redlock-restart': 'a node comes back empty and serves at once, or after the longest ttl',
    'redlock-clock-step': 'a node’s clock is set forwards',
    'redlock-late-reply': 'answers that come when the lease is over, and count',
  },
  etcd: {
    'etcd-fencing': 'a late holder, before stores that compare revisions, and that do not',
    'etcd-lost-release': 'a lost release, after which the session keeps the lock',
    'etcd-given-up': 'a try without an answer, which may have the lock that its client gives up',
    'etcd-recheck': 'a client before 3.4.4, which does not look again after waiting',
    'etcd-old-leader': 'an old leader that revokes leases which the new one keeps alive',
    'unwatched-lease': 'a program that does not watch its own session',
  },
  zookeeper: {
    'zookeeper-fencing': 'a late holder, before stores that compare czxid, and that do not',
    'zookeeper-lost-release': 'a lost delete, after which the session keeps the lock',
    'zookeeper-sequence': 'the sequence of a child as a token, which begins again',
    'zookeeper-previous-session': 'a child of one’s own previous session, taken for a new one',
  },
  kubernetes: {
    'kubernetes-callbacks': 'a leader that goes on in the midst of its work',
    'kubernetes-release': 'a release that clears the record of the next leader',
    'kubernetes-duration': 'a lease of 1.9 s, of which the record says 1 s',
    'kubernetes-late-reply': 'a lease that is counted from the answer',
    'kubernetes-rate': 'clocks that drift further apart than the two durations',
  },
  postgres: {
    'postgres-pooler': 'two migrations at once, behind a pooler in transaction mode',
    'postgres-lost-session': 'a lost connection, and the lock with it',
    'postgres-failover': 'a standby that knows of no lock',
    'postgres-half-open': 'a dead holder, whose connection was never closed',
  },
  optimistic: {
    optimistic: 'a version that is compared, and none',
    'unknown-commit': 'a write without an answer: try again, under a name, or give up',
  },
  pessimistic: {
    'crashed-holder': 'a holder that crashes, with and without a ttl',
    'opposite-order': 'two locks in opposite order, which wait for each other',
  },
};

/** npm packages that show which of these locks a project uses. */
const PACKAGES: Readonly<Record<string, string>> = {
  ioredis: 'redis',
  redis: 'redis',
  redlock: 'redlock',
  '@sesamecare-oss/redlock': 'redlock',
  etcd3: 'etcd',
  'node-zookeeper-client': 'zookeeper',
  zookeeper: 'zookeeper',
  '@kubernetes/client-node': 'kubernetes',
  pg: 'postgres',
  postgres: 'postgres',
};

/** Returns the locks used by a project with these dependencies. */
export function locksUsed(dependencies: readonly string[]): readonly string[] {
  return [...new Set(dependencies.flatMap((name) => PACKAGES[name] ?? []))];
}
