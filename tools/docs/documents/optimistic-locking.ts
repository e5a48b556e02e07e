/** Tests the document on optimistic locking, line by line. */
import type { Row, SourceDocument } from './row.ts';

/** The statement of the document, with its own numbers. */
const STOCK = 'show fixtures/stock.yaml --system stock-sql';

const fencing: readonly Row[] = [
  {
    lines: '3, 12',
    says:
      'A pause outlasts the lease: the client wakes up, does not know that it lost the lock, and ' +
      'overwrites the write of its successor.',
    shown: {
      command: 'show fixtures/plans/zombie-writer-unfenced-grant-order.yaml',
      prints: [
        'paused for 20 ms, until 22 ms ← pause',
        "bob's lease of db (token 1) expires",
        'sends write x = 1, token 1 (cached, 2 is current) → store',
        "✓ accepts bob's x = 1, token 1 ← stale write",
        /✗ grant-order +breaks/,
      ],
    },
  },
  {
    lines: '22–28',
    says: 'A holds token 31 and pauses. B gets token 32 and writes with it. Then A’s write with 31 is refused.',
    shown: {
      script: `
import { LockService, Store, stores } from 'fencepost/servers';
const service = new LockService(31);
const of = (client, now) => service.acquire({ lock: 'db', client, ttl: 10, now }).grant.token;
const [a, b] = [of('A', 0), of('B', 15)];
const store = new Store(stores.get('fenced'));
const place = { resource: 'db', key: 'file', sequence: 1 };
console.log('tokens', a, b);
console.log('B writes', store.write({ ...place, token: b }, 2).kind);
console.log('last seen token', store.highest(place));
console.log('A writes', store.write({ ...place, token: a }, 1).kind);`,
      prints: ['tokens 31 32', 'B writes accepted', 'last seen token 32', 'A writes refused'],
    },
  },
  {
    lines: '20, 55',
    says: 'A lock service such as ZooKeeper or etcd issues the tokens.',
    shown: {
      command: 'replay zookeeper-fencing-czxid-grant-order etcd-fencing-revision-grant-order',
      prints: [
        /zookeeper-fencing-czxid-grant-order: fixed .*the claim held/,
        /etcd-fencing-revision-grant-order: fixed .*the claim held/,
      ],
    },
  },
  {
    lines: '6',
    says: 'A lock states which client should have access; a fencing token proves which client still has it.',
    shown: {
      command: 'show fixtures/plans/zombie-writer-fenced-grant-order.yaml',
      prints: [
        "✓ accepts carol's x = 2, token 2",
        "⊘ refuses bob's x = 1, token 1, highest seen 2",
        /✓ grant-order +holds/,
      ],
    },
  },
];

const optimistic: readonly Row[] = [
  {
    lines: '36–38',
    says: 'Any client may update a row if its `version` proves that the client read the latest state.',
    shown: {
      command: 'show fixtures/plans/optimistic-versioned-no-lost-update.yaml',
      prints: [
        "✓ accepts bob's x = 1, first version 1",
        "⊘ refuses carol's x = 1, expects no row, has version 1 (0 rows)",
        /✓ no-lost-update +holds/,
      ],
    },
  },
  {
    lines: '38',
    says: 'A `timestamp` can take the place of the version, but does not distinguish two changes within one clock tick.',
    shown: {
      command: 'show fixtures/plans/timestamp-tick-timestamped-sql-no-lost-update.yaml',
      prints: [
        "✓ accepts alice's x = 1, first change of 0 ms",
        "✓ accepts bob's x = 2, change of 0 ms → 0 ms ← lost write",
        "✓ accepts alice's x = 2, change of 0 ms → 0 ms ← overwriting write",
        /✗ no-lost-update +breaks/,
      ],
    },
  },
  {
    lines: '40–44',
    says:
      '`UPDATE products SET stock = stock - 1, version = version + 1 WHERE id = 123 AND version = ' +
      '5` runs in SQLite, and the stock does not fall below 0.',
    shown: {
      command: 'show fixtures/stock.yaml --system last-piece',
      prints: [
        'has stock = 1, version 5',
        "✓ accepts bob's stock = 0, version 5 → 6",
        "⊘ refuses alice's stock = 0, expects version 5, has 6 (0 rows)",
        "⊘ refuses alice's stock = -1, CHECK (stock >= 0) forbids it",
      ],
    },
  },
  {
    lines: '45',
    says: 'If another client has changed the row to version 6, the update changes 0 rows, and the client retries.',
    shown: {
      command: STOCK,
      prints: [
        "✓ accepts bob's stock = 9, version 5 → 6",
        "⊘ refuses alice's stock = 9, expects version 5, has 6 (0 rows)",
        '✓ serves stock = 9 to alice, version 6',
        "✓ accepts alice's stock = 8, version 6 → 7",
      ],
    },
  },
  {
    lines: '36–45',
    says: 'The conflict is visible: the expected version, the current version, and the reason for the refusal.',
    shown: {
      command: `${STOCK} --format mermaid`,
      prints: [
        'sequenceDiagram',
        /p1->>p3: 13 ms · write stock = 9, expects(<br\/>| )version 5/,
        /13 ms · ⊘ refuses alice's stock = 9,(<br\/>| )expects version 5, has 6 \(0 rows\)/,
      ],
    },
  },
  {
    lines: '36',
    says: 'Data stays correct without a lock: the history of the clients is linearizable.',
    shown: {
      command: STOCK,
      prints: [/✓ linearizable +holds +exercised 1 time/],
    },
  },
  {
    lines: '54',
    says: 'The application must retry, but it must not apply an update twice if the answer to the update is lost.',
    shown: {
      command: 'show fixtures/plans/unknown-commit-retry-blindly-no-lost-update.yaml',
      prints: [
        '? write x: no answer, it may have happened',
        "✓ accepts alice's x = 2, version 1 → 2 ← repeated write",
        /✗ no-lost-update +breaks/,
      ],
    },
  },
];

const pessimistic: readonly Row[] = [
  {
    lines: '53',
    says: 'With pessimistic locking, other clients must wait, and may deadlock.',
    shown: {
      command: 'show fixtures/plans/opposite-order-wait-progress.yaml -v',
      prints: [
        'lets bob wait: carol holds a',
        'finds a deadlock: carol waits for b and bob waits for a ← circle',
        /✗ progress +breaks/,
      ],
    },
  },
  {
    lines: '53–55',
    says: 'A table compares the latency, the contention and the safety of the three strategies.',
    shown: {
      comparedSeeds: 20,
      prints: [
        /pessimistic +optimistic +fenced-lease +plain-lease/,
        '± mixed: pessimistic locking for high contention',
        '✓ holds: optimistic locking for low contention',
        '✓ holds: fencing for safety across services',
      ],
    },
  },
];

export const document: SourceDocument = {
  title: 'Fencing tokens and optimistic locking',
  about: 'A page on zombie clients, fencing tokens and version columns, and on when to use each.',
  rows: [...fencing, ...optimistic, ...pessimistic],
};
