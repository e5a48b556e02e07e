/** Npm redlock, unmodified, on simulated nodes. */
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Trace } from '../../core/history/trace.ts';
import type { Fault } from '../../core/plan/fault.ts';
import { digestOf } from '../../run.ts';
import { clientOf, eventsOf, MS, planOf } from '../../systems/plan.fixture.ts';
import type { AsyncSection } from '../../systems/protocol.ts';
import { runAsync } from '../async/run-async.ts';
import type { RedisNodeOptions } from './node.ts';
import {
  FifthRedlock,
  FourthRedlock,
  NODES,
  redlockPlan,
  type Take,
  withRedlock,
  withTake,
} from './redlock.fixture.ts';

describe.each(['redlock-5', 'redlock-4'])('npm %s', (lock) => {
  test('excludes other clients, and every increment counts', async () => {
    const trace = await runAsync(redlockPlan(lock, 1), withRedlock);
    expect(trace.ending).toEqual({ kind: 'complete' });
    expect(eventsOf(trace, 'enter').length).toBe(6);
    expect(eventsOf(trace, 'write').map(({ value }) => value)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test('gives the same trace in every run of a plan', async () => {
    const digests = async (): Promise<readonly string[]> => {
      const found: string[] = [];
      for (let seed = 0; seed < 30; seed += 1) {
        found.push(digestOf(await runAsync(redlockPlan(lock, seed), withRedlock)));
      }
      return found;
    };
    const first = await digests();
    expect(new Set(first).size).toBe(30);
    expect(await digests()).toEqual(first);
  });
});

/** Runs a script per client; returns the marks that they pass, in order. */
async function happen(
  scripts: Readonly<Record<string, Take>>,
  { faults = [], ...options }: RedisNodeOptions & { readonly faults?: readonly Fault[] } = {},
): Promise<{ readonly trace: Trace; readonly log: readonly string[] }> {
  const takes = Object.entries(scripts);
  // The name of its lock identifies the client of a section.
  const clients = takes.map(([name]) => clientOf(name, [], { section: { lock: name } }));
  const take: Take = (section, nodes) => scripts[section.lock]?.(section, nodes) ?? wait(0);
  const plan = planOf({ clients, lock: 'own', store: 'unfenced', faults, healAtUs: 5000 * MS });
  const trace = await runAsync(plan, withTake(take, options));
  expect(trace.ending).toEqual({ kind: 'complete' });
  const log = eventsOf(trace, 'mark').map(({ point }) => point);
  return { trace, log };
}

async function marks(...given: Parameters<typeof happen>): Promise<readonly string[]> {
  return (await happen(...given)).log;
}

/** Tries once after `afterMs`, and marks whether it got the lock. */
function triesOnce(afterMs: number): Take {
  return async (section, nodes) => {
    await wait(afterMs);
    const redlock = new FifthRedlock(nodes, { retryCount: 0 });
    const isGiven = await redlock.acquire(['db'], 1000).then(
      () => true,
      () => false,
    );
    await section.mark(isGiven ? 'got' : 'not');
  };
}

const holds: Take = async (section, nodes) => {
  const lock = await new FifthRedlock(nodes, { retryCount: 0 }).acquire(['db'], 1000);
  await section.mark('has');
  await wait(900);
  await section.mark('ends');
  await lock.release();
};

function answered(trace: Trace, verb: string): readonly string[] {
  const operations = eventsOf(trace, 'invoke').flatMap(({ call, operation }) =>
    call.verb === verb ? [operation] : [],
  );
  const isOne = ({ operation }: { operation: string }): boolean => operations.includes(operation);
  return eventsOf(trace, 'return')
    .filter(isOne)
    .map(({ answer }) => answer?.kind ?? 'none');
}

describe('a lock that is extended', () => {
  const versions: readonly (readonly [string, Take])[] = [
    [
      'by npm redlock 5',
      async (section, nodes) => {
        const lock = await new FifthRedlock(nodes, { retryCount: 0 }).acquire(['db'], 300);
        await wait(200);
        const longer = await lock.extend(300);
        await section.mark('extended');
        await wait(200);
        await longer.release();
      },
    ],
    [
      'by npm redlock 4',
      async (section, nodes) => {
        const lock = await new FourthRedlock(nodes, { retryCount: 0 }).lock('db', 300);
        await wait(200);
        await lock.extend(300);
        await section.mark('extended');
        await wait(200);
        await lock.unlock();
      },
    ],
  ];

  test.each(versions)(
    '%s is held past its first end, and free after its release',
    async (_, alice) => {
      const scripts = { alice, bob: triesOnce(350), carol: triesOnce(450) };
      const { trace, log } = await happen(scripts);
      expect(log).toEqual(['alice/1/extended', 'bob/1/not', 'carol/1/got']);
      expect(answered(trace, 'renew').filter((kind) => kind === 'renewed').length).toBe(3);
      expect(answered(trace, 'release').filter((kind) => kind === 'released').length).toBe(3);
    },
  );
});

test('`using` extends its lock while its routine runs, and then releases it', async () => {
  const alice: Take = async (section, nodes) => {
    const redlock = new FifthRedlock(nodes, { retryCount: 0 });
    const settings = { automaticExtensionThreshold: 300 };
    await redlock.using(['db'], 700, settings, async (signal) => {
      await wait(1500);
      await section.mark(signal.aborted ? 'aborted' : 'whole');
    });
  };
  const scripts = { alice, bob: triesOnce(1000), carol: triesOnce(1600) };
  const { trace, log } = await happen(scripts);
  expect(log).toEqual(['bob/1/not', 'alice/1/whole', 'carol/1/got']);
  expect(answered(trace, 'renew').filter((kind) => kind === 'renewed').length).toBe(9);
});

describe('a quorum of nodes', () => {
  const scripts = { alice: holds, bob: triesOnce(500) };
  const denied = ['alice/1/has', 'bob/1/not', 'alice/1/ends'];
  const given = ['alice/1/has', 'bob/1/got', 'alice/1/ends'];
  const when = { kind: 'at', atUs: 200 * MS } as const;
  const onTwo = (fault: (process: string) => Fault): readonly Fault[] =>
    NODES.slice(0, 2).map(fault);

  test('denies a lock that is held', async () => {
    expect(await marks(scripts)).toEqual(denied);
  });

  test('grants a held lock if their wall clocks are set forward, but not if one is', async () => {
    const step = (process: string): Fault => ({
      kind: 'clock',
      process,
      stepUs: 5000 * MS,
      ratePpm: 0,
      when,
    });
    expect(await marks(scripts, { faults: onTwo(step) })).toEqual(given);
    expect(await marks(scripts, { faults: onTwo(step).slice(1) })).toEqual(denied);
  });

  test('grants a held lock after crashes, unless the nodes persist everything', async () => {
    const crash = (process: string): Fault => ({
      kind: 'crash',
      process,
      restartAfterUs: MS,
      when,
    });
    const faults = onTwo(crash);
    expect(await marks(scripts, { faults })).toEqual(given);
    expect(await marks(scripts, { faults, persistence: 'always' })).toEqual(denied);
  });

  test('grants a held lock if replicas take over that were not sent it', async () => {
    const failover = (lagUs: number): readonly Fault[] =>
      onTwo((process) => ({ kind: 'failover', process, lagUs, when }));
    expect(await marks(scripts, { faults: failover(250 * MS) })).toEqual(given);
    expect(await marks(scripts, { faults: failover(50 * MS) })).toEqual(denied);
  });
});

test('redlock gets the errors of ioredis for a node that does not answer', async () => {
  const events: string[] = [];
  const listens = (section: AsyncSection, nodes: Parameters<Take>[1]): Promise<void> => {
    const redlock = new FifthRedlock(nodes, { retryCount: 0 });
    redlock.on('error', ({ message }) => events.push(message));
    return redlock.acquire(['db'], 1000).then(() => section.mark('has'));
  };
  const when = { kind: 'at', atUs: 0 } as const;
  const faults: readonly Fault[] = [
    { kind: 'pause', process: 'lock-1', forUs: 300 * MS, clocks: 'run', when },
    { kind: 'crash', process: 'lock-2', restartAfterUs: 1500, when },
  ];
  const { log } = await happen({ alice: listens }, { faults });
  expect(log).toEqual([]);
  expect(events.slice(0, 2)).toEqual(['Connection is closed.', 'Command timed out']);
});
