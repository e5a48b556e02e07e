/** A fault whose place never occurs is found before any seed is examined. */
import { describe, expect, test } from 'vitest';
import { builtIn, type Catalogue, extend } from '../../catalogue.ts';
import { readPlan, renderPlan } from '../../core/plan/plan-text.ts';
import { defineSystem } from '../../define-system.ts';
import { loadScenario } from '../../load.ts';
import { pin } from '../../run.ts';
import { expand } from '../../scenario/expand.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { type PlaceFindings, placeFindings } from './places.ts';

/** Two clients with two sections of two writes each, under these faults. */
function scenarioOf(faults: readonly string[], lock: string, catalogue: Catalogue): Scenario {
  const text = `name: placed
systems:
  one: { lock: ${lock}, store: unfenced, expect: { breaks: [grant-order] } }
clients: { names: [alice, bob], ttl: 10ms, sections: 2, think: 0ms..2ms }
workload: { kind: blind-writes, writesPerGrant: 2 }
faults:
${faults.map((fault) => `  - ${fault}`).join('\n')}
`;
  const read = loadScenario(text, 'placed.yaml', catalogue);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

async function found(
  faults: readonly string[],
  lock = 'lock-service',
  catalogue: Catalogue = builtIn,
): Promise<PlaceFindings> {
  return await placeFindings(scenarioOf(faults, lock, catalogue), catalogue);
}

describe('a place that no run passes is refused, with the nearest names', () => {
  test.each([
    [
      'pause: { process: alice, before: alice/1/write-7, for: 5ms }',
      ['faults', 0, 'pause', 'before'],
      /^there is no point "alice\/1\/write-7"; nearest: alice\/1\/write-2, alice\/1\/write, /,
    ],
    [
      'pause: { process: bob, after: bob/2/wrote, for: 5ms }',
      ['faults', 0, 'pause', 'after'],
      /^there is no point "bob\/2\/wrote"; nearest: bob\/2\/write, /,
    ],
    [
      'pause: { before: renew, for: 5ms, chance: 1/2 }',
      ['faults', 0, 'pause', 'before'],
      /^no client ever passes "renew"; nearest: write, /,
    ],
    [
      'delay: { message: read, by: 5ms, chance: 1/2 }',
      ['faults', 0, 'delay', 'message'],
      /^no client ever passes "read"/,
    ],
    [
      'drop: { message: alice/1/write-3/1/reply }',
      ['faults', 0, 'drop', 'message'],
      /^there is no message "alice\/1\/write-3\/1\/reply"; nearest: alice\/1\/write-2, /,
    ],
    [
      'late-timer: { timer: alice/2/backof, by: 3ms }',
      ['faults', 0, 'late-timer', 'timer'],
      /^there is no timer "alice\/2\/backof"; nearest: alice\/2\/backoff, /,
    ],
  ] as const)('%s', async (fault, path, what) => {
    const { problems, warnings } = await found([fault]);
    expect(warnings).toEqual([]);
    expect(problems).toEqual([{ path, isKey: false, what: expect.stringMatching(what) }]);
  });
});

test('a place that any run passes is accepted, however rare it is', async () => {
  const faults = [
    'pause: { process: alice, before: alice/2/write-2, for: 5ms }',
    'pause: { process: lock, after: bob/1/checked, for: 5ms }',
    'pause: { before: acquire, for: 5ms, chance: 1/2 }',
    'delay: { message: alice/1/write/1/reply, by: 5ms }',
    'late-timer: { timer: bob/1/backoff, by: 3ms }',
    'pause: { process: bob, before: bob/1/acquire-2, for: 5ms }',
    'crash: { process: alice, at: 5ms }',
  ];
  expect(await found(faults)).toEqual({ problems: [], warnings: [] });
});

test('an attempt number that no run reached is only a warning', async () => {
  const { problems, warnings } = await found([
    'pause: { process: alice, before: alice/1/acquire-90, for: 5ms }',
  ]);
  expect(problems).toEqual([]);
  expect(warnings[0]?.what).toMatch(/^in 8 runs there was no point "alice\/1\/acquire-90"/);
});

/**
 * Takes the lock with `take`. After a denial, `look` asks for the holder before the next attempt.
 */
const polite = extend(
  builtIn,
  defineSystem({
    locks: {
      polite: {
        about: 'asks who is in its way',
        operations: ['take', 'look', 'complain'],
        buildAsync(world) {
          let holder = '';
          const server = {
            handle([what, who]: readonly [string, string]) {
              if (what === 'release') holder = '';
              if (what === 'take' && holder === '') holder = who;
              return holder;
            },
          };
          const host = world.addServer({ name: 'lock', role: 'lock' }, server);
          const port = {
            host,
            describeRequest: () => ({ verb: 'acquire', lock: 'db', token: 0 }) as const,
            describeReply: () => ({ kind: 'released' }) as const,
          };
          return (client) => async (section) => {
            const ask = (label: string) =>
              section.call(port, { label, request: [label, client.name] as const });
            for (let tries = 0; tries < 9; tries += 1) {
              const taken = await ask('take');
              if (taken.kind === 'answered' && taken.reply === client.name) break;
              await ask('look');
              if (tries > 7) await ask('complain');
            }
            const guard = section.guard({ token: 1 });
            await guard.work();
            guard.leave();
            await ask('release');
          };
        },
      },
    },
  }),
);

describe('in user code', () => {
  test('a call that is made only after a denial is found by running the code', async () => {
    const drawn = 'pause: { before: look, for: 5ms, chance: 1/2 }';
    expect(await found([drawn], 'polite', polite)).toEqual({ problems: [], warnings: [] });
    const named = ['alice', 'bob'].map((who) => {
      return `pause: { process: ${who}, before: ${who}/1/look, for: 5ms }`;
    });
    const { problems, warnings } = await found(named, 'polite', polite);
    expect(problems).toEqual([]);
    expect(warnings.length).toBeLessThan(2);
  });

  test('a declared call that is never made is a warning', async () => {
    const { problems, warnings } = await found(
      ['pause: { before: complain, for: 5ms, chance: 1/2 }'],
      'polite',
      polite,
    );
    expect(problems).toEqual([]);
    expect(warnings[0]?.what).toMatch(/^in 8 runs no client passed "complain"; nearest: /);
  });

  test('a call that is made but not declared is refused: no fault is placed there', async () => {
    const { problems } = await found(['pause: { before: release, for: 5ms }'], 'polite', polite);
    expect(problems.map(({ what }) => what)).toEqual([
      'clients call "release", but the `operations` of their lock do not declare it',
    ]);
  });

  test('a call that is neither declared nor made is refused', async () => {
    const names = ['alice/1/shout', 'alice/1/write-7'];
    const faults = names.map((name) => `pause: { process: alice, before: ${name}, for: 5ms }`);
    const { problems, warnings } = await found(faults, 'polite', polite);
    expect(warnings).toEqual([]);
    expect(problems.map(({ what }) => what.split(';')[0])).toEqual(
      names.map((name) => `there is no point "${name}"`),
    );
  });
});

describe('faults on the lock servers', () => {
  const faults = `faults:
  - reset: { from: clients, to: locks, chance: 1/2 }
  - partition: { from: clients, to: locks, for: 5ms, chance: 1/2 }
  - delay: { from: clients, to: locks, by: 5ms, chance: 1/2 }
`;
  const rest = `clients: { count: 2, ttl: 10ms }
workload: { kind: read-modify-write }
${faults}`;
  const alone = '  alone: { lock: optimistic, store: versioned, expect: { holds: [progress] } }\n';
  const served = '  served: { lock: lock-service, store: fenced }\n';

  test('are refused if no system has one', () => {
    const read = loadScenario(`name: none\nsystems:\n${alone}${rest}`, 'none.yaml');
    if (read.kind !== 'problems') throw new Error('it is refused');
    const none = 'no system of this scenario has a lock server; there are: stores, clients, ';
    expect(read.problems).toMatchObject([
      { path: 'faults[0].reset.to', line: 7, what: expect.stringContaining(none) },
      { path: 'faults[1].partition.to', line: 8, what: expect.stringContaining(none) },
      { path: 'faults[2].delay.to', line: 9, what: expect.stringContaining(none) },
    ]);
  });

  test('are skipped in a system without one, and its pinned plan can be read', () => {
    const read = loadScenario(`name: some\nsystems:\n${alone}${served}${rest}`, 'some.yaml');
    if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
    const kinds = new Set<string>();
    for (let seed = 0; seed < 20; seed += 1) {
      for (const system of ['alone', 'served']) {
        const plan = pin(expand(read.scenario, system, seed));
        expect(readPlan({ text: renderPlan(plan), file: 'p.yaml' })).toEqual({
          kind: 'plan',
          plan,
        });
        for (const { kind } of plan.faults) kinds.add(`${system} ${kind}`);
      }
    }
    expect([...kinds].sort()).toEqual(['served delay', 'served partition', 'served reset']);
  });
});
