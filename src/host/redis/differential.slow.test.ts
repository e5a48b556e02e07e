/**
 * The simulated node against a real `redis-server`, command by command: every row of the tables
 * (`syntax.fixture.ts`), from clients and from scripts, in both versions of the protocol, on two
 * connections; then scripts; then subscriptions.
 */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { needs } from '../../../tools/needs.ts';
import { LATER } from '../../core/world/server.ts';
import { command } from './commands.fixture.ts';
import { RedisNode } from './node.ts';
import { hasRealRedis, type RealConnection, RealServer, readReply } from './real-redis.fixture.ts';
import { plainReply, type RedisCommand, type RedisReply } from './reply.ts';
import { encodeReply } from './resp.ts';
import { anyCommand } from './syntax.fixture.ts';

const COUNT = 10_000;
/** The two clocks are read one after the other, and the machine may be busy. */
const SLACK_MS = 5000;

const law = needs('redis-server', hasRealRedis());

/** Those of a time are nearly the expected one, and what comes in an order by chance is sorted. */
function settled(command: RedisCommand, reply: RedisReply, expected: RedisReply): RedisReply {
  const name = (calledBy(command)[0] ?? '').toLowerCase();
  if (/^p?(ttl|expiretime)$/.test(name)) return near(name, reply, expected);
  const plain = plainReply(reply);
  if (name === 'scan' || name === 'sscan') return Array.isArray(plain) ? plain.map(sorted) : reply;
  return /^(keys|s(members|inter|union|diff|pop|randmember))$/.test(name) ? sorted(reply) : reply;
}

function near(name: string, found: RedisReply, expected: RedisReply): RedisReply {
  if (typeof found !== 'number' || typeof expected !== 'number') return found;
  if (found <= 0 || expected <= 0) return found;
  const slack = name.startsWith('p') ? SLACK_MS : SLACK_MS / 1000;
  return Math.abs(found - expected) <= slack ? expected : found;
}

function sorted(reply: RedisReply): RedisReply {
  if (typeof reply !== 'object') return reply;
  if ('set' in reply) return { set: [...reply.set].sort() };
  return Array.isArray(reply) ? [...reply].sort() : reply;
}

const PASSED_ON = 'return redis.call(unpack(ARGV))';

/** The command that a script passes on, or the command itself. */
function calledBy(command: RedisCommand): RedisCommand {
  return command[1] === PASSED_ON ? command.slice(3) : command;
}

interface Step {
  readonly on: number;
  readonly command: RedisCommand;
}

/** Commands for two connections, some of them given by a script. */
const step: fc.Arbitrary<Step> = fc.record({
  on: fc.constantFrom(0, 0, 0, 1),
  command: fc
    .tuple(anyCommand, fc.constantFrom('', '', '', 'EVAL', 'EVAL', 'EVAL_RO'))
    .map(([one, by]) => (by === '' ? one : [by, PASSED_ON, '0', ...one])),
});

const channel = fc.constantFrom('x', 'y', 'z');
/** No two of them match one channel: in which order those are told is by chance. */
const pattern = fc.constantFrom('[x]', 'y*', '?z');

function talkOf(...words: readonly fc.Arbitrary<string | readonly string[]>[]): fc.Arbitrary<Step> {
  const command = fc.tuple(...words).map((drawn) => drawn.flat());
  return fc.record({ on: fc.constantFrom(0, 1), command });
}

/** What connections say of channels. */
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

/** Channels come in an order by chance, where several are left at once. */
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
    server = await RealServer.start();
    real = [await server.connect(), await server.connect()];
  });
  afterEach(async () => {
    for (const one of real) one.close();
    await server.stop();
  });

  async function compare(steps: readonly Step[], version: 2 | 3): Promise<void> {
    const node = new RedisNode();
    const history: Step[] = [];
    for (const step of steps) {
      history.push(step);
      const { on, command } = step;
      const { bytes, reply } = await (real[on] ?? expect.fail()).send(command);
      const session = String(on);
      const found = node.handle({ session, command }, { wallUs: Date.now() * 1000 });
      const last = JSON.stringify(history.slice(-8), null, 1);
      const written = encodeReply(found, version);
      if (written === bytes) continue;
      const read = readReply(written, 0)?.reply ?? expect.fail(last);
      expect(settled(command, read, reply), last).toEqual(settled(command, reply, reply));
      // What differs in a time or an order is written as Redis writes it.
      expect(encodeReply(reply, version), last).toBe(bytes);
    }
  }

  law.each([1, 2, 3])('answers every command as the simulated one does, seed %i', async (seed) => {
    await compare(fc.sample(step, { seed, numRuns: COUNT }), 2);
  });

  law('answers in version 3 as the simulated one does', async () => {
    const greet: readonly Step[] = [0, 1].map((on) => ({ on, command: ['HELLO', '3'] }));
    // `RESET` would go back to version 2.
    const steps = fc
      .sample(step, { seed: 4, numRuns: COUNT })
      .filter(({ command }) => !/^reset$/i.test(command[0] ?? ''));
    for (const { on, command } of greet) await real[on]?.send(command);
    await compare(steps, 3);
  });

  law.each([1, 2, 3])('runs scripts as the simulated one does, seed %i', async (seed) => {
    const commands = fc.sample(command, { seed, numRuns: COUNT });
    await compare(
      commands.map((one) => ({ on: 0, command: one })),
      2,
    );
  });

  law.each([1, 2])('sends what is published as the simulated one does, seed %i', async (seed) => {
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
