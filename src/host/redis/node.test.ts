/** The commands of a node, one by one, as redis.io documents them. */
import { describe, expect, test } from 'vitest';
import { LATER, type Turn } from '../../core/world/server.ts';
import { RedisNode, type RedisNodeOptions } from './node.ts';
import { bytesOf, isRedisError, plainReply, type RedisReply } from './reply.ts';

const NIL = { nil: true };
const OK = { status: 'OK' };
const WRONG_TYPE = {
  error: 'WRONGTYPE Operation against a key holding the wrong kind of value',
};
const NOT_AN_INTEGER = { error: 'ERR value is not an integer or out of range' };
const MS = 1000;

/** A node with a clock that tests set. */
class Bench {
  readonly node: RedisNode;
  wallUs = 0;

  constructor(options?: RedisNodeOptions) {
    this.node = new RedisNode(options);
  }

  /** Runs a command written with spaces between its parts. */
  do(line: string): RedisReply {
    return this.node.handle(line.split(' '), this);
  }

  /** Runs a command on a connection. */
  on(session: string, line: string): RedisReply {
    return this.node.handle({ session, command: line.split(' ') }, this);
  }

  evict(key: string): boolean {
    return this.node.evict(key, this);
  }
}

/** Returns the replies of a new node, in order. */
function replies(...lines: readonly string[]): readonly RedisReply[] {
  const bench = new Bench();
  return lines.map((line) => bench.do(line));
}

describe('SET', () => {
  test('sets only a missing key with NX, and only an existing key with XX', () => {
    expect(replies('SET a 1 XX', 'SET a 1 NX', 'SET a 2 NX', 'SET a 3 XX', 'GET a')).toEqual([
      NIL,
      OK,
      NIL,
      OK,
      '3',
    ]);
  });

  test('returns the old value with GET, and refuses a key that is not a string', () => {
    expect(replies('SET a 1 GET', 'SET a 2 GET', 'SET a 3 NX GET', 'GET a')).toEqual([
      NIL,
      '1',
      '2',
      '2',
    ]);
    expect(replies('HSET h f 1', 'SET h 1 GET', 'SET h 1')).toEqual([1, WRONG_TYPE, OK]);
  });

  test('removes the expiry, unless KEEPTTL is given', () => {
    expect(replies('SET a 1 PX 500', 'SET a 2 KEEPTTL', 'PTTL a', 'SET a 3', 'PTTL a')).toEqual([
      OK,
      OK,
      500,
      OK,
      -1,
    ]);
  });

  test('refuses conflicting options and invalid times', () => {
    const syntax = { error: 'ERR syntax error' };
    const time = { error: "ERR invalid expire time in 'set' command" };
    expect(
      replies('SET a 1 NX XX', 'SET a 1 PX', 'SET a 1 PX 5 EX 5', 'SET a 1 PX 5 KEEPTTL'),
    ).toEqual([syntax, syntax, syntax, syntax]);
    expect(replies('SET a 1 PX 0', 'SET a 1 EX -1', 'SET a 1 PX x', 'GET a')).toEqual([
      time,
      time,
      NOT_AN_INTEGER,
      NIL,
    ]);
  });
});

describe('an expiry', () => {
  test('is set by PEXPIRE and EXPIRE, returned by PTTL and TTL, and removed by PERSIST', () => {
    expect(replies('PTTL a', 'PEXPIRE a 5', 'SET a 1', 'TTL a', 'PEXPIRE a 1600')).toEqual([
      -2,
      0,
      OK,
      -1,
      1,
    ]);
    const lines = ['SET a 1 EX 2', 'PTTL a', 'EXPIRE a 7', 'TTL a', 'PERSIST a', 'PERSIST a'];
    expect(replies(...lines)).toEqual([OK, 2000, 1, 7, 1, 0]);
  });

  test('that is not in the future deletes the key', () => {
    expect(replies('SET a 1', 'PEXPIRE a 0', 'EXISTS a')).toEqual([OK, 1, 0]);
  });

  test('only moves later with GT, and only earlier with LT', () => {
    const lines = ['SET a 1 PX 9', 'PEXPIRE a 5 GT', 'PEXPIRE a 5 LT', 'PTTL a', 'PEXPIRE a 1 NX'];
    expect(replies(...lines)).toEqual([OK, 0, 1, 5, 0]);
  });

  test('uses the wall clock: the key exists at its end, and not a millisecond later', () => {
    const bench = new Bench();
    bench.do('SET a 1 PX 100');
    bench.wallUs = 100 * MS + 999;
    expect([bench.do('GET a'), bench.do('PTTL a')]).toEqual(['1', 0]);
    bench.wallUs = 101 * MS;
    expect([bench.do('GET a'), bench.do('PTTL a'), bench.do('DEL a')]).toEqual([NIL, -2, 0]);
  });

  test('comes early if the clock is set forward, and late if it is set back', () => {
    const bench = new Bench();
    bench.do('SET a 1 PX 100');
    bench.wallUs = -5000 * MS;
    expect(bench.do('PTTL a')).toBe(5100);
    bench.wallUs = 3_600_000 * MS;
    expect(bench.do('SET a 2 NX')).toEqual(OK);
  });
});

test('INCR and INCRBY count in 64 bits, and refuse a value that is not an integer', () => {
  expect(replies('INCR a', 'INCRBY a 41', 'INCRBY a -2', 'GET a')).toEqual([1, 42, 40, '40']);
  const most = '9223372036854775807';
  expect(replies(`SET a ${most}`, 'INCR a', 'GET a')).toEqual([
    OK,
    { error: 'ERR increment or decrement would overflow' },
    most,
  ]);
  expect(replies('SET a 1.5', 'INCR a', 'SET b 07', 'INCR b', 'INCRBY c x')).toEqual([
    OK,
    NOT_AN_INTEGER,
    OK,
    NOT_AN_INTEGER,
    NOT_AN_INTEGER,
  ]);
  expect(replies('HSET h f 1', 'INCR h', 'GET h')).toEqual([1, WRONG_TYPE, WRONG_TYPE]);
});

test('EXISTS counts a repeated key twice, and DEL counts it once', () => {
  expect(replies('SET a 1', 'SET b 1', 'EXISTS a b c a', 'DEL a b c a', 'EXISTS a b')).toEqual([
    OK,
    OK,
    3,
    2,
    0,
  ]);
});

test('a hash exists while it has a field', () => {
  expect(
    replies('HSET h f 1 g 2', 'HINCRBY h f 4', 'HGET h f', 'HEXISTS h x', 'HDEL h f g', 'EXISTS h'),
  ).toEqual([2, 5, '5', 0, 2, 0]);
});

test('PING and TIME answer', () => {
  const bench = new Bench();
  bench.wallUs = 1_704_067_201_500_001;
  expect([bench.do('PING'), bench.do('PING hi')]).toEqual([{ status: 'PONG' }, 'hi']);
  expect(bench.do('TIME')).toEqual(['1704067201', '500001']);
});

test('an invalid command gets the error of Redis', () => {
  const [unknown, short, subcommand] = replies('NOPE a b', 'GET', 'SCRIPT nope');
  expect(unknown).toEqual({
    error: "ERR unknown command 'NOPE', with args beginning with: 'a' 'b' ",
  });
  expect(short).toEqual({ error: "ERR wrong number of arguments for 'get' command" });
  expect(subcommand).toEqual({ error: "ERR unknown subcommand 'nope'. Try SCRIPT HELP." });
});

describe('a script', () => {
  const sha = 'e0e1f9fabfc9d4800c877a703b823ac0578ff8db'; // of `return 1`
  const noScript = { error: 'NOSCRIPT No matching script. Please use EVAL.' };

  test('is known after EVAL or SCRIPT LOAD, until SCRIPT FLUSH', () => {
    const { node } = new Bench();
    const send = (...command: readonly string[]): RedisReply => node.handle(command, { wallUs: 0 });
    expect(send('EVALSHA', sha, '0')).toEqual(noScript);
    expect(send('EVAL', 'return 1', '0')).toBe(1);
    expect(send('EVALSHA', sha.toUpperCase(), '0')).toBe(1);
    expect(send('SCRIPT', 'EXISTS', sha, 'x')).toEqual([1, 0]);
    expect(send('SCRIPT', 'FLUSH')).toEqual(OK);
    expect(send('EVALSHA', sha, '0')).toEqual(noScript);
    expect(send('SCRIPT', 'LOAD', 'return 1')).toBe(sha);
    expect(send('EVALSHA', sha, '0')).toBe(1);
    expect(send('SCRIPT', 'LOAD', 'return')).toHaveLength(40);
    const broken = send('SCRIPT', 'LOAD', 'return return');
    expect(broken).toEqual({ error: expect.stringMatching(/^ERR Error compiling script \(new/) });
  });

  test('gets its keys separately from its other arguments', () => {
    const { node } = new Bench();
    const text = 'return {#KEYS, KEYS[1], #ARGV, ARGV[2]}';
    expect(node.handle(['EVAL', text, '1', 'k', 'a', 'b'], { wallUs: 0 })).toEqual([
      1,
      'k',
      2,
      'b',
    ]);
    expect(node.handle(['EVAL', text, '3', 'k'], { wallUs: 0 })).toEqual({
      error: "ERR Number of keys can't be greater than number of args",
    });
  });
});

describe('a crash', () => {
  const after = (options: RedisNodeOptions): readonly RedisReply[] => {
    const bench = new Bench(options);
    bench.do('SET a 1 PX 100');
    const sha = bench.do('SCRIPT LOAD return');
    bench.node.restart();
    return [bench.do('GET a'), bench.do('PTTL a'), bench.do(`SCRIPT EXISTS ${sha}`)];
  };

  test('loses keys and scripts, or only scripts with persistence', () => {
    expect(after({})).toEqual([NIL, -2, [0]]);
    expect(after({ persistence: 'always' })).toEqual(['1', 100, [0]]);
  });

  test('leaves a replica the data that it was sent, and no script', () => {
    const bench = new Bench();
    bench.do('SET a 1');
    bench.do('HSET h f 1');
    const restore = bench.node.snapshot();
    const sha = bench.do('SCRIPT LOAD return');
    for (const line of ['SET a 2', 'SET b 1', 'HSET h f 2']) bench.do(line);
    restore();
    bench.node.restart();
    expect(['GET a', 'GET b', 'HGET h f'].map((line) => bench.do(line))).toEqual(['1', NIL, '1']);
    expect(bench.do(`SCRIPT EXISTS ${sha}`)).toEqual([0]);
    bench.node.restart();
    expect(bench.do('GET a')).toEqual(NIL);
  });
});

const QUEUED = { status: 'QUEUED' };

describe('a transaction', () => {
  test('runs its queued commands at once, and a failed one does not stop the others', () => {
    const bench = new Bench();
    const lines = ['MULTI', 'SET a x', 'INCR a', 'INCR b', 'EXEC', 'GET b'];
    const error = { error: 'ERR value is not an integer or out of range' };
    expect(lines.map((line) => bench.on('c', line))).toEqual([
      OK,
      QUEUED,
      QUEUED,
      QUEUED,
      [OK, error, 1],
      '1',
    ]);
  });

  test('belongs to one connection, and others read the earlier values', () => {
    const bench = new Bench();
    bench.on('c', 'MULTI');
    bench.on('c', 'SET a 1');
    expect(bench.on('d', 'GET a')).toEqual(NIL);
    bench.on('c', 'EXEC');
    expect(bench.on('d', 'GET a')).toBe('1');
  });

  test('does nothing if any connection changed a watched key', () => {
    const bench = new Bench();
    for (const by of ['c', 'd']) {
      bench.on('c', 'WATCH a');
      bench.on(by, 'INCR a');
      const ended = ['MULTI', 'SET a 9', 'EXEC'].map((line) => bench.on('c', line));
      expect(ended).toEqual([OK, QUEUED, { nil: true, isList: true }]);
    }
    bench.on('c', 'WATCH a');
    bench.on('d', 'GET a');
    expect(['MULTI', 'INCR a', 'EXEC'].map((line) => bench.on('c', line)).at(-1)).toEqual([3]);
  });

  test('does nothing if a watched key expired', () => {
    const bench = new Bench();
    bench.on('c', 'SET a 1 PX 10');
    bench.on('c', 'WATCH a');
    bench.on('c', 'MULTI');
    bench.wallUs = 11 * MS;
    expect(bench.on('c', 'EXEC')).toEqual({ nil: true, isList: true });
  });

  test('is refused completely if one of its commands is unknown', () => {
    const bench = new Bench();
    const lines = ['MULTI', 'SET a 1', 'NOPE', 'EXEC', 'GET a'];
    expect(lines.map((line) => bench.on('c', line)).slice(3)).toEqual([
      { error: 'EXECABORT Transaction discarded because of previous errors.' },
      NIL,
    ]);
  });

  test('does not outlive the node', () => {
    const bench = new Bench({ persistence: 'always' });
    bench.on('c', 'MULTI');
    bench.node.restart();
    expect(bench.on('c', 'EXEC')).toEqual({ error: 'ERR EXEC without MULTI' });
  });
});

describe('a message on a subscribed channel', () => {
  /** Waits for messages to a connection. */
  function awaits(bench: Bench, session: string): readonly RedisReply[] {
    const replies: RedisReply[] = [];
    const turn: Pick<Turn<RedisReply>, 'wallUs' | 'answer'> = {
      wallUs: 0,
      answer: (reply) => replies.push(plainReply(reply)),
    };
    const reply = bench.node.await({ session, awaits: 'push' }, turn);
    if (reply !== LATER) replies.push(plainReply(reply));
    return replies;
  }

  test('is delivered when its connection waits: all earlier ones, then one by one', () => {
    const bench = new Bench();
    bench.on('c', 'SUBSCRIBE x y');
    expect([bench.do('PUBLISH x 1'), bench.do('PUBLISH y 2'), bench.do('PUBLISH z 3')]).toEqual([
      1, 1, 0,
    ]);
    expect(awaits(bench, 'c')).toEqual([
      [
        ['message', 'x', '1'],
        ['message', 'y', '2'],
      ],
    ]);
    const received = awaits(bench, 'c');
    expect(received).toEqual([]);
    bench.do('PUBLISH y 4');
    expect(received).toEqual([[['message', 'y', '4']]]);
  });

  test('has no receiver after a restart of the node', () => {
    const bench = new Bench();
    bench.on('c', 'SUBSCRIBE x');
    bench.node.restart();
    expect(bench.do('PUBLISH x 1')).toBe(0);
  });
});

test('each connection selects its own database, and a replica has all of them', () => {
  const bench = new Bench();
  bench.on('c', 'SELECT 3');
  bench.on('c', 'SET a 1');
  const restore = bench.node.snapshot();
  bench.on('c', 'SET a 2');
  expect([bench.on('d', 'GET a'), bench.on('c', 'GET a')]).toEqual([NIL, '2']);
  restore();
  bench.node.restart();
  bench.on('e', 'SELECT 3');
  expect([bench.on('e', 'GET a'), bench.on('c', 'GET a')]).toEqual(['1', NIL]);
});

test('values and keys are arbitrary bytes, and a plan names keys as text', () => {
  const bench = new Bench();
  const value = '\0\xff\r\n';
  const key = bytesOf('schlüssel');
  const send = (...command: readonly string[]): RedisReply => bench.node.handle(command, bench);
  send('SET', key, value);
  expect(send('EVAL', 'return redis.call("get", KEYS[1])', '1', key)).toBe(value);
  expect(bench.evict('schlüssel')).toBe(true);
});

test('an evicted key is gone, and a missing key cannot be evicted', () => {
  const bench = new Bench();
  bench.do('SET a 1 PX 100');
  expect([bench.evict('a'), bench.evict('a'), bench.do('GET a')]).toEqual([true, false, NIL]);
  bench.do('SELECT 3');
  bench.do('SET a 3');
  expect([bench.evict('a'), bench.evict('a'), bench.do('GET a')]).toEqual([true, false, NIL]);
  bench.do('SET a 1 PX 100');
  bench.wallUs = 101 * MS;
  expect(bench.evict('a')).toBe(false);
});

test('an error is distinguished from other replies', () => {
  expect(replies('GET', 'GET a').map((reply) => isRedisError(reply))).toEqual([true, false]);
});
