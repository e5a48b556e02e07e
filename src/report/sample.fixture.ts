/** A handwritten finding of a shrunk zombie write, and variations of it. */
import type { TraceEvent } from '../core/history/events.ts';
import type { Trace } from '../core/history/trace.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { Finding } from '../search/campaign/result.ts';
import { acquires, MS, writes } from './sample-events.fixture.ts';

/** Alice tests her lease, is paused beyond its end, and writes after bob. */
export const zombieTrace: Trace = {
  processes: [
    { name: 'alice', role: 'client' },
    { name: 'bob', role: 'client' },
    { name: 'lock', role: 'lock' },
    { name: 'store', role: 'store' },
  ],
  events: [
    ...acquires('alice', 1, 0),
    {
      kind: 'lease-test',
      atUs: 3 * MS,
      process: 'alice',
      lock: 'db',
      ordinal: 1,
      isLive: true,
      believedUntilUs: 10 * MS,
    },
    {
      kind: 'fault',
      atUs: 3 * MS,
      fault: 'pause',
      index: 0,
      processes: ['alice'],
      untilUs: 20 * MS,
      target: '',
      amount: 17 * MS,
    },
    ...acquires('bob', 2, 11),
    ...writes({ client: 'bob', ordinal: 2, atMs: 13, isAccepted: true, highest: 0 }),
    { kind: 'resume', atUs: 20 * MS, index: 0, processes: ['alice'] },
    ...writes({ client: 'alice', ordinal: 1, atMs: 20, isAccepted: true, highest: 0 }),
  ],
  ending: { kind: 'complete' },
  unmatched: [],
};

function writeOf(client: string, trace: Trace): number {
  return trace.events.findIndex((event) => event.kind === 'write' && event.client === client);
}

const zombiePlan: Plan = {
  fencepost: 1,
  scenario: 'zombie-writer',
  system: { name: 'unfenced', lock: 'lock-service', store: 'unfenced', options: {} },
  clients: [],
  network: { link: 'connection', latencyUs: MS },
  faults: [
    {
      kind: 'pause',
      process: 'alice',
      when: { kind: 'before', point: 'alice/1/write' },
      forUs: 17 * MS,
      clocks: 'run',
    },
  ],
  chance: null,
  decisions: {},
  order: [],
  limits: { healAtUs: 60 * MS, probe: false, slackUs: 0, endUs: 90 * MS, maxEvents: 1000 },
  bounds: {
    latency: { minUs: MS, maxUs: MS },
    think: { minUs: 0, maxUs: 20 * MS },
    durations: {},
    skewUs: null,
    driftPpm: null,
  },
};

export const zombieFinding: Finding = {
  type: 'finding',
  version: 1,
  scenario: 'zombie-writer',
  scenarioFile: 'fixtures/zombie-writer.yaml',
  system: 'unfenced',
  claim: 'fence-monotone',
  seed: 17,
  explanation: {
    headline: 'Stale write accepted by `unfenced`',
    given:
      "A be alice's grant 1 of `db` (from 1 ms, ttl 10 ms) and B be bob's grant 2 (from 12 ms)",
    next: 'bob wrote with token 2 at 14 ms',
    however:
      'alice, paused from 3 ms to 20 ms, sent her write with token 1 at 20 ms, ' +
      'and the store accepted it: it never compares tokens',
    cure: 'A store that refuses tokens below the highest it has seen would have refused it',
  },
  verdict: {
    kind: 'invalid',
    claim: 'fence-monotone',
    exercised: 1,
    rule: 'accepted-after-newer',
    evidence: [
      { role: 'newer write', event: writeOf('bob', zombieTrace) },
      { role: 'stale write', event: writeOf('alice', zombieTrace) },
    ],
  },
  verdicts: [
    {
      kind: 'invalid',
      claim: 'fence-monotone',
      exercised: 1,
      rule: 'accepted-after-newer',
      evidence: [{ role: 'stale write', event: writeOf('alice', zombieTrace) }],
    },
    { kind: 'valid', claim: 'mutual-exclusion', exercised: 2 },
    { kind: 'valid', claim: 'tokens-increase', exercised: 1 },
    { kind: 'unknown', claim: 'progress', exercised: 0, reason: 'the plan has no probe' },
  ],
  trace: zombieTrace,
  digest: 'sha256:4f1c09a6b7d2e8f35a90c1d7be24f6830917acd5e2b8f4600d3c7a91e5b86f2d',
  plan: zombiePlan,
  planText: [
    'fencepost: 1',
    'scenario: zombie-writer',
    'faults:',
    '  - pause: alice',
    '    before: alice/1/write',
    '    for: 17ms',
    '',
  ].join('\n'),
  size: { events: 9, originalEvents: 812, faults: 1, originalFaults: 5 },
  boundary: 'breaks with a pause of 10.000 ms, holds with 9.999 ms',
  planFile: 'reports/zombie-writer-unfenced-fence-monotone.yaml',
  keptIn: '',
  pageFile: 'reports/zombie-writer.html',
};

/** Returns the finding with one name replaced everywhere, even within longer texts. */
export function renamed(finding: Finding, from: string, to: string): Finding {
  const replace = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replaceAll(from, to);
    if (Array.isArray(value)) return value.map(replace);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, replace(part)]));
  };
  return JSON.parse(JSON.stringify(replace(finding)));
}

/** Repeats the zombie write `times` times, 30 ms apart. The evidence is in the last round. */
export function manyZombies(times: number): Finding {
  const rounds = Array.from({ length: times }, (_, round) => zombieTrace.events.map(later(round)));
  const shift = (times - 1) * zombieTrace.events.length;
  const { verdict } = zombieFinding;
  const evidence = verdict.evidence.map(({ role, event }) => ({ role, event: event + shift }));
  const trace = { ...zombieTrace, events: rounds.flat() };
  return { ...zombieFinding, trace, verdict: { ...verdict, evidence } };
}

function later(round: number): (event: TraceEvent) => TraceEvent {
  const byUs = round * 30 * MS;
  return (event) => {
    const moved: TraceEvent = { ...event, atUs: event.atUs + byUs };
    const name = (text: string): string => text.replace('/1/', `/${round + 1}/`);
    if (moved.kind === 'send' || moved.kind === 'receive') {
      return { ...moved, message: name(moved.message) };
    }
    if (moved.kind === 'grant') {
      const untilUs = (moved.untilUs ?? 0) + byUs;
      return {
        ...moved,
        untilUs,
        ordinal: moved.ordinal + 2 * round,
        message: name(moved.message),
      };
    }
    if (moved.kind === 'enter') {
      const believedUntilUs = moved.believedUntilUs + byUs;
      return { ...moved, believedUntilUs, ordinal: moved.ordinal + 2 * round };
    }
    if (moved.kind === 'leave') return { ...moved, ordinal: moved.ordinal + 2 * round };
    if (moved.kind === 'fault') return { ...moved, untilUs: (moved.untilUs ?? 0) + byUs };
    if (moved.kind === 'write') return { ...moved, message: name(moved.message) };
    return moved;
  };
}
