/**
 * Sweeps that reuse realms have the results of sweeps with fresh ones, however they are split, for
 * locks whose packages keep state that they rarely use.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Catalogue } from '../../catalogue.ts';
import { loadScenarioFile } from '../../host/modules/load-files.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { ReuseDifference } from './chunk.ts';
import { claimCounts, mergeCounts, NO_COUNTS, type SweepCounts } from './counts.ts';
import { rangeOfShard, type SeedRange } from './shards.ts';
import { sweep } from './sweep.ts';

const folder = mkdtempSync(join(tmpdir(), 'fencepost-reuse-'));

/** A circuit breaker in a package: after two failures, clients work without the lock. */
const BREAKERS = {
  variable: `let failures = 0;
    exports.failed = () => { failures += 1; };
    exports.isOpen = () => failures >= 2;`,
};

const LOCK = `import { defineSystem } from 'fencepost';
import { RedisClient, RedisNode } from 'fencepost/redis';
import { failed, isOpen } from 'KIND';
const buildAsync = (world) => {
  const node = world.addServer({ name: 'lock', role: 'lock' }, new RedisNode());
  return (client) => {
    const redis = new RedisClient(client, node);
    return async (section) => {
      if (Math.random() < 1 / 50) failed();
      const { lock, ttlMs } = section;
      const isTaken = !isOpen() && (await redis.set(lock, client.name, 'NX', 'PX', ttlMs)) !== 'OK';
      if (isTaken) return;
      const guard = section.guard({ untilMs: Date.now() + ttlMs });
      await guard.work();
      guard.leave();
    };
  };
};
const locks = { KIND: { about: 'opens', operations: ['set'], buildAsync } };
export default defineSystem({ locks });
`;

const names = Object.keys(BREAKERS);

let scenario: Scenario;
let catalogue: Catalogue;
beforeAll(async () => {
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [name, text] of Object.entries(BREAKERS)) {
    put(`node_modules/${name}/index.js`, text);
    put(`${name}.mjs`, LOCK.replaceAll('KIND', name));
  }
  const systems = names.map(
    (name) =>
      `  ${name}: { lock: ${name}, store: unfenced, expect: { holds: [mutual-exclusion] } }\n`,
  );
  put(
    'lock.yaml',
    `name: reuse
use: [${names.map((name) => `./${name}.mjs`)}]
systems:
${systems.join('')}clients: { count: 3, ttl: 200ms, sections: 3, think: 0ms..10ms }
network: { latency: 1ms..2ms }
`,
  );
  const read = await loadScenarioFile(join(folder, 'lock.yaml'));
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  ({ scenario, catalogue } = read);
});

interface Swept {
  readonly countsBySystem: ReadonlyMap<string, SweepCounts>;
  readonly differences: readonly [string, ReuseDifference][];
}

async function sweepOf(range: SeedRange, reusing: readonly string[]): Promise<Swept> {
  const differences: [string, ReuseDifference][] = [];
  const onDifference = (system: string, difference: ReuseDifference): void => {
    differences.push([system, difference]);
  };
  const options = { ...range, pool: null, catalogue, reusing, onDifference };
  return { countsBySystem: (await sweep(scenario, options)).countsBySystem, differences };
}

/** Sweeps the same range in `of` shards. */
async function shardsOf(range: SeedRange, of: number): Promise<ReadonlyMap<string, SweepCounts>> {
  const merged = new Map<string, SweepCounts>();
  for (let index = 1; index <= of; index += 1) {
    const { countsBySystem } = await sweepOf(rangeOfShard(range, { index, of }), names);
    for (const [name, counts] of countsBySystem) {
      merged.set(name, mergeCounts(merged.get(name) ?? NO_COUNTS, counts));
    }
  }
  return merged;
}

const RANGE = { from: 64, to: 127 };

/** Returns the breaches and failures of each system. */
function troubleIn(countsBySystem: ReadonlyMap<string, SweepCounts>): unknown {
  return [...countsBySystem].map(([name, counts]) => {
    const broken = [...Object.keys(counts.claims)].sort().map((claim) => {
      return [claim, claimCounts(counts, claim).brokenSeeds];
    });
    return [name, broken, counts.broken, counts.failures];
  });
}

test('a sweep that reuses realms finds the same breaches, in any number of shards', async () => {
  const { countsBySystem: fresh } = await sweepOf(RANGE, []);
  const [first] = fresh.values();
  expect(claimCounts(first ?? NO_COUNTS, 'mutual-exclusion')).toMatchObject({ broken: 0 });
  expect(first?.sections.entered).toBeGreaterThan(50);
  const { countsBySystem, differences } = await sweepOf(RANGE, names);
  expect(differences.map(([name]) => name)).toEqual(names);
  // If any seed differs, all seeds of its system run again.
  expect(countsBySystem).toEqual(fresh);
  expect(troubleIn(await shardsOf(RANGE, 2))).toEqual(troubleIn(fresh));
  expect(troubleIn(await shardsOf(RANGE, RANGE.to - RANGE.from + 1))).toEqual(troubleIn(fresh));
}, 120_000);
