/**
 * Laws: if no client ever gets the lock, or each section ends before anything is tested, no claim
 * holds, with or without faults, in generator code and in asynchronous code; and the reason is
 * reported once.
 */
import { describe, expect, test } from 'vitest';
import { builtIn, type Catalogue, extend } from '../src/catalogue.ts';
import { defineSystem } from '../src/define-system.ts';
import { RedisClient } from '../src/host/redis/client.ts';
import { RedisNode } from '../src/host/redis/node.ts';
import { loadScenario } from '../src/load.ts';
import { NO_COUNTS, type SweepCounts } from '../src/search/sweep/counts.ts';
import { type Judgement, judgeSystem } from '../src/search/sweep/expectation.ts';
import { sweep } from '../src/search/sweep/sweep.ts';
import type { AsyncSection, Guard } from '../src/systems/protocol.ts';

type Body = (section: AsyncSection, redis: RedisClient) => Promise<void>;

async function take(section: AsyncSection, redis: RedisClient): Promise<Guard> {
  for (;;) {
    const answer = await redis.set(section.lock, '1', 'PX', section.ttlMs, 'NX');
    if (answer === 'OK') return section.guard();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const BODIES: Readonly<Record<string, Body>> = {
  correct: async (section, redis) => {
    const guard = await take(section, redis);
    await guard.work();
    guard.leave();
    await redis.del(section.lock);
  },
  'unknown-command': async (section, redis) => {
    await redis.call('FOO', section.lock);
    section.guard();
  },
  'forgotten-await': async (section, redis) => {
    const guard = await take(section, redis);
    void guard.work();
    guard.leave();
    await redis.del(section.lock);
  },
  'enters-and-throws': async (section, redis) => {
    const guard = await take(section, redis);
    guard.leave();
    await redis.call('FOO', section.lock);
  },
  'never-guards': async (section, redis) => {
    await redis.set(section.lock, '1', 'PX', section.ttlMs);
  },
  'grants-to-nobody': async (section, redis) => {
    for (let tries = 0; tries < 3; tries += 1) {
      if ((await redis.set(section.lock, '1', 'XX')) === 'OK') section.guard();
    }
  },
};

const catalogue: Catalogue = extend(
  builtIn,
  defineSystem({
    locks: Object.fromEntries(
      Object.entries(BODIES).map(([name, body]) => [
        name,
        {
          about: name,
          buildAsync: (world) => {
            const node = world.addServer({ name: 'lock', role: 'lock' }, new RedisNode());
            return (client) => {
              const redis = new RedisClient(client, node);
              return (section) => body(section, redis);
            };
          },
        },
      ]),
    ),
  }),
);

const PAUSES = '[pause: { process: clients, at: 1ms..20ms, for: 1ms..40ms, chance: 1/1 }]';

interface Found {
  readonly judged: Judgement;
  readonly counts: SweepCounts;
}

/** Results of ten seeds of the lock, with all listed claims expected to hold. */
async function found(lock: string, faults: string): Promise<Found> {
  const text = `name: sections
systems: { own: { lock: ${lock}, store: fenced, expect: { holds: [grant-order, fence-monotone] } } }
clients: { count: 2, ttl: 50ms, sections: 2 }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
faults: ${faults}
`;
  const read = loadScenario(text, 'sections.yaml', catalogue);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { scenario } = read;
  const { countsBySystem } = await sweep(scenario, { from: 0, to: 9, pool: null, catalogue });
  const counts = countsBySystem.get('own') ?? NO_COUNTS;
  const [system] = scenario.systems;
  if (system === undefined) throw new Error('the scenario has a system');
  const judged = judgeSystem(scenario, system, counts, { isComplete: true, isSingle: false });
  return { judged, counts };
}

const HERE = 'nothing-entered-is-never-met.test.ts';

describe.each([
  ['without faults', '[]'],
  ['with faults', PAUSES],
])('%s', (_, faults) => {
  test('an unknown command is reported as the reason, with its count and its place', async () => {
    const { judged, counts } = await found('unknown-command', faults);
    expect(judged.met).toBeNull();
    expect(judged.vacuous[0]).toMatch(
      /^no section was ever entered: 40 ended by ReplyError: .*'FOO'.* at [\w.-]+:\d+:\d+$/,
    );
    expect(judged.vacuous[0]).toContain(` at ${HERE}:`);
    expect(counts.sections).toMatchObject({ began: 40, entered: 0, gaveUp: 0, unguarded: 0 });
  });

  test('a forgotten `await` fails, and the error names its place', async () => {
    const { judged, counts } = await found('forgotten-await', faults);
    expect(judged.met).toBeNull();
    expect(counts.failed).toBe(10);
    expect(counts.failures[0]?.error).toMatch(/guard\.work\(\) at [\w.-]+:\d+:\d+ was still in/);
    expect(counts.sections.failed).toHaveLength(1);
  });

  test('if all sections enter, test nothing and throw, their error is the reason', async () => {
    const { judged, counts } = await found('enters-and-throws', faults);
    expect(judged.met).toBeNull();
    expect(judged.vacuous[0]).toMatch(
      /^every section ended with an error: 40 ended by ReplyError: .*'FOO'/,
    );
    expect(counts.sections).toMatchObject({ began: 40, entered: 40 });
  });

  test('sections that never guard are reported as such, and their runs end', async () => {
    const { judged, counts } = await found('never-guards', faults);
    expect(judged.met).toBeNull();
    expect(judged.vacuous).toContain(
      'no section was ever entered: 40 returned without section.guard()',
    );
    expect(counts.unknown).toBe(0); // no run reached its limit
  });

  test('a lock that grants to no client is one that every client gave up', async () => {
    const { judged, counts } = await found('grants-to-nobody', faults);
    expect(judged.met).toBeNull();
    expect(judged.vacuous).toContain('no section was ever entered: 40 gave up');
    expect(counts.sections).toMatchObject({ began: 40, entered: 0, unguarded: 0 });
  });

  test('with a correct lock every section is entered, and no reason is reported', async () => {
    const { counts } = await found('correct', faults);
    expect(counts.sections).toMatchObject({ began: 40, entered: 40, failed: [], unguarded: 0 });
  });
});

test('a built-in lock that grants to no client is given up, too', async () => {
  const text = `name: sections
systems: { own: { lock: lock-service, store: fenced, expect: { holds: [grant-order] } } }
clients: { count: 1, ttl: 50ms, sections: 2, attempts: 2, lockTimeout: 1ms, tries: 1 }
workload: { kind: read-modify-write }
network: { latency: 2ms..3ms }
faults: []
`;
  const read = loadScenario(text, 'sections.yaml');
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const { scenario } = read;
  const { countsBySystem } = await sweep(scenario, { from: 0, to: 9, pool: null });
  const counts = countsBySystem.get('own') ?? NO_COUNTS;
  const [system] = scenario.systems;
  if (system === undefined) throw new Error('the scenario has a system');
  const judged = judgeSystem(scenario, system, counts, { isComplete: true, isSingle: false });
  expect(counts.sections).toMatchObject({ began: 20, entered: 0, gaveUp: 20 });
  expect(judged).toMatchObject({ met: null, vacuous: ['no section was ever entered: 20 gave up'] });
});
