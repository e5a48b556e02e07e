import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { elsewhere } from '../../blaming-claim.fixture.ts';
import { builtIn } from '../../catalogue.ts';
import { loadScenario } from '../../load.ts';
import { describeShrunk } from '../../report/describe-finding.ts';
import { expand } from '../../scenario/expand.ts';
import { claimCounts, NO_COUNTS } from '../sweep/counts.ts';
import { sweep } from '../sweep/sweep.ts';
import { campaign } from './campaign.ts';
import { exits } from './exit-codes.ts';
import type { Result, ScenarioResult } from './result.ts';
import type { CampaignEvent, CampaignSetting, Examined, ShrunkFailure } from './setting.ts';
import { QUIET, smallScenario, smallSubject } from './small-scenario.fixture.ts';

/** Describes a failure without writing files. */
const describeHere: CampaignSetting['describe'] = ({ subject, claim, seed, original, result }) => {
  const { scenario, file, catalogue } = subject;
  const shrunk = { scenario: scenario.name, scenarioFile: file, claim, seed, original, result };
  const nowhere = { planFile: '', pageFile: '', keptIn: '', command: '' };
  return describeShrunk({ ...shrunk, catalogue }, nowhere);
};

/** Runs a campaign over the small scenario, and also returns its events. */
async function run(
  change: Partial<CampaignSetting> = {},
  subject = smallSubject(),
): Promise<{ result: Result; scenario: ScenarioResult; events: readonly CampaignEvent[] }> {
  const events: CampaignEvent[] = [];
  const emit = (event: CampaignEvent): void => void events.push(event);
  const setting = { ...QUIET, describe: describeHere, emit, ...change };
  const result = await campaign([subject], setting);
  const [scenario] = result.summary.scenarios;
  if (scenario === undefined) expect.fail('no scenario was concluded');
  return { result, scenario, events };
}

const kindsOf = (events: readonly CampaignEvent[]): readonly string[] => [
  ...new Set(events.map(({ kind }) => kind)),
];

describe('a campaign', () => {
  test('replays, checks, sweeps, shrinks and concludes, in this order', async () => {
    const { events, result } = await run();
    expect(kindsOf(events)).toEqual([
      'scenario',
      'kept plans',
      'repeated',
      'examined',
      'progress',
      'swept',
      'failure shrunk',
      'conclusion',
    ]);
    expect(result.findings.map(({ system, claim }) => [system, claim])).toEqual([
      ['unfenced', 'fence-monotone'],
    ]);
    expect(result.summary.exit).toBe(exits.met);
  });

  test('announces once the first seed that breaks a claim that should hold', async () => {
    const subject = smallSubject();
    const systems = subject.scenario.systems.flatMap((system) =>
      system.name === 'fenced'
        ? []
        : [{ ...system, expect: { holds: ['fence-monotone'], breaks: [], may: [] } }],
    );
    const weak = { ...subject, scenario: { ...subject.scenario, systems } };
    const { events, result } = await run({ chunkSeeds: 1 }, weak);
    const found = events.filter(({ kind }) => kind === 'failure found');
    const { countsBySystem } = await sweep(weak.scenario, { from: 0, to: 9, pool: null });
    const [seed] = claimCounts(
      countsBySystem.get('unfenced') ?? NO_COUNTS,
      'fence-monotone',
    ).brokenSeeds;
    expect(found).toEqual([
      { kind: 'failure found', system: 'unfenced', claim: 'fence-monotone', seed },
    ]);
    expect(result.summary.exit).toBe(exits.broken);
  });

  test.each([
    ['time', { asked: 10, by: 'time' }],
    ['interrupted', { asked: 10, by: 'interrupted' }],
    ['enough', undefined],
  ] as const)(
    'that is stopped by %s is truncated only if seeds are missing',
    async (stop, isShort) => {
      let asked = 0;
      const stopLater = (): typeof stop | null => {
        asked += 1;
        return asked > 6 ? stop : null;
      };
      const { scenario } = await run({ chunkSeeds: 1, stop: stopLater });
      expect(scenario.systems.map(({ seeds }) => seeds)).toEqual([3, 3]);
      expect(scenario.cutShort).toEqual(isShort);
    },
  );

  test('gives the same conclusion for results of another machine as for its own', async () => {
    let examined: Examined | null = null;
    const here = await run({
      emit: (event) => {
        if (event.kind === 'conclusion') examined = event.examined;
      },
    });
    if (examined === null) expect.fail('nothing was examined');
    const given = examined;
    const again = await run({ range: null, examined: async () => given });
    expect(again.result).toEqual(here.result);
    expect(kindsOf(again.events)).toEqual(['scenario', 'failure shrunk', 'conclusion']);
  });

  test('leaves the conclusion of a shard to the merge', async () => {
    const { result, scenario } = await run({ shard: { index: 1, of: 2 } });
    expect(scenario.systems.map(({ seeds, met }) => [seeds, met])).toEqual([
      [5, true],
      [5, true],
    ]);
    expect(result.findings).toEqual([]);
  });

  test('shrinks one failure per cause, including causes found while shrinking', async () => {
    const file = fileURLToPath(new URL('../../../fixtures/redis-release.yaml', import.meta.url));
    const read = loadScenario(readFileSync(file, 'utf8'), file);
    if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
    const expected = { holds: [], breaks: ['owner-only-release'], may: [] };
    const systems = read.scenario.systems.flatMap((system) =>
      system.name === 'delete' ? [{ ...system, expect: expected }] : [],
    );
    const subject = { scenario: { ...read.scenario, systems }, file, catalogue: builtIn };
    const { result } = await run({ range: { from: 0, to: 0 } }, subject);
    const faults = result.findings.map(({ plan }) => plan.faults.map(({ kind }) => kind));
    expect(faults).toEqual([['pause'], ['delay']]);
  });

  test('reports what breaks elsewhere without one fault as a finding of its own', async () => {
    const text = `
name: blamed
systems: { tested: { lock: lock-service, store: fenced, expect: { breaks: [own] } } }
clients: { count: 2, ttl: 10ms, think: 0ms..5ms }
workload: { kind: blind-writes }
faults:
  - pause: { process: lock, at: 1ms, for: 1ms, chance: 1 }
  - pause: { process: store, at: 1ms, for: 1ms, chance: 1 }
`;
    const read = loadScenario(text, 'blamed.yaml', elsewhere);
    if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
    const subject = { scenario: read.scenario, file: 'blamed.yaml', catalogue: elsewhere };
    const { result } = await run({ range: { from: 0, to: 0 } }, subject);
    const processes = result.findings.map(({ plan }) =>
      plan.faults.map((fault) => ('process' in fault ? fault.process : '')),
    );
    expect(processes).toEqual([['lock', 'store'], ['store']]);
  });

  test('reports a breach that does not occur again on its seed', async () => {
    const range = { from: 0, to: 99 };
    const { countsBySystem } = await sweep(smallScenario(), { ...range, pool: null });
    const ofSystem = countsBySystem.get('unfenced') ?? NO_COUNTS;
    const broken = claimCounts(ofSystem, 'fence-monotone');
    const holds = [...Array(100).keys()].filter((seed) => !broken.brokenSeeds.includes(seed));
    const conclude = (brokenSeeds: readonly number[]): ReturnType<typeof run> => {
      const claims = {
        ...ofSystem.claims,
        'fence-monotone': { ...broken, causes: [], brokenSeeds },
      };
      const examined: Examined = {
        countsBySystem: new Map([...countsBySystem, ['unfenced', { ...ofSystem, claims }]]),
        range,
        cutShort: null,
        isPart: false,
        milliseconds: 0,
        keptPlans: [],
        repeated: 0,
        difference: null,
        plans: null,
      };
      return run({ examined: async () => examined });
    };
    const real = await conclude(broken.brokenSeeds);
    expect(real.result.summary.exit).not.toBe(exits.nondeterministic);
    const feigned = await conclude(holds.slice(0, 2));
    expect(feigned.result.summary.exit).toBe(exits.nondeterministic);
    expect(feigned.events).toContainEqual(
      expect.objectContaining({ kind: 'vanished', system: 'unfenced', seed: holds[0] }),
    );
  });

  test('reports the simplest result of shrinking the first three seeds', async () => {
    const range = { from: 0, to: 99 };
    const described: ShrunkFailure[] = [];
    const { events } = await run({
      range,
      describe: (failure) => {
        described.push(failure);
        return describeHere(failure);
      },
    });
    const [failure] = described;
    if (failure === undefined) expect.fail('nothing was shrunk');
    const shrunk = events.find((event) => event.kind === 'failure shrunk');
    expect(shrunk?.findings[0].plan.faults).toHaveLength(1);
    expect(failure.original).toEqual(expand(smallScenario(), 'unfenced', failure.seed));
  });

  test('replays kept plans first, and an unexpected outcome decides the exit code', async () => {
    const kept = expand(smallScenario(), 'fenced', 0);
    const { scenario, result, events } = await run({
      keptPlans: () => [
        { kind: 'damaged', file: 'a.yaml', lines: ['a.yaml:1:1: this is no plan'] },
        {
          kind: 'plan',
          file: 'b.yaml',
          plan: {
            ...kept,
            expect: { claim: 'fence-monotone', outcome: 'reproduced', digest: null },
          },
          catalogue: builtIn,
          hasChanged: false,
          moduleChanges: [],
        },
      ],
    });
    expect(scenario.keptPlans.map(({ file, outcome }) => [file, outcome])).toEqual([
      ['a.yaml', 'damaged'],
      ['b.yaml', expect.stringMatching(/^(?:fixed|inert)$/)],
    ]);
    expect(kindsOf(events).slice(0, 3)).toEqual(['scenario', 'kept plan', 'kept plans']);
    expect(result.summary.exit).toBe(exits.usage);
  });
});
