/** A campaign on code that connects to a server of a protocol that is not simulated. */
import { once } from 'node:events';
import net from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runTest } from '../../adapters/scenario-check/check-scenario.ts';
import { checkOptions } from '../../adapters/scenario-check/options.ts';
import { lockOfBody } from '../../adapters/scenario-check/subject.ts';
import { readRequests } from '../../adapters/scenario-check/test-place.ts';
import { builtIn, extend } from '../../catalogue.ts';
import { defineSystem } from '../../define-system.ts';
import { loadScenario } from '../../load.ts';
import type { AsyncSection } from '../../systems/protocol.ts';
import { campaign } from './campaign.ts';
import { exits } from './exit-codes.ts';
import { QUIET } from './small-scenario.fixture.ts';

const STARTUP = Buffer.from('0000000804d2162f', 'hex');

/** Works without a lock; `asksDatabase` then connects to PostgreSQL. */
function work(asksDatabase: boolean): (section: AsyncSection) => Promise<void> {
  return async (section) => {
    const guard = section.guard();
    await guard.work();
    guard.leave();
    if (!asksDatabase || section.id === 1) return;
    for (let at = 0; at < 500; at += 1) console.error('asks the database, try', at);
    const socket = net.connect(5432, 'db-1');
    socket.write(STARTUP);
    await once(socket, 'data');
  };
}

const catalogue = extend(
  builtIn,
  defineSystem({
    locks: {
      careless: { about: 'no lock', buildAsync: () => () => work(false) },
      'careless-pg': { about: 'no lock, and PostgreSQL', buildAsync: () => () => work(true) },
    },
  }),
);

async function run(lock: string): ReturnType<typeof campaign> {
  const text = `
name: unserved
hosts: { db-1:5432: lock }
systems: { own: { lock: ${lock}, store: unfenced, expect: { holds: [grant-order] } } }
clients: { count: 3, ttl: 20ms, sections: 2, think: 0ms..10ms }
workload: { kind: read-modify-write }
`;
  const read = loadScenario(text, 'unserved.yaml', catalogue);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const subject = { scenario: read.scenario, file: 'unserved.yaml', catalogue };
  return await campaign([subject], QUIET);
}

test('its seeds are one failure with a seed and a place, and are never shrunk', async () => {
  const { summary, findings } = await run('careless-pg');
  expect(summary.exit).toBe(exits.failed);
  expect(findings).toEqual([]);
  expect(summary.scenarios[0]?.systems[0]).toMatchObject({
    failed: 8,
    leftOut: 2,
    claims: { 'grant-order': { broken: 0, due: 8, judged: 0 } },
    output: { seed: 0, lines: [expect.stringContaining('asks the database'), '… 1,499 more'] },
    failures: [
      {
        seed: 0,
        error: expect.stringMatching(
          /^\w+ speaks PostgreSQL to db-1:5432, where a simulated Redis listens, at src\/search\/campaign\/unserved\.test\.ts:\d+:\d+; only Redis is simulated/,
        ),
      },
    ],
  });
  // The same code without the database breaks the claim.
  const [careless] = (await run('careless')).summary.scenarios;
  expect(careless?.systems[0]?.claims['grant-order']?.broken).toBeGreaterThan(0);
});

test('a vitest test fails with that error on its first seed', async () => {
  const options = {
    hosts: { 'db-1:5432': 'lock' },
    clients: { count: 2, ttl: '20ms', sections: 2 },
    workload: { kind: 'read-modify-write' },
    faults: [],
    seeds: 50,
  } as const;
  const lock = lockOfBody({}, work(true), []);
  const file = join(import.meta.dirname, 'exit-codes.ts');
  const place = { file, fullName: 'own', command: [], alone: [] };
  const { signal } = new AbortController();
  const requests = readRequests({});
  const end = runTest(checkOptions(options, lock), { place, requests, signal, print: () => {} });
  const text = await end.then(String, ({ message }: Error) => message);
  expect(text).toMatch(/^✗ \S+ failed on seed 0: \w+ speaks PostgreSQL to db-1:5432/);
  expect(text).toMatch(/\nprinted:\n {2}\w+ \| asks the database, try 0\n {2}… 999 more\n/);
  expect(text.split('\n').length).toBeLessThan(10);
});
