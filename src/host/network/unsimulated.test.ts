import dns from 'node:dns/promises';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { compileFunction } from 'node:vm';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { inSection } from './in-section.fixture.ts';

/**
 * Returns the refused requests of a section, as `2 command XADD at unsimulated.test.ts in bullmq`.
 */
async function refusedIn(code: () => Promise<unknown>): Promise<readonly string[]> {
  const { unsimulated = [] } = await inSection(async (section) => {
    const guard = section.guard();
    // As in packages that swallow all errors.
    await code().catch(() => {});
    guard.leave();
  });
  return unsimulated.map(({ kind, what, place, package: by, count }) => {
    const where = place === null ? 'nowhere' : place.replace(/:\d+:\d+$/, '');
    return `${count} ${kind} ${what} at ${where}${by === null ? '' : ` in ${by}`}`;
  });
}

async function asked(...commands: readonly (readonly [string, ...string[]])[]): Promise<void> {
  const redis = new Redis('redis://redis-1:6379');
  for (const [name, ...words] of commands) await redis.call(name, ...words).catch(() => {});
  redis.disconnect();
}

async function send(address: { host: string; port: number }, bytes: string): Promise<void> {
  const socket = net.connect(address, () => socket.write(Buffer.from(bytes, 'latin1')));
  socket.on('error', () => {});
  await wait(200);
}

const HERE = 'unsimulated.test.ts';
const POSTGRES = '\0\0\0\x08\x04\xd2\x16\x2f';

test.each<[string, () => Promise<unknown>, readonly string[]]>([
  [
    'commands and subcommands without a row',
    () => asked(['PING'], ['XADD', 's', '*', 'a', 'b'], ['OBJECT', 'ENCODING', 'k'], ['xadd', 's']),
    [`2 command XADD at ${HERE}`, `1 command OBJECT at ${HERE}`],
  ],
  [
    'a subcommand, also in the handshake of a driver',
    () => asked(['PING'], ['CLIENT', 'KILL', 'ID', '7'], ['CONFIG', 'GET', '*']),
    [`1 command CLIENT KILL at ${HERE}`, `1 command CONFIG at ${HERE}`],
  ],
  [
    'a command that a script calls, or catches',
    () => asked(['PING'], ['EVAL', "redis.pcall('XLEN', 's') return redis.call('XADD')", '0']),
    [`1 command XLEN at ${HERE}`, `1 command XADD at ${HERE}`],
  ],
  [
    'missing Lua libraries, and missing functions of existing ones',
    () =>
      asked(
        ['PING'],
        ['EVAL', 'return cmsgpack.pack(1)', '0'],
        ['EVAL', 'pcall(function() return struct.pack("b", 1) end) redis.set_repl(1)', '0'],
      ),
    ['cmsgpack', 'struct', 'redis.set_repl'].map((what) => `1 command ${what} at ${HERE}`),
  ],
  [
    'a script pattern that would match forever, even if the error is caught',
    () => asked(['PING'], ['EVAL', 'pcall(string.find, ("a"):rep(99), ("a*"):rep(9) .. "b")', '0']),
    [`1 command a script whose pattern "a*a*a*a*a*a*a*a*a*b" takes too many steps at ${HERE}`],
  ],
  [
    'nothing if a script reads a name that Redis also lacks',
    () => asked(['PING'], ['EVAL', 'return typo', '0'], ['EVAL', 'return redis.typo', '0']),
    [],
  ],
  [
    'nothing for the usual commands of a driver, or a command with too few words',
    () =>
      asked(
        ['CLIENT', 'SETINFO', 'LIB-NAME', 'x'],
        ['CLIENT', 'MAINT_NOTIFICATIONS', 'ON'],
        ['COMMAND'],
        ['READONLY'],
        ['GET'],
      ),
    [],
  ],
  [
    'a command of a transaction',
    async () => {
      const redis = new Redis('redis://redis-1:6379');
      await redis.ping();
      await redis.multi().set('a', '1').xlen('s').exec();
    },
    [`1 command XLEN at ${HERE}`],
  ],
  [
    'the first command of a driver, which is sent once it has connected',
    async () => {
      const redis = new Redis('redis://redis-1:6379');
      await redis.xadd('s', '*', 'a', 'b');
    },
    [`1 command XADD at ${HERE}`],
  ],
  [
    'builtins',
    async () => {
      for (const call of [() => fs.readFileSync('/x'), () => http.get('http://a.b'), fetch]) {
        try {
          await Reflect.apply(call, undefined, ['http://a.b']);
        } catch {}
      }
    },
    ['fs.readFileSync', 'http.get', 'fetch'].map((what) => `1 builtin ${what} at ${HERE}`),
  ],
  [
    'another protocol',
    () => send({ host: 'redis-1', port: 6379 }, POSTGRES),
    [`1 protocol PostgreSQL at redis-1:6379 at ${HERE}`],
  ],
  [
    'an address at which no server listens',
    () => send({ host: 'db', port: 5432 }, POSTGRES),
    [`1 protocol PostgreSQL at db:5432 at ${HERE}`],
  ],
  [
    'a server that sends first, and one that receives nothing',
    () => send({ host: 'db', port: 3306 }, ''),
    [`1 protocol the address db:3306 at ${HERE}`],
  ],
  ['a name', () => dns.lookup('db'), [`1 protocol the host db at ${HERE}`]],
])('unsimulated calls are counted even if their error is caught: %s', async (_, code, expected) => {
  expect(await refusedIn(code)).toEqual(expected);
});

/** Returns a function of a package. */
function inPackage(name: string, code: string): (...given: readonly unknown[]) => Promise<unknown> {
  const filename = `/srv/node_modules/${name}/index.js`;
  return Object(compileFunction(`return ${code}`, [], { filename })());
}

test('the package that makes a call is named, but not the driver of a command', async () => {
  const add = inPackage('queue', "async (redis) => { await redis.xadd('s', '*', 'a', 'b') }");
  const load = inPackage('@a/http', "async (get) => { await get('http://a.b') }");
  const redis = (): Redis => new Redis('redis://redis-1:6379');
  expect(await refusedIn(() => add(redis()))).toEqual([`1 command XADD at ${HERE} in queue`]);
  expect(await refusedIn(() => load(fetch))).toEqual([`1 builtin fetch at ${HERE} in @a/http`]);
  const later = async (): Promise<void> => {
    const client = redis();
    await client.ping();
    setTimeout(
      inPackage('queue', '(redis) => redis.xadd("s", "*", "a", "b").catch(() => {})'),
      1,
      client,
    );
    await wait(50);
  };
  expect(await refusedIn(later)).toEqual(['1 command XADD at queue/index.js in queue']);
});

test('a run without refused calls has no `unsimulated` field', async () => {
  expect(await inSection(async (section) => section.guard().leave())).not.toHaveProperty(
    'unsimulated',
  );
});
