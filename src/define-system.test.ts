import { describe, expect, test } from 'vitest';
import { builtIn, type Catalogue, extend } from './catalogue.ts';
import { explain } from './check/explain.ts';
import { inWords } from './check/in-words.fixture.ts';

import type { Program } from './core/world/program.ts';
import { type Definitions, defineSystem } from './define-system.ts';
import { examineSeed, type SeedResult, shrinkFailure } from './harness.ts';
import { illegal } from './linearizability/model.ts';
import type { RegisterCall } from './linearizability/models/register.ts';
import { loadScenario } from './load.ts';
import type { Scenario } from './scenario/scenario.ts';
import { openPool, sweep } from './search/sweep/sweep.ts';
import { stores } from './systems/store/store.ts';
import { StoreServer } from './systems/store/store-server.ts';

const TEXT = `
name: own
systems:
  own: { lock: lock-service, store: STORE, expect: { holds: [CLAIM] } }
clients: { count: 2, ttl: 10ms }
faults: [{ pause: { process: clients, before: write, for: 20ms, chance: 1/2 } }]
`;

function scenarioOf(store: string, claim: string, catalogue: Catalogue): Scenario {
  const text = TEXT.replace('STORE', store).replace('CLAIM', claim);
  const read = loadScenario(text, 'own.yaml', catalogue);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

/** Returns the first of 30 seeds on which the claim is broken, or null if there is none. */
function firstBroken(store: string, claim: string, catalogue: Catalogue): SeedResult | null {
  const scenario = scenarioOf(store, claim, catalogue);
  for (let seed = 0; seed < 30; seed += 1) {
    const result = examineSeed(scenario, 'own', seed, [claim], catalogue);
    if (result.verdicts[0]?.kind === 'invalid') return result;
  }
  return null;
}

const fewWrites = defineSystem({
  claims: {
    'one-write-each': {
      about: 'a client writes to a store once',
      judge: ({ events }) => {
        const seen = new Set<string>();
        for (const [event, { kind, ...rest }] of events.entries()) {
          if (kind !== 'write' || !('client' in rest)) continue;
          if (!seen.has(rest.client)) seen.add(rest.client);
          else {
            const breach = {
              headline: `${rest.client} wrote again`,
              evidence: [{ role: 'second write', event }],
              however: 'once was promised',
            };
            return { exercised: seen.size, breach };
          }
        }
        return { exercised: seen.size };
      },
    },
  },
});

describe('a user-defined claim', () => {
  const catalogue = extend(builtIn, fewWrites);

  test('is judged, shrunk and explained like any other', () => {
    const found = firstBroken('fenced', 'one-write-each', catalogue);
    if (found === null) throw new Error('no seed breaks it');
    const { plan, reproduced } = shrinkFailure(found.plan, 'one-write-each', { catalogue });
    expect(reproduced).toBe(true);
    expect(plan.clients.length).toBe(1);
    expect(plan.faults).toEqual([]);
    const [verdict] = found.verdicts;
    if (verdict?.kind !== 'invalid') throw new Error('the verdict is lost');
    expect(inWords(explain(found.trace, verdict))).toMatch(
      /^\w+ wrote again\. However, once was promised\.$/,
    );
    expect(found.trace.events[verdict.evidence[0]?.event ?? -1]?.kind).toBe('write');
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no idea');
      },
      'its judge threw: no idea',
    ],
    ['counts nothing', () => ({ exercised: Number.NaN }), 'did not return `exercised`'],
    [
      'names no event',
      () => ({ exercised: 1, breach: { headline: 'a', evidence: [{ role: 'a', event: -1 }] } }),
      'is not an event of the trace',
    ],
    ['is undecided', () => ({ exercised: 1, unknown: 'it is dark' }), 'it is dark'],
  ])('that %s is unknown, with the reason', (_, judge, reason) => {
    const extended = extend(builtIn, defineSystem({ claims: { own: { about: 'mine', judge } } }));
    const scenario = scenarioOf('fenced', 'own', extended);
    const [verdict] = examineSeed(scenario, 'own', 0, ['own'], extended).verdicts;
    expect(verdict?.kind === 'unknown' ? verdict.reason : verdict?.kind).toContain(reason);
  });
});

const newestOnly = defineSystem({
  models: {
    'growing-register': {
      about: 'a register in which no value is ever followed by a lower one',
      calls: 'register',
      model: {
        name: 'growing-register',
        init: 0,
        partition: (call: RegisterCall) => call.key ?? '',
        step: (value, { name, value: given }) => {
          if (name === 'read') return given === value ? [value] : illegal;
          return Number(given) > Number(value) ? [given] : illegal;
        },
      },
    },
  },
  stores: {
    forgetful: {
      about: 'a fenced store that forgets its highest token in a crash',
      model: 'growing-register',
      isFenced: true,
      build: (name) => {
        const fenced = stores.get('fenced');
        if (fenced === undefined) throw new Error('there is no such rule');
        return new StoreServer(name, { ...fenced, isDurable: false });
      },
    },
  },
});

describe('a user-defined model and store', () => {
  const catalogue = extend(builtIn, newestOnly);

  test('decide the meaning of `linearizable` for that store', () => {
    expect(firstBroken('forgetful', 'linearizable', catalogue)).not.toBeNull();
    expect(firstBroken('fenced', 'linearizable', catalogue)).toBeNull();
  });

  test('have a claim for the model with every store', () => {
    const claim = 'linearizable(growing-register)';
    expect(catalogue.aboutClaims.get(claim)?.about).toContain('lower one');
    expect(firstBroken('unfenced', claim, catalogue)).not.toBeNull();
  });
});

const nothing = {
  about: 'gives up',
  *acquire(): Program<'given up'> {
    return 'given up';
  },
  *release(): Program<void> {},
};

describe('a definition', () => {
  const build = (): (() => typeof nothing) => () => nothing;

  test.each<readonly [string, Definitions, string]>([
    [
      'has a build',
      { locks: { a: JSON.parse('{"about":"a"}') } },
      'locks.a has no `section`, and no `build` or `buildAsync`',
    ],
    ['has an about', { stores: { a: JSON.parse('{}') } }, 'stores.a.about is not a string'],
    [
      'has known fields',
      JSON.parse('{"lock":{}}'),
      'lock is unknown; known: locks, stores, claims, models',
    ],
    [
      'has plain names',
      { locks: { 'a b': { about: 'a', build } } },
      'locks has the invalid name "a b"',
    ],
    ['has locks called so', { locks: { a: { about: 'a', servers: ['a'], build } } }, 'called lock'],
    [
      'has its own names',
      { locks: { none: { about: 'a', build } } },
      'the lock "none" has the name',
    ],
    [
      'has options with defaults',
      {
        locks: {
          a: {
            about: 'a',
            options: [{ name: 'o', values: ['x'], fallback: 'y', about: '' }],
            build,
          },
        },
      },
      'locks.a.options.o.fallback is not one of its values',
    ],
    [
      'has only known fields',
      { locks: { a: JSON.parse('{"about":"a","operatons":[]}') } },
      'locks.a has an unknown field "operatons"; did you mean "operations"?',
    ],
    [
      'has a list of operations',
      { locks: { a: { ...JSON.parse('{"about":"a","operations":"set"}'), build } } },
      'locks.a.operations is not a list of names',
    ],
    [
      'has models that step',
      { models: { m: JSON.parse('{"about":"","calls":"register","model":{}}') } },
      'models.m.model has no',
    ],
  ])('%s, or is refused', (_, definitions, what) => {
    expect(() => defineSystem(definitions)).toThrow(what);
  });

  test('cannot be added twice', () => {
    expect(() => extend(extend(builtIn, fewWrites), fewWrites)).toThrow(
      'the claim "one-write-each" has the name of another definition',
    );
  });

  test('adds nothing to the built-in catalogue', () => {
    expect(builtIn.claims.has('one-write-each')).toBe(false);
    expect(extend(builtIn, fewWrites).claims.size).toBe(builtIn.claims.size + 1);
  });

  test('without a module is refused for worker threads', async () => {
    const catalogue = extend(builtIn, fewWrites);
    const scenario = scenarioOf('fenced', 'one-write-each', catalogue);
    const pool = openPool({ workers: 0 });
    const swept = sweep(scenario, { from: 0, to: 1, pool, catalogue });
    await expect(swept).rejects.toThrow('pool: null');
    const here = await sweep(scenario, { from: 0, to: 1, pool: null, catalogue });
    expect(here.countsBySystem.get('own')?.claims['one-write-each']?.broken).toBeGreaterThan(0);
  });
});

test('a lock whose build throws makes its plans impossible, with the reason', () => {
  const broken = defineSystem({
    locks: {
      broken: {
        about: 'cannot be built',
        build: () => {
          throw new Error('no server today');
        },
      },
    },
  });
  const catalogue = extend(builtIn, broken);
  const text = TEXT.replace('lock-service', 'broken').replace('STORE', 'fenced');
  const read = loadScenario(text.replace('CLAIM', 'progress'), 'own.yaml', catalogue);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  expect(() => examineSeed(read.scenario, 'own', 0, [], catalogue)).toThrow(
    'the lock broken cannot be built: no server today',
  );
});
