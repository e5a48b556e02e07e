/** Law: the operation names that scenarios and the shrinker use are those of the run. */
import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { TraceEvent } from '../src/core/history/events.ts';
import type { Trace } from '../src/core/history/trace.ts';
import type { Fault } from '../src/core/plan/fault.ts';
import { type SectionPoint, sectionPointsOf } from '../src/core/plan/operation-names.ts';
import {
  CLIENT_DEFAULTS,
  type ClientPlan,
  LIMIT_DEFAULTS,
  NETWORK_DEFAULTS,
  type Plan,
  type Work,
} from '../src/core/plan/plan.ts';
import { readPlan } from '../src/core/plan/plan-text.ts';
import { loadScenario } from '../src/load.ts';
import { run } from '../src/run.ts';
import { expand } from '../src/scenario/expand.ts';
import { prepare, storeKinds } from '../src/systems/store/store-kinds.ts';

/** Each kind of work, as the first and as a later step of a section. */
const WORKS: readonly ((id: number) => Work)[] = [
  (id) => ({ kind: 'write', id, store: 'one', key: 'x', value: 7, awaits: false }),
  (id) => ({ kind: 'read', id, store: 'two', key: 'x' }),
  (id) => ({ kind: 'increment', id, store: 'one', key: 'x' }),
  (id) => ({ kind: 'transfer', id, from: 'one', to: 'two', key: 'x', amount: 1 }),
  (id) => ({ kind: 'compute', id, forUs: 100 }),
  (id) => ({ kind: 'renew', id, ttlUs: 1_000_000 }),
];

/** A section per kind of work, and one with all kinds in sequence. */
function clientOf(name: string, settings: Partial<ClientPlan>): ClientPlan {
  const all = WORKS.map((make, at) => make(at + 1));
  const works = [...WORKS.map((make) => [make(1), make(2)]), all];
  const sections = works.map((work, at) => ({ id: at + 1, thinkUs: 0, lock: name, work }));
  return { ...CLIENT_DEFAULTS, ttlUs: 1_000_000, name, sections, ...settings };
}

function planOf(store: string): Plan {
  return {
    fencepost: 1,
    scenario: '',
    system: { name: 'any', lock: 'lock-service', store, options: {} },
    clients: [
      clientOf('alice', {}),
      clientOf('bob', { checksLease: false }),
      clientOf('carol', { releases: false, attempts: 1_000 }),
    ],
    network: NETWORK_DEFAULTS,
    faults: [],
    chance: null,
    decisions: {},
    order: [],
    limits: { ...LIMIT_DEFAULTS, probe: false, healAtUs: 9_000_000 },
    bounds: {
      latency: { minUs: 0, maxUs: 1_000 },
      think: { minUs: 0, maxUs: 0 },
      durations: {},
      skewUs: null,
      driftPpm: null,
    },
  };
}

function pointsOf({ clients, system }: Plan): readonly SectionPoint[] {
  return clients.flatMap((client) =>
    client.sections.flatMap((section) => sectionPointsOf({ client, section, store: system.store })),
  );
}

/** Returns the operation or mark of an event; later acquire attempts count as the first. */
function passed(event: TraceEvent): readonly SectionPoint[] {
  if (event.kind === 'mark') return [{ verb: 'checked', point: event.point }];
  if (event.kind !== 'invoke' || event.call.verb === 'check') return [];
  const { verb } = event.call;
  // Whether jobs are claimed and tokens are fetched depends on options, unknown to these points.
  if (verb === 'claim' || verb === 'fetch') return [];
  return [{ verb, point: event.operation.replace(/acquire-\d+$/, 'acquire') }];
}

const textOf = ({ verb, point }: SectionPoint): string => `${verb} ${point}`;

beforeAll(() => prepare([...storeKinds.keys()].map((store) => ({ store }))));

/** These refuse a grant's second access, or the second grant, which ends the section. */
const STRICT: ReadonlySet<string> = new Set(['fenced-strict', 'fence-inverted', 'fence-equality']);

describe.each([...storeKinds.keys()].filter((name) => !STRICT.has(name)))('with %s', (store) => {
  const plan = planOf(store);
  const points = pointsOf(plan);

  test('a run without faults passes exactly the listed points', () => {
    const trace = run(plan);
    expect(trace.ending.kind).toBe('complete');
    const found = new Set(trace.events.flatMap(passed).map(textOf));
    expect(points.map(textOf).sort()).toEqual([...found].sort());
  });

  test('a fault before or after any of them fires', () => {
    const faults = points.flatMap(({ point }) =>
      (['before', 'after'] as const).map(
        (kind): Fault => ({
          kind: 'pause',
          process: 'bob',
          forUs: 0,
          clocks: 'run',
          when: { kind, point },
        }),
      ),
    );
    expect(run({ ...plan, faults }).unmatched).toEqual([]);
  });
});

/** Returns operations that are invoked twice in one incarnation of their process. */
function repeatedIn({ events }: Trace): readonly string[] {
  const invoked = new Map<string, Set<string>>();
  return events.flatMap((event) => {
    if (event.kind === 'fault' && event.fault === 'crash') {
      for (const process of event.processes) invoked.delete(process);
    }
    if (event.kind !== 'invoke') return [];
    const names = invoked.get(event.process) ?? new Set();
    invoked.set(event.process, names);
    const isRepeated = names.has(event.operation);
    names.add(event.operation);
    return isRepeated ? [event.operation] : [];
  });
}

describe('an operation is invoked once per incarnation of its process', () => {
  const fixtures = new URL('../fixtures/', import.meta.url);
  const yamlIn = (folder: URL): readonly URL[] =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => new URL(file, folder));

  test('in every kept plan', async () => {
    for (const file of yamlIn(new URL('plans/', fixtures))) {
      const read = readPlan({ file: file.pathname, text: readFileSync(file, 'utf8') });
      if (read.kind === 'problems') return expect.fail(JSON.stringify(read.problems));
      await prepare([read.plan.system]);
      expect(repeatedIn(run(read.plan)), file.pathname).toEqual([]);
    }
  });

  test('in the first seeds of every scenario', async () => {
    for (const file of yamlIn(fixtures)) {
      const read = loadScenario(readFileSync(file, 'utf8'), file.pathname);
      if (read.kind === 'problems') return expect.fail(JSON.stringify(read.problems));
      await prepare(read.scenario.systems);
      for (const { name } of read.scenario.systems) {
        for (const seed of [0, 1, 2]) {
          const repeated = repeatedIn(run(expand(read.scenario, name, seed)));
          expect(repeated, `${file.pathname}, ${name}, seed ${seed}`).toEqual([]);
        }
      }
    }
  });

  test('also by a worker that releases all grants of its attempts', () => {
    const work: readonly Work[] = [{ kind: 'job', id: 1, tick: 1, retries: 0, forUs: 3_000_000 }];
    const clients = ['alice', 'bob'].map(
      (name, at): ClientPlan => ({
        ...CLIENT_DEFAULTS,
        name,
        ttlUs: 4_000_000,
        backoffUs: 1_500_000,
        attempts: 4,
        sections: [{ id: 1, thinkUs: at * 100_000, lock: 'machine', work }],
      }),
    );
    const options = { standby: 'no', onDenied: 'waits' };
    const system = { name: 'any', lock: 'lease-dynamodb-published', store: 'unfenced', options };
    const limits = { ...LIMIT_DEFAULTS, probe: false, healAtUs: 30_000_000, endUs: 60_000_000 };
    const trace = run({ ...planOf('unfenced'), system, clients, limits });
    expect(repeatedIn(trace)).toEqual([]);
    const releases = trace.events.flatMap((event) =>
      event.kind === 'invoke' && event.call.verb === 'release' ? [event.operation] : [],
    );
    expect(releases).toEqual([
      'bob/1/release',
      'bob/1/release-2',
      'alice/1/release',
      'bob/1/release-3',
    ]);
  });
});
