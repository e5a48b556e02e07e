/** The client: the calls that libraries make, and its behavior if no reply arrives. */
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import { clientOf, eventsOf, MS, planOf } from '../../systems/plan.fixture.ts';
import { runFilled } from '../async/run-filled.ts';
import { RedisClient, type RedisClientOptions } from './client.ts';
import { type Means, shaOf } from './meaning.ts';
import { RedisNode } from './node.ts';

interface Setup extends RedisClientOptions {
  readonly faults?: readonly Fault[];
}

/** Runs a program of alice, with a client of the only node, `lock`. */
async function happen(
  program: (redis: RedisClient) => Promise<void>,
  { faults = [], ...options }: Setup = {},
): Promise<Trace> {
  const plan = planOf({ clients: [clientOf('alice', [])], faults });
  const trace = await runFilled(plan, (_, world) => {
    const host = world.world.addServer({ name: 'lock', role: 'lock' }, new RedisNode());
    world.addClient('alice', async (context) => {
      context.section(1);
      await program(new RedisClient(context, host, options));
    });
  });
  expect(trace.ending).toEqual({ kind: 'complete' });
  return trace;
}

/** Returns the value that a program returns. */
async function traceEventsOf(
  program: (redis: RedisClient) => Promise<unknown>,
  setup?: Setup,
): Promise<unknown> {
  let found: unknown;
  await happen(async (redis) => {
    found = await program(redis);
  }, setup);
  return found;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '');
const before = (operation: string) => ({ kind: 'before', point: `alice/1/${operation}` }) as const;

describe('a command', () => {
  test('resolves to a string, a number, null or a list', async () => {
    const values = await traceEventsOf(async (redis) => [
      await redis.set('a', 'v', 'PX', 30_000, 'NX'),
      await redis.set('a', 'w', 'NX'),
      await redis.get('a'),
      await redis.pttl('a'),
      await redis.eval('return {1, "x", false, {ok = "fine"}}', 0),
      await redis.script('LOAD', 'return KEYS[1]'),
      await redis.evalsha(shaOf('return KEYS[1]'), 1, 'a'),
      await redis.call('HSET', 'h', 'f', 1),
      await redis.del('a', 'h'),
    ]);
    const loaded = shaOf('return KEYS[1]');
    expect(values).toEqual(['OK', null, 'v', 29_994, [1, 'x', null, 'fine'], loaded, 'a', 1, 2]);
  });

  test('takes its arguments in lists, as numbers and as bytes', async () => {
    const values = await traceEventsOf(async (redis) => [
      await redis.set(['a', 7]),
      await redis.eval(['return {KEYS[1], ARGV[1]}', 1, ['a', new Uint8Array([0xc3, 0xbc])]]),
    ]);
    expect(values).toEqual(['OK', ['a', 'ü']]);
  });

  test('calls a callback with either an error or a value, as in Node', async () => {
    const seen: unknown[] = [];
    await happen(async (redis) => {
      redis.set('a', 1, (error, value) => seen.push(error, value));
      redis.incr('a', (error, value) => seen.push(error, value));
      redis.evalsha('no', [0], (error, value) => seen.push(messageOf(error), value));
      await wait(10);
    });
    const noScript = 'NOSCRIPT No matching script. Please use EVAL.';
    expect(seen).toEqual([null, 'OK', null, 2, noScript, undefined]);
  });

  test('ignores the return value of a callback, even a rejected promise', async () => {
    await happen(async (redis) => {
      const lost = Promise.reject(new Error('it is the callback’s'));
      lost.catch(() => {});
      redis.get('a', () => lost);
      await wait(10);
    });
  });

  test('rejects with the error that the node replied', async () => {
    const error = await traceEventsOf((redis) =>
      redis.incrby('a', 'x').catch((caught: unknown) => caught),
    );
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toBe('ReplyError: ERR value is not an integer or out of range');
  });
});

describe('if no reply arrives', () => {
  const crash: Fault = {
    kind: 'crash',
    process: 'lock',
    restartAfterUs: 20 * MS,
    when: { kind: 'at', atUs: 500 },
  };

  test('the command rejects as in ioredis, and error listeners are called', async () => {
    const seen: string[] = [];
    await happen(
      async (redis) => {
        redis.on('error', (error) => seen.push(messageOf(error)));
        await redis.get('a').catch((error: unknown) => seen.push(messageOf(error)));
      },
      { faults: [crash] },
    );
    expect(seen).toEqual(['Connection is closed.', 'Connection is closed.']);
  });

  test('no error listener is needed', async () => {
    const program = (redis: RedisClient): Promise<unknown> => redis.get('a').catch(messageOf);
    expect(await traceEventsOf(program, { faults: [crash] })).toBe('Connection is closed.');
  });

  test('in time, the command times out, and may still be executed later', async () => {
    const pause: Fault = {
      kind: 'pause',
      process: 'lock',
      forUs: 100 * MS,
      clocks: 'run',
      when: before('incr'),
    };
    const values = await traceEventsOf(
      async (redis) => {
        const first = await redis.incr('a').catch(messageOf);
        await wait(150);
        return [first, await redis.get('a')];
      },
      { faults: [pause], commandTimeout: 30 },
    );
    expect(values).toEqual(['Command timed out', '1']);
  });

  test('the command is sent again if requested, and may be executed twice', async () => {
    const reply = { kind: 'message', message: 'alice/1/incr/1/reply' } as const;
    const drop: Fault = { kind: 'drop', which: reply };
    const values = await traceEventsOf(
      async (redis) => [await redis.incr('a'), await redis.get('a')],
      {
        faults: [drop],
        commandTimeout: 30,
        tries: 2,
      },
    );
    expect(values).toEqual([2, '2']);
  });
});

describe('a client', () => {
  test('sends nothing after `quit`, and waits for no reply after `disconnect`', async () => {
    const seen: unknown[] = [];
    await happen(async (redis) => {
      for (const event of ['connect', 'ready', 'close', 'end']) {
        redis.on(event, () => seen.push(event));
      }
      const last = redis.get('a');
      seen.push(await redis.quit(), redis.status, await last);
      await redis.get('a').catch((error: unknown) => seen.push(messageOf(error)));
    });
    const closed = 'Connection is closed.';
    expect(seen).toEqual(['connect', 'ready', 'close', 'end', 'OK', 'end', null, closed]);
    const broken = await traceEventsOf((redis) => {
      const pending = redis.get('a').catch(messageOf);
      redis.disconnect();
      return pending;
    });
    expect(broken).toBe(closed);
  });
});

describe('the trace', () => {
  const described = (trace: Trace): readonly string[] => {
    const calls = eventsOf(trace, 'invoke').map(({ operation, call }) =>
      'lock' in call ? `${operation} ${call.verb} ${call.lock}` : operation,
    );
    const answers = eventsOf(trace, 'return').map(({ answer }) =>
      answer?.kind === 'value' ? `value ${answer.value}` : (answer?.kind ?? 'none'),
    );
    return calls.map((call, at) => `${call}: ${answers[at]}`);
  };

  test('shows the meaning of commands for a lock', async () => {
    const trace = await happen(async (redis) => {
      await redis.set('db', 'me', 'NX', 'PX', 10);
      await redis.set('db', 'you', 'NX', 'PX', 10);
      await redis.get('db');
      await redis.set('db', 'me', 'XX', 'PX', 20);
      await redis.pexpire('db', 30);
      await redis.del('db');
      await redis.del('db');
      await redis.setnx('other', 'me');
      await redis.setnx('other', 'you');
      await redis.incr('token');
      await redis.eval('return 1', 1, 'db');
    });
    expect(described(trace)).toEqual([
      'alice/1/set acquire db: granted',
      'alice/1/set-2 acquire db: denied',
      'alice/1/get fetch db: accepted',
      'alice/1/set-3 renew db: renewed',
      'alice/1/pexpire renew db: renewed',
      'alice/1/del release db: released',
      'alice/1/del-2 release db: denied',
      'alice/1/setnx acquire other: granted',
      'alice/1/setnx-2 acquire other: denied',
      'alice/1/incr fetch token: value 1',
      'alice/1/eval fetch db: value 1',
    ]);
  });

  test('judges a SET with GET by the old value in its reply', async () => {
    const trace = await happen(async (redis) => {
      await redis.set('db', 'me', 'XX', 'GET');
      await redis.set('db', 'me', 'NX', 'GET', 'PX', 10);
      await redis.set('db', 'you', 'NX', 'GET', 'PX', 10);
      await redis.set('db', 'me', 'XX', 'GET', 'PX', 20);
    });
    expect(described(trace)).toEqual([
      'alice/1/set renew db: denied',
      'alice/1/set-2 acquire db: granted',
      'alice/1/set-3 acquire db: denied',
      'alice/1/set-4 renew db: renewed',
    ]);
  });

  test('shows no acquisition if a SET may overwrite a value', async () => {
    const trace = await happen(async (redis) => {
      await redis.set('seen:probe', 1);
      await redis.set('db:token', 'nx', 'PX', 10);
      await redis.hset('seen', 'probe', 1);
    });
    expect(described(trace)).toEqual([
      'alice/1/set fetch seen:probe: accepted',
      'alice/1/set-2 fetch db:token: accepted',
      'alice/1/hset fetch seen: value 1',
    ]);
  });

  test('shows the meaning of a script as `means` declares it', async () => {
    const text = 'return redis.call("del", KEYS[1])';
    const means: Means = ({ sha, keys, args }) =>
      sha === shaOf(text)
        ? { verb: 'release', lock: `${keys[0]} of ${args[0]}`, isDone: (reply) => reply === 1 }
        : null;
    const trace = await happen(
      async (redis) => {
        await redis.set('db', 'me');
        await redis.eval(text, 1, 'db', 'me');
        await redis.evalsha(shaOf(text), 1, 'db', 'me');
      },
      { means },
    );
    expect(described(trace).slice(1)).toEqual([
      'alice/1/eval release db of me: released',
      'alice/1/evalsha release db of me: denied',
    ]);
  });

  test('shows no answer about the lock if the node does not know the script', async () => {
    const means: Means = () => ({ verb: 'acquire', lock: 'db', isDone: (reply) => reply === 1 });
    const trace = await happen(
      async (redis) => {
        await redis.evalsha(shaOf('return 1'), 1, 'db').catch(() => {});
        await redis.eval('return 1', 1, 'db');
      },
      { means },
    );
    const returns = eventsOf(trace, 'return').map(({ operation, outcome, answer }) => ({
      operation,
      outcome,
      answer,
    }));
    expect(returns).toEqual([
      { operation: 'alice/1/evalsha', outcome: 'ok', answer: null },
      { operation: 'alice/1/eval', outcome: 'ok', answer: { kind: 'granted', token: 0 } },
    ]);
  });
});
