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
    'redlock-late-reply': 'replies that arrive after the lease has ended and still count',
  },
  etcd: {
    'etcd-fencing': 'a late holder; one store compares revisions, another does not',
    'etcd-lost-release': 'a lost release, after which the session keeps the lock',
    'etcd-given-up': 'an unanswered attempt, which may hold the lock after its client gave up',
    'etcd-recheck': 'a client before 3.4.4, which does not look again after waiting',
    'etcd-old-leader': 'an old leader that revokes leases which the new one keeps alive',
    'unwatched-lease': 'a program that does not watch its own session',
  },
  zookeeper: {
    'zookeeper-fencing': 'a late holder; one store compares czxid, another does not',
    'zookeeper-lost-release': 'a lost delete, after which the session keeps the lock',
    'zookeeper-sequence': 'the sequence number of a child as the token, which restarts',
    'zookeeper-previous-session':
      'a child of the client’s previous session, mistaken for a new one',
  },
  kubernetes: {
    'kubernetes-callbacks': 'a former leader that continues its work',
    'kubernetes-release': 'a release that clears the record of the next leader',
    'kubernetes-duration': 'a lease of 1.9 s that is recorded as 1 s',
    'kubernetes-late-reply': 'a lease that is counted from the answer',
    'kubernetes-rate': 'clock drift that exceeds the margin between the two durations',
  },
  postgres: {
    'postgres-pooler': 'two migrations at once, behind a pooler in transaction mode',
    'postgres-lost-session': 'a lost connection, and the lock with it',
    'postgres-failover': 'a standby that knows of no lock',
    'postgres-half-open': 'a dead holder, whose connection was never closed',
  },
  optimistic: {
    optimistic: 'writes with and without a version check',
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
