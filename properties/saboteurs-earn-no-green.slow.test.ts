/**
 * Law: a system that lets nothing happen passes nothing. A lock that no client gets, or only one,
 * and a store that drops every write, break few claims and meet the hazards of many; none of their
 * `holds` claims passes next to a twin that breaks them, with or without faults. (`progress` is
 * different: the first two break it.)
 */
import { beforeAll, expect, test } from 'vitest';
import type { Catalogue } from '../src/catalogue.ts';
import { builtInClaims } from '../src/check/claims.ts';
import { loadScenario } from '../src/load.ts';
import type { Scenario } from '../src/scenario/scenario.ts';
import { countAvoided } from '../src/search/sweep/counterfactual.ts';
import { NO_COUNTS } from '../src/search/sweep/counts.ts';
import { judgeSystem } from '../src/search/sweep/expectation.ts';
import { sweep } from '../src/search/sweep/sweep.ts';
import { prepare } from '../src/systems/store/store-kinds.ts';
import { some } from './runs.ts';
import { userLocks } from './user-locks.ts';

const SEEDS = { from: 0, to: 39 };
const claims = [...builtInClaims.keys()].filter((name) => name !== 'progress');

const saboteurs = [
  'lock: lock-service, store: fenced, options: { serves: nobody }',
  'lock: lock-service, store: fenced-reads, options: { serves: one }',
  'lock: lock-service, store: drops-writes',
  'lock: own-saboteur, store: fenced, options: { mistake: serves-nobody }',
  'lock: own-saboteur, store: fenced, options: { mistake: serves-alice }',
  'lock: own-saboteur, store: unfenced, options: { mistake: writes-nothing }',
  'lock: own-end, store: drops-writes',
];

const PAUSES = '[{ pause: { process: clients, for: 1ms..60ms, chance: 1/2 } }]';

/**
 * The saboteur claims to hold what its twin claims to break, except claims that a scenario with
 * pauses must not contain.
 */
function scenarioOf(saboteur: string, work: string, faults: string): Scenario {
  const listed = `[${claims.filter((claim) => claim !== 'holder-overlap').join(', ')}]`;
  const text = `
name: sabotage
systems:
  broken: { lock: lock-service, store: unfenced, expect: { breaks: ${listed} } }
  saboteur: { ${saboteur}, expect: { holds: ${listed} } }
clients: { count: 3, ttl: 20ms, sections: 3, think: 0ms..10ms }
workload: { kind: ${work} }
network: { latency: 1ms..2ms }
faults: ${faults}
`;
  const read = loadScenario(text, 'sabotage.yaml', userLocks);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  return read.scenario;
}

/** Returns the claims that pass. */
async function metIn(scenario: Scenario, catalogue: Catalogue): Promise<readonly string[]> {
  const { countsBySystem } = await sweep(scenario, { ...SEEDS, pool: null, catalogue });
  const avoided = await countAvoided(scenario, countsBySystem, { catalogue });
  const counts = countsBySystem.get('saboteur') ?? NO_COUNTS;
  const [, saboteur] = scenario.systems;
  if (saboteur === undefined) throw new Error('there are two systems');
  return claims.filter((claim) => {
    const system = { ...saboteur, expect: { holds: [claim], breaks: [] } };
    const coverage = { isComplete: true, isSingle: false, avoided, countsBySystem, catalogue };
    return judgeSystem(scenario, system, counts, coverage).met === true;
  });
}

beforeAll(() => prepare([{ store: 'fenced' }, { store: 'drops-writes' }]));

const works = [
  ['blind writes', 'blind-writes', '[]'],
  ['blind writes and pauses', 'blind-writes', PAUSES],
  ['increments', 'read-modify-write', '[]'],
  ['increments and pauses', 'read-modify-write', PAUSES],
] as const;

/** All pairs in one list, so that each part of it has every saboteur. */
const pairs = saboteurs.flatMap((saboteur) => works.map((work) => [saboteur, ...work] as const));

test.each(some(pairs))('%s passes nothing with %s', async (saboteur, _, work, faults) => {
  expect(await metIn(scenarioOf(saboteur, work, faults), userLocks)).toEqual([]);
});
