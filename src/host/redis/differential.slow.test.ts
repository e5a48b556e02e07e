/**
 * Compares the simulated node with a real `redis-server`, command by command, at the same
 * millisecond of a frozen clock that is stepped forward and backward: every row of the tables
 * (`syntax.fixture.ts`), from clients, in transactions and from scripts, in both versions of the
 * protocol, on two connections; then scripts (`commands.fixture.ts`, `lua.fixture.ts`); then
 * subscriptions. FENCEPOST_REDIS_COMMANDS sets the number of commands per law.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { runs } from '../../../properties/runs.ts';
import { needs } from '../../../tools/needs.ts';
import { LATER } from '../../core/world/server.ts';
import { command } from './commands.fixture.ts';
import { luaScript } from './lua.fixture.ts';
import { RedisNode } from './node.ts';
import {
  hasCompiler,
  hasRealRedis,
  type RealConnection,
  RealServer,
  readReply,
} from './real-redis.fixture.ts';
import { plainReply, type RedisCommand, type RedisReply } from './reply.ts';
import { encodeReply } from './resp.ts';
import { anyCommand, atTime } from './syntax.fixture.ts';

const COUNT = Number(process.env['FENCEPOST_REDIS_COMMANDS'] ?? runs(10_000));
const START_MS = Date.UTC(2026, 0, 1);

const law = hasRealRedis() ? needs('a C compiler', hasCompiler()) : needs('redis-server', false);

/**
 * Returns a reply without the random values, orders and addresses of Redis, and the sign of NaN.
 */
function settled(command: RedisCommand, reply: RedisReply): unknown {
  const name = (calledBy(command)[0] ?? '').toLowerCase();
  // Redis counts expired keys until a command looks at them.
  if (name === 'dbsize') return typeof reply;
  if (command.length > 2 && /^eval/i.test(command[0] ?? '') && command[1] !== PASSED_ON) {
    const text = JSON.stringify(reply);
    return text
      .replaceAll(/0x[0-9a-f]+/g, '0x0')
      .replaceAll('-nan', 'nan')
      .replaceAll(/-0(?![.\d])/g, '0');
  }
  const plain = plainReply(reply);
  if (name === 'exec' && Array.isArray(plain)) return plain.map(sorted);
  if (/^([hsz]?scan)$/.test(name)) return Array.isArray(plain) ? plain.map(sorted) : reply;
  return /^(keys|s(members|inter|union|diff|pop|randmember))$/.test(name) ? sorted(reply) : reply;
}

function sorted(reply: RedisReply): RedisReply {
  if (typeof reply !== 'object') return reply;
  if ('set' in reply) return { set: [...reply.set].sort() };
  return Array.isArray(reply) ? [...reply].sort() : reply;
}

const PASSED_ON = 'return redis.call(unpack(ARGV))';

/** Returns the command that a script passes on, or the command itself. */
function calledBy(command: RedisCommand): RedisCommand {
  return command[1] === PASSED_ON ? command.slice(3) : command;
}

interface Step {
  readonly on: number;
  /** Step of the clock before the command. */
  readonly afterMs: number;
  readonly command: RedisCommand;
}

function stepOf(command: fc.Arbitrary<RedisCommand>): fc.Arbitrary<Step> {
  return fc.record({
    on: fc.constantFrom(0, 0, 0, 1),
    afterMs: fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 3, 998, 1000, 1001, -1, -2, -1000),
    command,
  });
}

/** Commands for two connections, some of them called by a script. */
const step = stepOf(
  fc
    .tuple(anyCommand, fc.constantFrom('', '', '', 'EVAL', 'EVAL', 'EVAL_RO'))
    .map(([one, by]) => (by === '' ? one : [by, PASSED_ON, '0', ...one])),
);

const channel = fc.constantFrom('x', 'y', 'z');
/** No two patterns match one channel, since Redis delivers such messages in random order. */
const pattern = fc.constantFrom('[x]', 'y*', '?z');

function talkOf(...words: readonly fc.Arbitrary<string | readonly string[]>[]): fc.Arbitrary<Step> {
  const command = fc.tuple(...words).map((drawn) => drawn.flat());
  return fc.record({ on: fc.constantFrom(0, 1), afterMs: fc.constant(0), command });
}

/** Commands about channels. */
const talk: fc.Arbitrary<Step> = fc.oneof(
  talkOf(fc.constantFrom('SUBSCRIBE', 'unsubscribe'), fc.array(channel, { maxLength: 2 })),
  talkOf(fc.constantFrom('psubscribe', 'PUNSUBSCRIBE'), fc.array(pattern, { maxLength: 2 })),
  talkOf(fc.constant('publish'), channel, fc.constantFrom('1', '\0')),
  talkOf(fc.constant('ping'), fc.constantFrom([], ['a'], ['a', 'b'])),
  talkOf(fc.constant('pubsub'), fc.constantFrom(['channels', 'x'], ['numsub', 'x'], ['numpat'])),
  talkOf(fc.constantFrom('get', 'reset', 'exec')),
);

function framesOf(reply: RedisReply): readonly RedisReply[] {
  const isSeveral = typeof reply === 'object' && 'pushes' in reply;
  return isSeveral ? reply.pushes : [reply];
}

/** Ignores the order: Redis reports channels in a random one if several are left at once. */
function inAnyOrder(frames: readonly RedisReply[]): unknown {
  const lists = frames.map((frame) => (Array.isArray(frame) ? frame : [frame]));
  const places = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: places }, (_, at) =>
    lists.map((list) => JSON.stringify(list[at])).sort(),
  );
}

describe('a real redis-server', () => {
  let server: RealServer;
  let real: RealConnection[];
  beforeEach(async () => {
    server = await RealServer.startFrozen(START_MS * 1000);
    real = [await server.connect(), await server.connect()];
  });
  afterEach(async () => {
    for (const one of real) one.close();
    await server.stop();
  });

  async function compare(steps: readonly Step[], version: 2 | 3): Promise<void> {
    const node = new RedisNode();
    const history: unknown[] = [];
    let nowMs = START_MS;
    for (const { on, afterMs, command: drawn } of steps) {
      nowMs += afterMs;
      server.setClock(nowMs * 1000 + 7);
      const command = atTime(drawn, nowMs);
      history.push({ on, ms: nowMs - START_MS, command });
      const { bytes, reply } = await (real[on] ?? expect.fail()).send(command);
      const session = String(on);
      const found = node.handle({ session, command }, { wallUs: nowMs * 1000 + 7 });
      const written = encodeReply(found, version);
      if (written === bytes) continue;
      const last = JSON.stringify(history.slice(-8), null, 1);
      const read = readReply(written, 0)?.reply ?? expect.fail(last);
      expect(settled(command, read), last).toEqual(settled(command, reply));
      // If only the order differs, the encoder must write the reply of Redis as Redis does.
      expect(encodeReply(reply, version), last).toBe(bytes);
    }
  }

  law.each([1, 2, 3])('answers every command as the simulated one does, seed %i', async (seed) => {
    await compare(fc.sample(step, { seed, numRuns: COUNT }), 2);
  });

  /** Compares with both connections in version 3, without `RESET`, which returns to version 2. */
  async function compareRich(steps: readonly Step[]): Promise<void> {
    for (const one of real) await one.send(['HELLO', '3']);
    await compare(
      steps.filter(({ command }) => !/^reset$/i.test(command[0] ?? '')),
      3,
    );
  }

  law('answers in version 3 as the simulated one does', async () => {
    await compareRich(fc.sample(step, { seed: 4, numRuns: COUNT }));
  });

  law.each([1, 2, 3])('runs scripts as the simulated one does, seed %i', async (seed) => {
    await compare(fc.sample(stepOf(command), { seed, numRuns: COUNT }), 2);
  });

  const evaluated = stepOf(luaScript.map((text) => ['EVAL', text, '1', 's', '5']));

  law('computes the values of generated Lua expressions', async () => {
    await compare(fc.sample(evaluated, { seed: 5, numRuns: COUNT / 4 }), 2);
  });

  law('computes generated Lua expressions, and replies in version 3', async () => {
    await compareRich(fc.sample(evaluated, { seed: 6, numRuns: COUNT / 4 }));
  });

  law.each([1, 2])('delivers published messages like the simulated one, seed %i', async (seed) => {
    const node = new RedisNode();
    const frames: RedisReply[][] = [[], []];
    const awaits = (on: number): void => {
      const put = (reply: RedisReply): void => void frames[on]?.push(...framesOf(reply));
      const reply = node.await({ session: String(on), awaits: 'push' }, { answer: put });
      if (reply !== LATER) put(reply);
    };
    for (const { on, command } of fc.sample(talk, { seed, numRuns: 2000 })) {
      for (const each of frames) each.length = 0;
      const reply = node.handle({ session: String(on), command }, { wallUs: 0 });
      frames[on]?.push(...framesOf(reply));
      real[on]?.write(command);
      for (const [at, one] of real.entries()) {
        awaits(at);
        const expected = await one.untilMark();
        expect(inAnyOrder(frames[at] ?? []), JSON.stringify(command)).toEqual(inAnyOrder(expected));
      }
    }
  });
});
