/** Tests the document on fencing tokens, line by line. */
import type { SourceDocument } from './row.ts';

const grants = `
import { hasExpired, LockService } from 'fencepost/servers';
const service = new LockService();
const ask = (lock, client, now) => {
  const answer = service.acquire({ lock, client, ttl: 10, now });
  console.log(\`\${lock} at \${now} for \${client}: \${JSON.stringify(answer.grant ?? answer.holder)}\`);
  return answer;
};
const { grant } = ask('db', 'A', 0);
console.log(\`expired at 9: \${hasExpired(grant, 9)}, at 10: \${hasExpired(grant, 10)}\`);
ask('db', 'B', 9);
ask('db', 'B', 10);
ask('other', 'A', 10);
`;

const places = `
import { Store } from 'fencepost/servers';
const fenced = new Store('fenced');
const write = (resource, key, token, value) => {
  const { kind, highest } = fenced.write({ resource, key, token, sequence: 1 }, value);
  console.log(\`\${resource}/\${key}, token \${token}: \${kind}\${highest ? \`, highest seen \${highest}\` : ''}\`);
};
write('db', 'x', 2, 7);
write('db', 'y', 2, 8); // equal, another key
write('db', 'y', 1, 9); // the highest is the resource's, not the key's
write('files', 'x', 1, 10); // another resource has its own
const read = (resource, key) => fenced.read({ resource, key, token: 0, sequence: 1 }).value;
console.log(\`db/x = \${read('db', 'x')}, db/y = \${read('db', 'y')}, files/x = \${read('files', 'x')}\`);
`;

const client = `
import { LockClient, LockService, Store } from 'fencepost/servers';
const service = new LockService();
const [A, B] = [new LockClient('A', service), new LockClient('B', service)];
const store = new Store('fenced');
const x = { lock: 'db', key: 'x' };
const print = (what, { kind, holder, highest }) =>
  console.log(\`\${what}: \${kind}\${holder ? \` by \${holder}\` : ''}\${highest ? \`, highest seen \${highest}\` : ''}\`);
print('A acquires at 0', A.acquire({ lock: 'db', ttl: 10, now: 0 }));
print('A writes with its token', A.write(store, x, 100));
print('B acquires at 5', B.acquire({ lock: 'db', ttl: 10, now: 5 }));
print('B releases what A holds', B.release('db'));
print('B renews what A holds', B.renew({ lock: 'db', ttl: 10, now: 6 }));
print('A renews at 6', A.renew({ lock: 'db', ttl: 20, now: 6 }));
console.log(\`still token \${A.token('db')}: \${JSON.stringify(service.current('db'))}\`);
print('A renews at 26', A.renew({ lock: 'db', ttl: 20, now: 26 }));
print('A acquires at 27', A.acquire({ lock: 'db', ttl: 10, now: 27 }));
print('A acquires again at 28', A.acquire({ lock: 'db', ttl: 10, now: 28 }));
console.log(\`now token \${A.token('db')}\`);
print('A releases', A.release('db'));
print('A writes after that', A.write(store, x, 101));
print('B acquires at 30', B.acquire({ lock: 'db', ttl: 10, now: 30 }));
print('B releases at 99, expired and untaken', B.release('db'));
`;

const byName = `
import { LockService } from 'fencepost/servers';
const service = new LockService();
const first = service.acquire({ lock: 'db', client: 'A', ttl: 10, now: 0 }).grant.token;
service.acquire({ lock: 'db', client: 'A', ttl: 10, now: 1 });
const release = (token) => service.release({ lock: 'db', client: 'A', token }).kind;
console.log(\`that of the first grant: \${release(first)}\`);
console.log(\`for whatever A holds, as published: \${release(null)}\`);
`;

export const document: SourceDocument = {
  title: 'Fencing tokens',
  about:
    'A description of `fencing_tokens.py` (29 May 2026), after chapters 8 and 9 of Kleppmann’s *Designing Data-Intensive Applications*.',
  rows: [
    {
      lines: '11',
      says: 'The design has four parts: the token, the lock service, the fenced and unfenced resource servers, and the client that connects them.',
      shown: {
        script: client,
        prints: ['A acquires at 0: granted', 'A writes with its token: accepted'],
      },
    },
    {
      lines: '17',
      says: 'A grant has a token, the name of its lock, the id of its client, a time of issue, and a ttl.',
      shown: {
        script: grants,
        prints: ['db at 0 for A: {"token":1,"lock":"db","client":"A","issuedAt":0,"ttl":10}'],
      },
    },
    {
      lines: '17',
      says: 'A grant expires at its time of issue plus its ttl. If it was issued at 0 with ttl 10, it has expired at 10.',
      shown: { script: grants, prints: ['expired at 9: false, at 10: true', 'db at 9 for B: "A"'] },
    },
    {
      lines: '21',
      says: 'The lock service has one counter for all locks, which starts at 1, and a map from each lock to its current token.',
      shown: {
        script: grants,
        prints: [
          'db at 10 for B: {"token":2,"lock":"db"',
          'other at 10 for A: {"token":3,"lock":"other"',
        ],
      },
    },
    {
      lines: '25',
      says: 'The fenced server stores values by resource and key, and the highest token of each resource.',
      shown: {
        script: places,
        prints: [
          'db/y, token 1: refused, highest seen 2',
          'files/x, token 1: accepted',
          'db/x = 7, db/y = 8, files/x = 10',
        ],
      },
    },
    {
      lines: '25, 63',
      says: 'The fenced server refuses a token below the highest. It accepts an equal token, so one holder can write several keys.',
      shown: {
        script: places,
        prints: ['db/y, token 2: accepted', 'db/y, token 1: refused, highest seen 2'],
      },
    },
    {
      lines: '29',
      says: 'The unfenced server accepts every write, which shows the corruption.',
      shown: {
        command: 'show six-steps --system unfenced',
        prints: [
          /✓ accepts client-B's x = 200, token 2.*\n(?:.*\n)*.*✓ accepts client-A's x = 101, token 1 ← stale write/,
          '✗ grant-order              breaks',
        ],
      },
    },
    {
      lines: '33',
      says: 'The client binds its id to a lock service, stores its tokens, and attaches the right token to each write.',
      shown: {
        script: client,
        prints: ['A writes with its token: accepted', 'A writes after that: no-token'],
      },
    },
    {
      lines: '43–57',
      says: 'In the six steps, at the times 0, 10 and 15, the fenced server refuses the late write because 1 < 2. An unfenced server silently accepts it.',
      shown: {
        command: 'show six-steps --system fenced',
        prints: [
          / 0 {2}grants token 1 to client-A for 10 ms, until 10 ms/,
          / 0 .*✓ accepts client-A's x = 100, token 1\n/,
          /10 {2}client-A's lease of db \(token 1\) expires/,
          /15 {2}grants token 2 to client-B/,
          /15 .*✓ accepts client-B's x = 200, token 2\n/,
          /20 .*⊘ refuses client-A's x = 101, token 1, highest seen 2/,
        ],
      },
    },
    {
      lines: '49',
      says: 'Advancing the time past the ttl simulates a stall.',
      shown: {
        command: 'show six-steps',
        prints: [
          / 0 .*paused for 20 ms, until 20 ms ← pause/,
          /20 .*▶ resumes/,
          'same plan on twin fenced: 20 ms ⊘ refused, token 1, highest seen 2; grant-order holds',
          'same plan on twin fenced-31: 20 ms ⊘ refused, token 31, highest seen 32; grant-order holds',
        ],
      },
    },
    {
      lines: '61',
      says: 'Tokens only increase, and the counter is never reset.',
      shown: {
        command:
          'replay token-regression-durable-tokens-increase token-regression-volatile-tokens-increase',
        prints: [
          'token-regression-durable-tokens-increase: fixed (tokens-increase)',
          'token-regression-volatile-tokens-increase: reproduced (tokens-increase)',
        ],
      },
    },
    {
      lines: '63',
      says: '`write` requires that the token is at least the highest token.',
      shown: {
        command: 'replay six-steps-fenced-grant-order six-steps-unfenced-grant-order',
        prints: [
          'six-steps-fenced-grant-order: fixed (grant-order)',
          'six-steps-unfenced-grant-order: reproduced (grant-order)',
        ],
      },
    },
    {
      lines: '65',
      says: 'Only the holder can release or renew a grant.',
      shown: {
        script: client,
        prints: ['B releases what A holds: denied by A', 'B renews what A holds: denied by A'],
      },
    },
    {
      lines: '65',
      says: 'A release names only the client, so it also releases a later grant of that client.',
      shown: {
        script: byName,
        prints: ['that of the first grant: denied', 'for whatever A holds, as published: released'],
      },
    },
    {
      lines: '67',
      says: 'A renewal changes the time of issue and the ttl, and keeps the token.',
      shown: {
        script: client,
        prints: [
          'A renews at 6: renewed',
          'still token 1: {"token":1,"lock":"db","client":"A","issuedAt":6,"ttl":20}',
          'A renews at 26: denied',
        ],
      },
    },
    {
      lines: '69',
      says: 'A holder that acquires again gets a new, higher token.',
      shown: {
        script: client,
        prints: ['A acquires again at 28: granted', 'now token 3'],
      },
    },
    {
      lines: '73',
      says: 'A denial is returned as a value, never raised as an exception.',
      shown: {
        script: client,
        prints: [
          'B acquires at 5: denied by A',
          'A renews at 26: denied by A',
          'B releases at 99, expired and untaken: released',
        ],
      },
    },
    {
      lines: '65 (upstream)',
      says: 'A holder can still release an expired grant if no other client has acquired the lock since.',
      shown: {
        script: client,
        prints: ['B acquires at 30: granted', 'B releases at 99, expired and untaken: released'],
      },
    },
  ],
};
