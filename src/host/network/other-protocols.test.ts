/** Clients of other servers are never ignored, whatever they send and however it is split. */
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../properties/runs.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { AsyncSection } from '../../systems/protocol.ts';
import { isRedis } from '../redis/resp.ts';
import { inSection } from './in-section.fixture.ts';
import { isUnderstood, NotUnderstood, quoteBytes, wayOutOf } from './other-protocols.ts';

function bytesOf(hex: string): string {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex').toString('latin1');
}

/** The first bytes that npm clients sent to a real socket. */
const OPENINGS: readonly (readonly [client: string, protocol: string, bytes: string])[] = [
  ['pg', 'PostgreSQL', bytesOf('00000030 00030000 75736572 00750064 61746162 61736500 64000000')],
  ['pg with ssl', 'PostgreSQL', bytesOf('00000008 04d2162f')],
  ['libpq with gssencmode', 'PostgreSQL', bytesOf('00000008 04d21630')],
  ['node-zookeeper-client', 'ZooKeeper', bytesOf('0000002c 00000000 00000000 00000000 00007530')],
  ['kafkajs', 'Kafka', bytesOf('00000011 00120002 00000000 00076b61 666b616a 73')],
  ['mongodb', 'MongoDB', bytesOf('61010000 01000000 00000000 d4070000 00000000 61646d69')],
  ['mongodb with a loadBalanced URL', 'MongoDB', bytesOf('0d010000 02000000 00000000 dd070000 00')],
  ['mongodb, 2,625 bytes', 'MongoDB', bytesOf('410a0000 03000000 00000000 dd070000 00')],
  ['mongodb, 298 bytes', 'MongoDB', bytesOf('2a010000 03000000 00000000 dd070000 00')],
  ['tls', 'TLS', bytesOf('16030101 58010001 540303')],
  ['undici', 'HTTP', 'PUT /lock/db HTTP/1.1\r\nhost: api\r\n\r\nx'],
  ['fetch', 'HTTP', 'GET /lock/db HTTP/1.1\r\nhost: api\r\n\r\n'],
  ['etcd3', 'HTTP/2 or gRPC', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\x06\x04'],
  ['amqplib', 'AMQP', 'AMQP\0\0\x09\x01'],
  ['tedious', 'SQL Server', bytesOf('1201005e 00000100 00002400 06010')],
  ['cassandra-driver', 'Cassandra', bytesOf('42000000 01000000 8d0004 000b43514c')],
  ['memcached', 'memcached', 'add db 0 10 1\r\na\r\n'],
  ['memcached, gets', 'memcached', 'gets db\r\n'],
  ['memjs', 'memcached', bytesOf('80000002 00000000 00000002 00000001 00000000 00000000')],
];

type Socket = net.Socket;

const ADDRESS = 'redis-1:6379';

/** Connects, sends the pieces one millisecond apart, and waits for an answer forever. */
function sending(pieces: readonly string[], heard: string[] = []): () => Promise<void> {
  return async () => {
    const socket = net.connect(6379, 'redis-1');
    socket.on('data', (bytes) => heard.push(bytes.toString('latin1')));
    await once(socket, 'connect');
    for (const piece of pieces) {
      socket.write(Buffer.from(piece, 'latin1'));
      await wait(1);
    }
    await once(socket, 'close');
  };
}

function failureOf({ ending }: Trace): string {
  return ending.kind === 'failed' ? ending.error : ending.kind;
}

describe.each(OPENINGS)('%s is recognized as %s', (_, protocol, bytes) => {
  test('however its first bytes are split', async () => {
    for (let at = 0; at < bytes.length; at += 1) {
      const trace = await inSection(sending([bytes.slice(0, at), bytes.slice(at)]));
      expect(trace.ending).toEqual({
        kind: 'failed',
        process: 'alice',
        unserved: ADDRESS,
        error: expect.stringContaining(`alice speaks ${protocol} to ${ADDRESS}, where a simulated`),
      });
    }
    const byBytes = failureOf(await inSection(sending([...bytes])));
    expect(byBytes).toMatch(
      /^alice speaks .*, at src\/host\/network\/other-protocols\.test\.ts:\d+/,
    );
    expect(byBytes).toContain(wayOutOf(protocol));
  });

  test('and even a part of them fails the run', async () => {
    for (let at = 1; at < bytes.length; at += 1) {
      const failure = failureOf(await inSection(sending([bytes.slice(0, at)])));
      expect(failure).toMatch(/^alice (?:speaks \S+|sends ".+"…?).* to redis-1:6379/);
    }
  });
});

test('the error for a protocol names the lock that models it, if there is one', () => {
  const { length } = OPENINGS.filter(([, protocol]) => wayOutOf(protocol).includes('init --lock'));
  expect(length).toBe(5);
});

/** Bytes that begin as a request may, and arbitrary ones. */
const anyBytes: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('', '*', '*1\r\n$4\r\n', '*2\r\n$3\r\nGE', 'GET ', '\r\n', '*0\r\n', '\0\0\0'),
    fc.uint8Array({ minLength: 0, maxLength: 40 }),
    fc.constantFrom('', '\n', '\r\n'),
  )
  .map(([begin, bytes, end]) => begin + Buffer.from(bytes).toString('latin1') + end);

test('no bytes are ignored: each client is answered, or the run fails', async () => {
  const law = fc.asyncProperty(anyBytes, fc.nat(60), async (bytes, offset) => {
    const heard: string[] = [];
    const trace = await inSection(sending([bytes.slice(0, offset), bytes.slice(offset)], heard));
    if (heard.join('') === '') expect(failureOf(trace)).toContain(ADDRESS);
    else expect(isRedis(bytes, () => true)).toBe(true);
  });
  await fc.assert(law, { numRuns: runs(400) });
});

test('a request that is not Redis fails the run even after valid ones', async () => {
  const failure = failureOf(await inSection(sending(['PING\r\n', '\0\x01bad'])));
  expect(failure).toContain('alice sends "\\x00\\x01bad" to redis-1:6379');
});

test.each([
  [5, 'at its end'],
  [20, 'at once'],
])('%d zero bytes fail the run %s, even beside a connection to Redis', async (count, when) => {
  const { ending, events } = await inSection(async () => {
    net.connect(6379, 'redis-1').write(Buffer.alloc(count));
    const redis = net.connect(6379, 'redis-1');
    await wait(100);
    redis.write('PING\r\n');
    await once(redis, 'data');
  });
  expect(ending).toMatchObject({ error: expect.stringMatching(/^alice sends "\\x00/) });
  const calls = events.flatMap((event) => (event.kind === 'invoke' ? [event.operation] : []));
  expect(calls.includes('alice/1/ping')).toBe(when === 'at its end');
});

test('other protocols are recognized by their first bytes, and Redis is not one of them', () => {
  const word = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });
  const law = fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
    const sent = words.map((one) => Buffer.from(one).toString('latin1'));
    const command = sent.map((one) => `$${one.length}\r\n${one}\r\n`).join('');
    const speaks = (bytes: string): boolean | null => isRedis(bytes, () => false);
    const fullCommand = `*${sent.length}\r\n${command}`;
    expect(isUnderstood(fullCommand, speaks)).toBe(true);
    expect(isUnderstood(fullCommand.slice(0, -1), speaks)).toBe(false);
  });
  fc.assert(law);
  for (const [, protocol, bytes] of OPENINGS) {
    const begun = bytes.slice(0, 24);
    const error = new NotUnderstood(begun, protocol);
    expect(() => isUnderstood(begun, () => true)).toThrow(error);
  }
});

test('bytes are quoted as printable text', () => {
  expect(quoteBytes('a"\\\0\x7fü')).toBe('"a\\x22\\x5c\\x00\\x7f\\xfc"');
  expect(quoteBytes('x'.repeat(17))).toBe(`"${'x'.repeat(16)}"…`);
});

describe('a client that sends nothing', () => {
  const DATABASE = { hosts: { 'redis-1:6379': 'lock', 'db-1:3306': 'lock' } };
  const WAITS =
    /^alice waits for a greeting from db-1:3306, where a simulated Redis listens, at \S+test\.ts:\d+:\d+; MySQL clients do so/;

  const connect = async (host = 'db-1', port = 3306): Promise<Socket> => {
    const socket = net.connect(port, host);
    await once(socket, 'connect');
    return socket;
  };

  test.each<[how: string, code: (section: AsyncSection) => Promise<void>]>([
    ['waits forever', async () => void (await once(await connect(), 'data'))],
    [
      'waits behind a timer, past the end of the run',
      async () => {
        const socket = await connect();
        await Promise.race([once(socket, 'data'), wait(3_600_000)]);
      },
    ],
    [
      'gives up after a while',
      async () => {
        const socket = await connect();
        await Promise.race([once(socket, 'data'), wait(10_000)]);
        socket.destroy();
        throw new Error('connect ETIMEDOUT');
      },
    ],
    [
      'outlives its section',
      async () => {
        const socket = await connect();
        await Promise.race([once(socket, 'data'), wait(500)]);
      },
    ],
    [
      'waits under a lock that Redis gave',
      async (section) => {
        const redis = await connect('redis-1', 6379);
        redis.write('SET lock me NX\r\n');
        await once(redis, 'data');
        section.guard();
        await once(await connect(), 'data');
      },
    ],
  ])('and %s fails the run', async (_, code) => {
    const { ending } = await inSection(code, DATABASE);
    expect(ending).toMatchObject({ kind: 'failed', unserved: 'db-1:3306' });
    expect(ending.kind === 'failed' && ending.error).toMatch(WAITS);
  });

  const ping = async (socket: Socket): Promise<void> => {
    socket.write('PING\r\n');
    await once(socket, 'data');
  };

  test.each<[how: string, code: (section: AsyncSection) => Promise<void>]>([
    [
      'keeps a second connection',
      async () => {
        await connect('redis-1', 6379);
        await ping(await connect('redis-1', 6379));
      },
    ],
    [
      'keeps a second connection, and waits forever for something else',
      async () => {
        await connect('redis-1', 6379);
        await ping(await connect('redis-1', 6379));
        await new Promise(() => {});
      },
    ],
    [
      'keeps a connection to another server, which it does not need',
      async () => {
        const idle = await connect();
        await ping(await connect('redis-1', 6379));
        await wait(500);
        idle.end();
      },
    ],
    [
      'sends late',
      async () => {
        const socket = await connect();
        await wait(5_000);
        await ping(socket);
      },
    ],
    [
      'sends on its next connection after it closed one',
      async () => {
        const socket = await connect();
        await wait(5_000);
        socket.destroy();
        await ping(await connect());
      },
    ],
    [
      'uses other connections until the run is truncated',
      async () => {
        await connect();
        const redis = await connect('redis-1', 6379);
        for (;;) await ping(redis);
      },
    ],
  ])('but %s does not fail the run', async (_, code) => {
    const { ending } = await inSection(code, { ...DATABASE, limits: { maxEvents: 2_000 } });
    expect(ending.kind).not.toBe('failed');
  });
});

describe('an address without a server', () => {
  test.each<[what: string, port: number, host: string, bytes: string, error: RegExp]>([
    [
      'Redis',
      6379,
      'redis-2',
      '*1\r\n$4\r\nPING\r\n',
      /^alice speaks Redis to redis-2:6379, where no server listens \(hosts: redis-1:6379\), at \S+; add `'redis-2:6379': 'lock'` to `hosts` in the scenario$/,
    ],
    ['Redis, typed', 6379, 'redis-2', 'PING\r\n', /^alice speaks Redis to .*; add `'redis-2:/],
    [
      'PostgreSQL',
      5432,
      'db-1',
      bytesOf('00000008 04d2162f'),
      /^alice speaks PostgreSQL to db-1:5432, where no server listens \(hosts: redis-1:6379\), at \S+; only Redis is simulated, so hand your code a fake client, or model the lock: fencepost init --lock postgres$/,
    ],
    [
      'nothing',
      3306,
      'db-1',
      '',
      /^alice connects to db-1:3306, where no server listens \(hosts: redis-1:6379\), at \S+; if that is a Redis, add `'db-1:3306': 'lock'` to `hosts` in the scenario; no other server is simulated$/,
    ],
    [
      'garbage',
      1,
      'db-1',
      '\0'.repeat(16),
      /^alice sends "(?:\\x00){16}" to db-1:1, where no server/,
    ],
  ])(
    '%s is recognized, and only a possible Redis leads to `hosts`',
    async (_, port, host, bytes, error) => {
      const trace = await inSection(async () => {
        const socket = net.connect(port, host);
        socket.write(Buffer.from(bytes, 'latin1'));
        await wait(10);
      });
      expect(failureOf(trace)).toMatch(error);
    },
  );

  test('a Unix socket cannot be named in `hosts`', async () => {
    const trace = await inSection(async () => {
      net.connect('/run/redis.sock').write('PING\r\n');
      await wait(10);
    });
    expect(failureOf(trace)).toMatch(/speaks Redis to \/run\/redis\.sock, .*; `hosts` accepts/);
  });

  test('the error for a scenario without hosts reports that', async () => {
    const trace = await inSection(
      async () => {
        net.connect(6379, 'redis-1').write('PING\r\n');
        await wait(10);
      },
      { hosts: {} },
    );
    expect(failureOf(trace)).toMatch(/where no server listens \(hosts: none\), .*add `hosts: /);
  });
});
