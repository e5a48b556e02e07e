import dns from 'node:dns';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import tls from 'node:tls';
import { getSystemErrorName } from 'node:util';
import { expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import { clientOf, planOf } from '../../systems/plan.fixture.ts';
import type { AsyncProgram } from '../async/async-host.ts';
import { runFilled } from '../async/run-filled.ts';
import { fillOf, logOf, type Script } from '../async/script.fixture.ts';
import { listenerFor } from './connection.ts';
import { hostsOf, type WireProtocol } from './hosts.ts';
import { NotUnderstood } from './other-protocols.ts';

type Echoed = WireProtocol<{ kind: 'ping' }, { count: number }>;

/** A line `ping` is a request, the client's side answers `hello`, and `bad` is invalid. */
const LINES: Echoed = {
  hello: { kind: 'ping' },
  speaks: (bytes) => (bytes.includes('\n') ? /^(?:ping|hello)\n/.test(bytes) : null),
  open: (id) => {
    let rest = '';
    return {
      listening: null,
      farewell: null,
      encode: ({ count }) => (count === 0 ? 'world\n' : `${count} to ${id}\n`),
      decode: (bytes) => {
        const lines = (rest + bytes).split('\n');
        rest = lines.pop() ?? '';
        return lines.map((line) => {
          if (line === 'hello') return { kind: 'edge', reply: { count: 0 } } as const;
          if (line !== 'ping') throw new NotUnderstood(line, null);
          return { kind: 'call', label: line, request: { kind: 'ping' } } as const;
        });
      },
    };
  },
};

/** Runs one client in a world in which a server listens at `echo-1:7000`. */
function happen(alice: AsyncProgram, faults: readonly Fault[] = []): Promise<Trace> {
  const plan = planOf({ clients: [clientOf('alice', [])], faults });
  return runFilled(plan, (given, world) => {
    const script: Script = async (context, port) => {
      hostsOf(world.world).listen('echo-1:7000', listenerFor({ protocol: LINES, port }));
      await alice(context);
    };
    return fillOf({ alice: script })(given, world);
  });
}

/** Logs the data and events of a socket, and resolves when it closes. */
function heard(socket: net.Socket, log: (text: string) => void): Promise<void> {
  socket.setEncoding('utf8');
  socket.on('data', (text) => log(String(text).trim()));
  for (const event of ['connect', 'timeout', 'end']) socket.on(event, () => log(event));
  socket.on('error', (error) => log(error.message));
  return new Promise((resolve) => {
    socket.on('close', () => {
      log('close');
      resolve();
    });
  });
}

test('requests that a driver writes are calls, and their answers arrive in order', async () => {
  const trace = await happen(async (context) => {
    const socket = net.connect({ port: 7000, host: 'echo-1' });
    const closed = heard(socket, (text) => context.log('socket', text));
    socket.write('pi');
    socket.write('ng\nhello\npi');
    socket.write('ng\n');
    await wait(10);
    context.log('socket', `${socket instanceof net.Socket} ${socket.readyState}`);
    socket.end();
    await closed;
  });
  expect(trace.ending.kind).toBe('complete');
  expect(logOf(trace)).toEqual([
    '2 connect',
    '4 2 to alice/1\nworld',
    '4 3 to alice/1',
    '10 true open',
    '10 end',
    '10 close',
  ]);
  const called = trace.events.flatMap((event) =>
    event.kind === 'invoke' ? [event.operation] : [],
  );
  expect(called).toEqual(['alice/start/connect', 'alice/start/ping', 'alice/start/ping-2']);
});

test('no data arrives before the write that it answers has returned', async () => {
  const trace = await happen(async (context) => {
    const socket = net.connect({ port: 7000, host: 'echo-1' });
    const closed = heard(socket, (text) => context.log('socket', text));
    socket.on('connect', () => {
      for (const words of ['hello\n', 'hello\nping\n', 'hello\n']) {
        socket.write(words);
        context.log('socket', 'written');
      }
    });
    await wait(10);
    socket.write('hello\n');
    socket.destroy();
    context.log('socket', 'destroyed');
    await closed;
  });
  expect(trace.ending.kind).toBe('complete');
  expect(logOf(trace)).toEqual([
    '2 connect',
    '2 written',
    '2 written',
    '2 written',
    '2 world\nworld',
    '4 2 to alice/1\nworld',
    '10 destroyed',
    '10 close',
  ]);
});

test('a lost answer resets the connection, and another can be opened', async () => {
  const message = 'alice/start/ping/1/reply';
  const trace = await happen(
    async (context) => {
      for (let at = 0; at < 2; at += 1) {
        const socket = net.connect(7000, 'echo-1');
        const closed = heard(socket, (text) => context.log('socket', text));
        socket.write('ping\n');
        await Promise.race([closed, wait(5)]);
        socket.destroy();
      }
    },
    [{ kind: 'drop', which: { kind: 'message', message } }],
  );
  const said = logOf(trace).map((line) => line.replace(/^[\d.]+ /, ''));
  expect(said.slice(0, 3)).toEqual(['connect', 'read ECONNRESET', 'close']);
  expect(said.slice(3, 5)).toEqual(['connect', '4 to alice/2']);
});

/** The fields of a connection error besides its message, as in Node on Linux. */
test.each([
  ['ECONNRESET', 'echo-1', { errno: -104, code: 'ECONNRESET', syscall: 'read' }],
  [
    'ECONNREFUSED',
    'gone-1',
    { errno: -111, code: 'ECONNREFUSED', syscall: 'connect', address: 'gone-1', port: 7000 },
  ],
  [
    'ETIMEDOUT',
    'slow-1',
    { errno: -110, code: 'ETIMEDOUT', syscall: 'connect', address: 'slow-1', port: 7000 },
  ],
])('a connection error has the number and the fields of %s', async (name, host, message) => {
  const plan = planOf({ clients: [clientOf('alice', [])] });
  const errors: object[] = [];
  await runFilled(plan, (given, world) => {
    const hosts = hostsOf(world.world);
    hosts.listen('gone-1:7000', async () => 'ECONNREFUSED');
    hosts.listen('slow-1:7000', async () => 'ETIMEDOUT');
    hosts.listen('echo-1:7000', async (_, { remote }) => {
      const send = (): void => remote.close('ECONNRESET');
      return { send, close: () => {}, isUnderstood: true };
    });
    const script: Script = async () => {
      const socket = net.connect(7000, host).on('error', (error) => errors.push({ ...error }));
      socket.write('ping');
      await wait(10);
    };
    return fillOf({ alice: script })(given, world);
  });
  expect(errors).toEqual([message]);
  expect(getSystemErrorName(message.errno)).toBe(name);
});

test('a TLS socket behaves as a plain one', async () => {
  const trace = await happen(async (context) => {
    const socket = tls.connect({ port: 7000, host: 'echo-1', servername: 'echo-1' });
    await once(socket, 'secureConnect');
    socket.write('ping\n');
    context.log('socket', String((await once(socket, 'data'))[0]).trim());
    context.log('socket', String(socket.encrypted));
    socket.destroy();
  });
  expect(logOf(trace)).toEqual(['4 2 to alice/1', '4 true']);
});

test('host names resolve to addresses that lead to the same server', async () => {
  const trace = await happen(async (context) => {
    const { address } = await dns.promises.lookup('echo-1');
    const found = await new Promise((resolve) => {
      dns.lookup('echo-1', { all: true }, (_, all) => resolve(all));
    });
    const missing = await dns.promises.lookup('elsewhere').catch((error: Error) => error.message);
    context.log('dns', JSON.stringify([address, found, missing]));
    const socket = net.connect({ port: 7000, host: address });
    await once(socket, 'connect');
    socket.destroy();
  });
  expect(trace.ending.kind).toBe('complete');
  expect(logOf(trace)).toEqual([
    '0 ["10.0.0.1",[{"address":"10.0.0.1","family":4}],"getaddrinfo ENOTFOUND elsewhere"]',
  ]);
});

test('connecting to an unknown address is an error that names the known hosts', async () => {
  const trace = await happen(async () => {
    net.connect({ port: 7001, host: 'echo-1' });
  });
  expect(trace.ending).toEqual({
    kind: 'failed',
    process: 'alice',
    unserved: 'echo-1:7001',
    error: expect.stringMatching(
      /^alice connects to echo-1:7001, where no server listens \(hosts: echo-1:7000\), at \S*virtual-socket\.test\.ts:\d+:\d+; /,
    ),
  });
});

test('a timeout set before or after connecting uses the clock of the process', async () => {
  const trace = await happen(async (context) => {
    const socket = net.connect({ port: 7000, host: 'echo-1', timeout: 7 });
    void heard(socket, (text) => context.log('socket', text));
    await once(socket, 'timeout');
    socket.setTimeout(3);
    socket.write('ping\n');
    await once(socket, 'timeout');
    socket.destroy();
  });
  expect(logOf(trace)).toEqual([
    '2 connect',
    '9 timeout',
    '11 2 to alice/1',
    '14 timeout',
    '14 close',
  ]);
});

test.each(['bad words, and many', 'ping\nbad'])(
  'an invalid request fails the run: %j',
  async (text) => {
    const trace = await happen(async (context) => {
      const socket = net.connect(7000, 'echo-1');
      const closed = heard(socket, (line) => context.log('socket', line));
      socket.write(`${text}\n`);
      await closed;
    });
    expect(trace.ending).toMatchObject({
      kind: 'failed',
      error: expect.stringMatching(/^alice sends ".+ to echo-1:7000, .*; that is not a request/),
    });
  },
);
