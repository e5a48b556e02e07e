import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../properties/runs.ts';
import { renderProblem } from '../../text/problem.ts';
import { FAULT_KINDS } from './fault.ts';
import type { Plan } from './plan.ts';
import { faultArbitrary, planArbitrary } from './plan-arbitrary.fixture.ts';
import { readPlan, renderPlan } from './plan-text.ts';

describe('a plan as text', () => {
  test('reads back as exactly the same plan', () => {
    fc.assert(
      fc.property(planArbitrary, (written) => {
        const text = renderPlan(written, 'Stale write accepted.\nreplay: fencepost replay x.yaml');
        const read = readPlan({ text, file: 'x.yaml' });
        expect(read).toStrictEqual({ kind: 'plan', plan: structuredClone(written) });
      }),
      { numRuns: runs(300) },
    );
  });

  test.each(FAULT_KINDS)('writes every form of a %s fault so that it reads back', (kind) => {
    fc.assert(
      fc.property(faultArbitrary(kind), (fault) => {
        const written = { ...zombie, faults: [fault] };
        const read = readPlan({ text: renderPlan(written), file: 'x.yaml' });
        expect(read).toStrictEqual({ kind: 'plan', plan: structuredClone(written) });
      }),
      { numRuns: runs(50) },
    );
  });

  test('is written without aliases if two of its parts are one object', () => {
    const hosts = ['one', 'two'];
    const system = { ...zombie.system, options: { reads: hosts, writes: hosts } };
    const text = renderPlan({ ...zombie, system });
    expect(text).toContain('reads: [ one, two ], writes: [ one, two ]');
  });

  test('omits defaults, so that a shrunk plan is short', () => {
    expect(renderPlan(zombie, 'Stale write accepted by unfenced.')).toMatchInlineSnapshot(`
      "# Stale write accepted by unfenced.

      fencepost: 1
      scenario: zombie-writer
      system: { name: unfenced, lock: lock-service, store: unfenced }
      clients:
        - name: alice
          sections:
            - id: 1
              work:
                - write: { key: x, value: 11 }
        - name: bob
          sections:
            - id: 2
              think: 11ms
              work:
                - write: { key: x, value: 22 }
      faults:
        - pause: { process: alice, before: alice/1/write, for: 20ms }
        - delay: { message: bob/2/write/1/request, by: 9.999ms }
      decisions:
        alice/1/write/1/request: 1ms
        bob/2/acquire/1/reply: 250us
      order: [ bob/2/acquire, lock/expire ]
      limits: { healAt: 100ms }
      bounds: { latency: 1ms..3ms, think: 0ms..12ms, durations: { pause: 1ms..30ms } }
      expect: { claim: grant-order, outcome: reproduced }
      "
    `);
  });
});

const careful = {
  ttlUs: 10_000,
  lockTimeoutUs: 30_000,
  storeTimeoutUs: null,
  pool: 1,
  checksLease: true,
  countsLeaseFrom: 'sent',
  leaseEnds: 'at',
  tries: 1,
  backoffUs: 2_000,
  attempts: 100,
  releases: true,
} as const;

const write = { kind: 'write', id: 1, store: 'store', key: 'x', awaits: true } as const;

const zombie: Plan = {
  fencepost: 1,
  scenario: 'zombie-writer',
  system: { name: 'unfenced', lock: 'lock-service', store: 'unfenced', options: {} },
  clients: [
    {
      name: 'alice',
      ...careful,
      sections: [{ id: 1, thinkUs: 0, lock: 'db', work: [{ ...write, value: 11 }] }],
    },
    {
      name: 'bob',
      ...careful,
      sections: [{ id: 2, thinkUs: 11_000, lock: 'db', work: [{ ...write, value: 22 }] }],
    },
  ],
  network: { link: 'connection', latencyUs: 1_000 },
  faults: [
    {
      kind: 'pause',
      process: 'alice',
      when: { kind: 'before', point: 'alice/1/write' },
      forUs: 20_000,
      clocks: 'run',
    },
    { kind: 'delay', which: { kind: 'message', message: 'bob/2/write/1/request' }, byUs: 9_999 },
  ],
  chance: null,
  decisions: { 'alice/1/write/1/request': 1_000, 'bob/2/acquire/1/reply': 250 },
  order: ['bob/2/acquire', 'lock/expire'],
  limits: {
    healAtUs: 100_000,
    probe: true,
    slackUs: 10_000,
    endUs: 10_000_000,
    maxEvents: 100_000,
  },
  bounds: {
    latency: { minUs: 1_000, maxUs: 3_000 },
    think: { minUs: 0, maxUs: 12_000 },
    durations: { pause: { minUs: 1_000, maxUs: 30_000 } },
    skewUs: null,
    driftPpm: null,
  },
  expect: { claim: 'grant-order', outcome: 'reproduced' },
};

describe('the declared bounds of clocks', () => {
  const beyond: Plan = {
    ...zombie,
    bounds: { ...zombie.bounds, driftPpm: 50_000, declared: { skewUs: null, driftPpm: 200 } },
  };

  test('are written if faults exceed them, and read back', () => {
    const text = renderPlan(beyond);
    expect(text).toContain('drift: 50000ppm');
    expect(text).toContain('declared: { drift: 200ppm }');
    expect(readPlan({ text, file: 'plan.yaml' })).toEqual({ kind: 'plan', plan: beyond });
  });
});

describe('a plan with mistakes', () => {
  const problemsOf = (change: (text: string) => string): readonly string[] => {
    const read = readPlan({ text: change(renderPlan(zombie)), file: 'plan.yaml' });
    return read.kind === 'plan' ? [] : read.problems.map(renderProblem);
  };

  test.each([
    ['an unknown fault', 'pause:', 'pausee:', 'unknown fault "pausee"; did you mean "pause"?'],
    ['two times at once', 'before: alice/1/write', 'before: a, at: 1ms', 'needs exactly one of at'],
    ['a duration without a unit', 'for: 20ms', 'for: 20', 'expected a duration such as 10ms'],
    ['a part of a microsecond', 'for: 20ms', 'for: 0.5us', 'expected a duration such as 10ms'],
    ['a range out of order', '1ms..30ms', '30ms..1ms', 'a range in order'],
    ['two clients of one name', 'name: bob', 'name: alice', 'there is another client "alice"'],
    ['a name with a slash', 'name: bob', 'name: b/b', 'none of them "/"'],
    ['a client named lock', 'name: bob', 'name: lock', 'the name "lock" is the name of a process'],
    [
      'a client named as a store',
      'name: bob',
      'name: store',
      'the name "store" is the name of a process',
    ],
    ['a write without a value', 'key: x, value: 11', 'key: x', 'a write needs a value'],
    ['another version', 'fencepost: 1', 'fencepost: 2', 'expected 1, the version of the format'],
    ['a fault without its process', 'process: alice, ', '', 'is missing; expected text'],
    ['two faults in one entry', '- pause:', '- drop: {message: m}\n    pause:', 'a map of one key'],
    [
      'a memoize with other steps',
      '- write:',
      '- memoize: { id: 9, for: 1ms }\n          - write:',
      'clients[0].sections[0].work[0]: a memoize must be the only step of its section',
    ],
    [
      'a transfer from a store to itself',
      '- write:',
      '- transfer: { id: 9, from: s, to: s, key: x, amount: 1 }\n          - write:',
      'clients[0].sections[0].work[0].transfer.to: a transfer needs two stores',
    ],
    ['no pieces', '- write:', '- memoize: {for: 1ms, pieces: 0}\n            write:', 'at least 1'],
    ['tick 0', '- write:', '- job: {tick: 0, for: 1ms}\n            write:', 'must be at least 1'],
    ['no tick', '- write:', '- job: {id: 9, for: 1ms}\n          - write:', 'a job needs a tick'],
    ['an unknown step', '- write:', '- wriet:', 'unknown step "wriet"; did you mean "write"?'],
  ])('is refused for %s', (_, from, to, what) => {
    expect(problemsOf((text) => text.replace(from, to)).join('\n')).toContain(what);
  });

  test('is reported once for a number that is too large', () => {
    const job = '- job: { tick: 9007199254740993, for: 1ms }\n            write:';
    const found = problemsOf((text) => text.replace('- write:', job));
    expect(found.filter((line) => line.includes('.tick: must be at most'))).toHaveLength(1);
  });

  test('is reported with all mistakes at once, each with its line and column', () => {
    const found = problemsOf((text) =>
      text.replace('pause:', 'pausee:').replace('by: 9', 'by: x9'),
    );
    expect(found).toMatchInlineSnapshot(`
      [
        "plan.yaml:17:5 faults[0].pausee: unknown fault "pausee"; did you mean "pause"?",
        "plan.yaml:18:50 faults[1].delay.by: expected a duration such as 10ms, 250us or 1.5s, not "x9.999ms"",
      ]
    `);
  });
});
