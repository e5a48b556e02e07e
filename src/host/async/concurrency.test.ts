/** Sections that one process runs concurrently, as a service does with requests. */
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { builtIn, extend } from '../../catalogue.ts';
import { judge } from '../../check/claims.ts';
import { termsOf } from '../../check/terms.ts';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan } from '../../core/plan/plan.ts';
import { defineSystem } from '../../define-system.ts';
import { whyRefused } from '../../run.ts';
import { eventsOf, MS, planOf } from '../../systems/plan.fixture.ts';
import type { AsyncClient } from '../../systems/protocol.ts';
import { alice, type Body, happen, write } from './body.fixture.ts';
import { runAsync } from './run-async.ts';

const several = (sections: number, concurrency: number): readonly ClientPlan[] => [
  alice(sections, [write], { concurrency }),
];

const verdictOn = (trace: Trace, claim: string): unknown => {
  const terms = termsOf(planOf({ clients: [] }), { model: null, isFenced: false }, 1000);
  return judge(trace, terms, [claim])[0];
};

const operationsOf = (trace: Trace): readonly string[] =>
  eventsOf(trace, 'invoke').map(({ operation }) => operation);

/** Works under a guard for 10 ms. */
const works: Body = async (section) => {
  const guard = section.guard();
  await guard.write('x', section.id);
  await wait(10);
  guard.leave();
};

test('the allowed number of sections run at once, and the next begins as one ends', async () => {
  const trace = await happen(works, { clients: several(5, 3) });
  const began = eventsOf(trace, 'mark').map(({ point, atUs }) => [point, atUs / MS]);
  expect(began).toEqual([
    ['alice/1/begin', 1],
    ['alice/2/begin', 1],
    ['alice/3/begin', 1],
    ['alice/4/begin', 14],
    ['alice/5/begin', 14],
  ]);
  expect(eventsOf(trace, 'leave').map(({ ordinal }) => ordinal)).toEqual([1, 2, 3, 4, 5]);
  expect(eventsOf(trace, 'write').map(({ under, value }) => [under, value])).toEqual(
    [1, 2, 3, 4, 5].map((number) => [number, number]),
  );
});

test('without concurrency no mark shows where a section begins', async () => {
  const trace = await happen(works);
  expect(eventsOf(trace, 'mark')).toEqual([]);
  expect(eventsOf(trace, 'enter').length).toBe(2);
});

test('two concurrent sections break the claims that two processes would break', async () => {
  const trace = await happen(works, { clients: several(2, 2) });
  expect(verdictOn(trace, 'mutual-exclusion')).toMatchObject({ kind: 'invalid' });
  expect(verdictOn(trace, 'holder-overlap')).toMatchObject({ kind: 'invalid' });
});

test('a mutex in the memory of the process is exercised, and holds', async () => {
  let last = Promise.resolve();
  const body: Body = async (section, client, echo) => {
    const before = last;
    let free = (): void => {};
    last = new Promise((resolve) => {
      free = resolve;
    });
    await before;
    await works(section, client, echo);
    free();
  };
  const trace = await happen(body, { clients: several(3, 3) });
  expect(verdictOn(trace, 'mutual-exclusion')).toMatchObject({ kind: 'valid', exercised: 2 });
});

describe('a fault of a process affects all of its sections', () => {
  const at = (ms: number) => ({ kind: 'at', atUs: ms * MS }) as const;

  test('a pause stops all of them', async () => {
    const body: Body = async (section) => {
      const guard = section.guard();
      await wait(section.id);
      guard.leave();
    };
    const pause: Fault = {
      kind: 'pause',
      process: 'alice',
      when: at(1),
      forUs: 9 * MS,
      clocks: 'run',
    };
    const trace = await happen(body, { clients: several(2, 2), faults: [pause] });
    expect(eventsOf(trace, 'leave').map(({ atUs }) => atUs / MS)).toEqual([11, 12]);
  });

  test('a crash ends them, and the restart continues with those that had not begun', async () => {
    const incarnations: string[] = [];
    const body: Body = async (section, client, echo) => {
      incarnations.push(`${client.incarnation}: ${section.id}`);
      await works(section, client, echo);
    };
    const crash: Fault = { kind: 'crash', process: 'alice', when: at(5), restartAfterUs: MS };
    const trace = await happen(body, { clients: several(5, 2), faults: [crash] });
    expect(incarnations).toEqual(['1: 1', '1: 2', '2: 3', '2: 4', '2: 5']);
    const left = eventsOf(trace, 'leave').map(({ ordinal, atUs }) => [ordinal, atUs / MS]);
    expect(left.slice(0, 2)).toEqual([
      [1, 5],
      [2, 5],
    ]);
  });
});

describe('a call', () => {
  test('of the client is named after the section whose code makes it', async () => {
    const body: Body = async (section, client, echo) => {
      await wait(section.id);
      await client.call(echo, { label: 'ask', request: null });
      await wait(1);
      setTimeout(() => void client.call(echo, { label: 'later', request: null }), 1);
      await wait(3);
    };
    const trace = await happen(body, { clients: several(2, 2) });
    expect(operationsOf(trace)).toEqual([
      'alice/1/ask',
      'alice/2/ask',
      'alice/1/later',
      'alice/2/later',
    ]);
  });

  test('that the code of no section makes is named after none', async () => {
    const asks: (() => void)[] = [];
    const start = (client: AsyncClient, echo: Parameters<Body>[2]): void => {
      const flush = (): void => {
        for (const _ of asks.splice(0)) void client.call(echo, { label: 'ask', request: null });
      };
      setInterval(flush, 5).unref();
    };
    const body: Body = async () => {
      asks.push(() => {});
      await wait(12);
    };
    const trace = await happen(body, { clients: several(2, 2), start });
    expect(operationsOf(trace)).toEqual(['alice/shared/ask', 'alice/shared/ask-2']);
  });
});

describe('a driver on sockets', () => {
  const ping = '*1\r\n$4\r\nPING\r\n';

  async function drive(code: (socket: net.Socket, id: number) => Promise<void>): Promise<Trace> {
    let open: Promise<net.Socket> | null = null;
    const connect = async (): Promise<net.Socket> => {
      const socket = net.connect(6379, 'redis-1');
      socket.on('data', () => {});
      await once(socket, 'connect');
      return socket;
    };
    const buildAsync = () => () => async (section: { readonly id: number }) => {
      open ??= connect();
      await code(await open, section.id);
      await wait(5);
      if (section.id === 2) (await open).destroy();
    };
    const locks = { own: { about: 'a test', buildAsync } };
    const plan = planOf({ lock: 'own', store: 'unfenced', clients: several(2, 2) });
    const system = { ...plan.system, hosts: { 'redis-1:6379': 'lock' } };
    const trace = await runAsync({ ...plan, system }, extend(builtIn, defineSystem({ locks })));
    expect(trace.ending).toEqual({ kind: 'complete' });
    return trace;
  }

  test('connects outside any section, and sends each request for its own section', async () => {
    const trace = await drive(async (socket) => void socket.write(ping));
    expect(operationsOf(trace)).toEqual(['alice/shared/connect', 'alice/1/ping', 'alice/2/ping']);
  });

  test('sends requests of several sections in one write for none of them', async () => {
    let batch = '';
    const trace = await drive(async (socket) => {
      batch += ping;
      if (batch.length === ping.length) setImmediate(() => socket.write(batch));
    });
    expect(operationsOf(trace).slice(1)).toEqual(['alice/shared/ping', 'alice/shared/ping-2']);
  });

  test('sends a request from a data listener for no section', async () => {
    const trace = await drive(async (socket, id) => {
      if (id === 1) socket.once('data', () => socket.write(ping)).write(ping);
    });
    expect(operationsOf(trace).slice(1)).toEqual(['alice/1/ping', 'alice/shared/ping']);
  });
});

test('built-in locks refuse a plan with concurrency', () => {
  const clients = [alice(2, [write], { concurrency: 2 })];
  expect(whyRefused(planOf({ clients, lock: 'redis', store: 'unfenced' }))).toBe(
    'redis runs one section at a time; asynchronous code can run several',
  );
});
