/**
 * Law: a late DEL is shrunk to a late DEL. The lock uses the algorithm of npm `redis-lock` 1.0.0: a
 * SET with NX and PX, then a plain DEL unless its own clock shows that the lease is over. Only a
 * pause just before the DEL makes it remove the key of its successor; a lease that expired under
 * any other pause does not.
 */
import { describe, expect, test } from 'vitest';
import { builtIn, extend } from '../src/catalogue.ts';
import { type BreachCause, causeText } from '../src/check/breach-cause.ts';
import { defineSystem } from '../src/define-system.ts';
import { examineSeedAsync, shrinkFailureAsync } from '../src/host/async/run-async.ts';
import { RedisClient } from '../src/host/redis/client.ts';
import { RedisNode } from '../src/host/redis/node.ts';
import { loadScenario } from '../src/load.ts';
import type { Scenario } from '../src/scenario/scenario.ts';

const RETRY_MS = 5;

const catalogue = extend(
  builtIn,
  defineSystem({
    locks: {
      'plain-del': {
        about: 'SET NX PX, the own clock, a plain DEL',
        operations: ['set', 'del'],
        buildAsync(world) {
          const node = world.addServer({ name: 'lock', role: 'lock' }, new RedisNode());
          return (client) => {
            const redis = new RedisClient(client, node);
            return async (section) => {
              const key = `lock.${section.lock}`;
              const ttl = `${section.ttlMs}`;
              let untilMs = 0;
              for (;;) {
                untilMs = Date.now() + section.ttlMs + 1;
                if ((await redis.set(key, `${untilMs}`, 'PX', ttl, 'NX')) !== null) break;
                await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
              }
              const guard = section.guard();
              await guard.work();
              guard.leave();
              if (untilMs > Date.now()) await redis.del(key);
            };
          };
        },
      },
    },
  }),
);

function scenarioWith(fault: string): Scenario {
  const text = `
name: late-del
systems: { plain: { lock: plain-del, store: unfenced, expect: { breaks: [grant-order] } } }
clients: { count: 3, ttl: 20ms, sections: 3, think: 0ms..10ms }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
swarm: false
faults:
  - ${fault}
`;
  const read = loadScenario(text, 'late-del.yaml', catalogue);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

/** Returns the causes of the first seeds that break a claim, and where their shrunk faults are. */
async function shrunk(
  scenario: Scenario,
  claim: string,
  wanted: { readonly enough: number; readonly ofThese?: (cause: BreachCause) => boolean },
) {
  const found = [];
  for (let seed = 0; found.length < wanted.enough; seed += 1) {
    const { plan, causes } = await examineSeedAsync(scenario, 'plain', seed, [claim], catalogue);
    const cause = causes.get(claim);
    if (cause === undefined || wanted.ofThese?.(cause) === false) continue;
    const { plan: least } = await shrinkFailureAsync(plan, claim, { catalogue });
    const places = least.faults.map((fault) =>
      'when' in fault && 'point' in fault.when
        ? `${fault.when.kind} ${fault.when.point.replace(/^.*\//, '')}`
        : fault.kind,
    );
    found.push({ cause: causeText(cause), places });
  }
  return found;
}

describe('if only a pause before the DEL is declared', () => {
  const onlyDel = scenarioWith(
    'pause: { process: clients, before: del, for: 1ms..60ms, chance: 1/2 }',
  );

  test.each(['grant-order', 'mutual-exclusion'])(
    '%s breaks by a late DEL, before and after shrinking',
    async (claim) => {
      for (const { cause, places } of await shrunk(onlyDel, claim, { enough: 2 })) {
        expect(cause).toBe('another’s release (pause before release)');
        expect(new Set(places)).toEqual(new Set(['before del']));
      }
    },
  );
});

describe('if a pause before the read is declared, too', () => {
  const [atRead, atDel] = ['read', 'del'].map(
    (verb) => `pause: { process: clients, before: ${verb}, for: 1ms..60ms, chance: 1/4 }`,
  );
  const both = scenarioWith(`${atRead}\n  - ${atDel}`);

  test.each([
    ['a late DEL', true],
    ['a lease that ran out', false],
  ])('%s keeps its cause', async (_, isLate) => {
    const ofThese = (cause: BreachCause): boolean => cause.isByNonOwnerRelease === isLate;
    for (const { places } of await shrunk(both, 'grant-order', { enough: 3, ofThese })) {
      expect(places.includes('before del')).toBe(isLate);
    }
  });
});
