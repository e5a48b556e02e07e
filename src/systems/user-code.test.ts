/** Tests user code that takes no lock: its sections run without acquiring. */
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { builtIn, type Catalogue, extend } from '../catalogue.ts';
import { builtInClaims, isAboutGrants } from '../check/claims.ts';
import type { TraceEvent } from '../core/history/events.ts';
import { defineSystem } from '../define-system.ts';
import { runAsync } from '../host/async/run-async.ts';
import { loadScenario } from '../load.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { type Judgement, judgeSystem } from '../search/sweep/expectation.ts';
import { sweep } from '../search/sweep/sweep.ts';
import { renderProblem } from '../text/problem.ts';
import { clientOf, eventsOf, planOf } from './plan.fixture.ts';
import type { AsyncSection, LockDefinition } from './protocol.ts';

/** A service whose updates take turns in the memory of its process, or not at all. */
function service(isInTurn: boolean): LockDefinition {
  return {
    about: 'deposits',
    lock: 'none',
    servers: [],
    buildAsync: () => () => {
      let last = Promise.resolve();
      return async (section) => {
        const deposit = async (): Promise<void> => {
          const guard = section.guard({ token: 3 });
          const balance = await guard.read('x');
          guard.renew();
          await wait(3);
          await guard.write('x', balance + 1);
          guard.leave();
        };
        last = isInTurn ? last.then(deposit) : deposit();
        await last;
      };
    },
  };
}

const idle: LockDefinition = { ...service(true), buildAsync: () => () => async () => {} };
const locks = { turns: service(true), careless: service(false), idle };
const catalogue: Catalogue = extend(builtIn, defineSystem({ locks }));

const textOf = (lock: string, expect_: string, more = 'clients: 2'): string => `
name: free
systems:
  one: { lock: ${lock}, store: unfenced, expect: ${expect_} }
workload: { kind: read-modify-write }
${more}`;

function scenarioOf(text: string): Scenario {
  const read = loadScenario(text, 'free.yaml', catalogue);
  return read.kind === 'scenario' ? read.scenario : expect.fail(JSON.stringify(read.problems));
}

function problemsOf(text: string): readonly string[] {
  const read = loadScenario(text, 'free.yaml', catalogue);
  return read.kind === 'problems' ? read.problems.map(renderProblem) : [];
}

test('a guard is not a grant, and accesses under it are recorded without a grant', async () => {
  const clients = [clientOf('alice', []), clientOf('bob', [])];
  const trace = await runAsync(planOf({ clients, lock: 'careless', store: 'unfenced' }), catalogue);
  expect(trace.ending).toEqual({ kind: 'complete' });
  const kinds: ReadonlySet<TraceEvent['kind']> = new Set(trace.events.map(({ kind }) => kind));
  for (const kind of ['grant', 'renew', 'release', 'enter', 'leave', 'lease-test'] as const) {
    expect(kinds).not.toContain(kind);
  }
  const writes = eventsOf(trace, 'write');
  expect(writes.map(({ under, token }) => [under, token])).toContainEqual([0, 3]);
  expect(writes.filter(({ isAccepted }) => isAccepted).length).toBe(2);
});

describe('a claim about grants', () => {
  test('is refused at its position for user code and for the built-in lock `none`', () => {
    const what = 'mutual-exclusion applies to grants, but sections of';
    const holds = '{ holds: [no-lost-update, mutual-exclusion] }';
    expect(problemsOf(textOf('turns', holds))).toEqual([
      `free.yaml:4:74 systems.one.expect.holds[1]: ${what} turns acquire nothing`,
    ]);
    expect(problemsOf(textOf('none', '{ breaks: [mutual-exclusion] }'))).toEqual([
      `free.yaml:4:58 systems.one.expect.breaks[0]: ${what} none acquire nothing`,
    ]);
    expect(problemsOf(textOf('none', '{ breaks: [no-lost-update] }'))).toEqual([]);
  });

  test('is any built-in one that is not about data, jobs or liveness', () => {
    const others = [...builtInClaims.keys()].filter((name) => !isAboutGrants(name));
    expect(others.filter((name) => !name.startsWith('linearizable'))).toEqual([
      'no-lost-update',
      'cross-key',
      'at-most-once',
      'single-flight',
      'progress',
      'acknowledged-durable',
    ]);
    expect(others.some((name) => name.startsWith('linearizable'))).toBe(true);
    expect(isAboutGrants('a-claim-of-ones-own')).toBe(false);
  });
});

describe('a claim that applies', () => {
  const several = `clients: { count: 1, concurrency: 3, think: 0ms..10ms }
probe: false
faults: [{ pause: { process: clients, before: write, for: 1ms..40ms, chance: 1/2 } }]`;

  async function judged(lock: string, claim: string, more: string): Promise<Judgement> {
    const scenario = scenarioOf(textOf(lock, `{ holds: [${claim}] }`, more));
    const { countsBySystem } = await sweep(scenario, { from: 0, to: 29, pool: null, catalogue });
    const [[, counts] = expect.fail('nothing ran')] = countsBySystem;
    const [system = expect.fail('there is no system')] = scenario.systems;
    return judgeSystem(scenario, system, counts, { isComplete: true, isSingle: false });
  }

  test('is exercised among the sections of one process, with faults too', async () => {
    const turns = await judged('turns', 'no-lost-update', several);
    expect(turns).toMatchObject({ met: true, unexpected: [], vacuous: [] });
    const careless = await judged('careless', 'no-lost-update', several);
    expect(careless).toMatchObject({ met: false, unexpected: ['no-lost-update'], vacuous: [] });
  });

  test('may be progress: a probe can write at the end', async () => {
    const progress = await judged('turns', 'progress', 'clients: 2');
    expect(progress).toMatchObject({ met: true, unexpected: [], vacuous: [] });
  });

  test('is not exercised without an accepted write', async () => {
    const idle = await judged('idle', 'no-lost-update', several);
    expect(idle.vacuous).toContain('no write was ever accepted');
  });
});

test('a `section` gets its system’s options, and acts like the same `buildAsync`', async () => {
  const options = [{ name: 'by', values: 'integer', fallback: 1, about: 'what it adds' }] as const;
  const deposit = async (section: AsyncSection, by: number): Promise<void> => {
    const guard = section.guard();
    await guard.write('x', (await guard.read('x')) + by);
    guard.leave();
  };
  const lock = { about: 'deposits', lock: 'none', servers: [], options } as const;
  const definition = defineSystem({
    locks: {
      short: { ...lock, section: (section, given) => deposit(section, given.whole('by')) },
      long: {
        ...lock,
        buildAsync: (_world, given) => () => (section) => deposit(section, given.whole('by')),
      },
    },
  });
  const written = async (name: string): Promise<unknown> => {
    const plan = planOf({ clients: [clientOf('alice', [])], lock: name, options: { by: 7 } });
    const trace = await runAsync(plan, extend(builtIn, definition));
    return eventsOf(trace, 'write').map(({ value }) => value);
  };
  expect(await written('short')).toEqual(await written('long'));
  expect(await written('short')).toContain(7);
});
