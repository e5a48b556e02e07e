/**
 * What goes wrong with the locks that people run, by the name of `init --lock`: scenarios of
 * `fixtures`, in each of which it is found beside its cure, and a few words on each.
 */
export const lockRisks: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map([
  [
    'redis',
    {
      'redis-release': 'a late DEL that frees the next holder’s lock, and a script that compares',
      'redis-failover': 'a replica that has not heard of the lock takes over',
    },
  ],
  [
    'redlock',
    {
      redlock: 'a holder that is late overwrites its successor, though a majority agreed',
      'redlock-restart': 'a node comes back empty and serves at once, or after the longest ttl',
      'redlock-clock-step': 'a node’s clock is set forwards',
    },
  ],
  [
    'etcd',
    {
      'etcd-fencing': 'a late holder, before stores that compare revisions, and that do not',
      'etcd-lost-release': 'a lost release, after which the session keeps the lock',
      'etcd-recheck': 'a client before 3.4.4, which does not look again after waiting',
    },
  ],
  [
    'zookeeper',
    {
      'zookeeper-fencing': 'a late holder, before stores that compare czxid, and that do not',
      'zookeeper-lost-release': 'a lost delete, after which the session keeps the lock',
      'zookeeper-sequence': 'the sequence of a child as a token, which begins again',
    },
  ],
  [
    'kubernetes',
    {
      'kubernetes-callbacks': 'a leader that goes on in the midst of its work',
      'kubernetes-release': 'a release that clears the record of the next leader',
      'kubernetes-duration': 'a lease of 1.9 s, of which the record says 1 s',
    },
  ],
  [
    'postgres',
    {
      'postgres-pooler': 'two migrations at once, behind a pooler in transaction mode',
      'postgres-lost-session': 'a lost connection, and the lock with it',
      'postgres-failover': 'a standby that knows of no lock',
      'postgres-half-open': 'a dead holder, whose connection nobody closed',
    },
  ],
  [
    'optimistic',
    {
      optimistic: 'a version that is compared, and none',
      'unknown-commit': 'a write without an answer: try again, under a name, or give up',
    },
  ],
  [
    'pessimistic',
    {
      'crashed-holder': 'a holder that crashes, with and without a ttl',
      'opposite-order': 'two locks in opposite order, which wait for each other',
    },
  ],
]);
