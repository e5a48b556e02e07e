/** A lock that is waited for in line, in runs where the holder's own requests come again. */
import { describe, expect, test } from 'vitest';
import type { Fault } from '../../core/plan/fault.ts';
import type { ClientPlan, Work } from '../../core/plan/plan.ts';
import { examine, examineSeed } from '../../harness.ts';
import { loadScenario } from '../../load.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from '../plan.fixture.ts';

const CLAIMS = [
  ...['mutual-exclusion', 'tokens-unique', 'tokens-increase', 'token-stable', 'token-bound'],
  ...['owner-only-release', 'lease-conservative', 'renew-live', 'grant-order'],
];

const WORLD = {
  clients: { count: 3, ttl: '30ms', sections: 3, think: '0ms..5ms', lockTimeout: '6ms', tries: 3 },
  workload: { steps: [{ compute: '8ms' }, { write: {} }] },
};

/** The claims that `seeds` seeds of a scenario with these settings break. */
function broken(world: object, seeds: number): readonly string[] {
  const systems = {
    line: { lock: 'lock-service', store: 'fenced', options: { waits: 'in-line' } },
  };
  const read = loadScenario(JSON.stringify({ name: 'line', systems, ...WORLD, ...world }), 'line');
  if (read.kind !== 'scenario') throw new Error(JSON.stringify(read.problems));
  const found = new Set<string>();
  for (let seed = 1; seed <= seeds; seed += 1) {
    for (const { kind, claim } of examineSeed(read.scenario, 'line', seed, CLAIMS).verdicts) {
      if (kind === 'invalid') found.add(claim);
    }
  }
  return [...found];
}

const slow: Work = { kind: 'compute', id: 1, forUs: 20 * MS };

describe('a lock that is waited for in line', () => {
  test('stays with its holder when the acquire that brought it comes twice', () => {
    const alice = clientOf('alice', [slow], { ttlUs: 60 * MS });
    const bob = clientOf('bob', [slow], { ttlUs: 60 * MS, section: { thinkUs: 2 * MS } });
    const duplicate: Fault = {
      ...{ kind: 'duplicate', byUs: 6 * MS },
      which: { kind: 'message', message: 'alice/1/acquire/1/request' },
    };
    const clients: readonly ClientPlan[] = [alice, bob];
    const plan = { ...planOf({ clients, options: { waits: 'in-line' }, faults: [duplicate] }) };
    const { trace, verdicts } = examine(
      { ...plan, network: { ...plan.network, link: 'datagram' } },
      CLAIMS,
    );
    expect(eventsOf(trace, 'grant').map(({ client, token }) => [client, token])).toEqual([
      ['alice', 1],
      ['bob', 2],
    ]);
    // What the observer is told of the second: the same grant, which ends later.
    expect(eventsOf(trace, 'renew')).toMatchObject([
      { client: 'alice', under: 1, extended: 1, token: 1, untilUs: 67 * MS },
    ]);
    expect(verdicts.filter(({ kind }) => kind === 'invalid')).toEqual([]);
  });

  test('stays with its holder when the reply is late and the acquire is sent again', () => {
    const delay = { message: 'acquire', leg: 'reply', by: '5ms..15ms', chance: '1/4' };
    expect(broken({ network: { latency: '1ms..2ms' }, faults: [{ delay }] }, 60)).toEqual([]);
  });

  test('stays with its holder when datagrams are copied and lost', () => {
    const faults = [
      { duplicate: { by: '1ms..10ms', chance: '1/10' } },
      { drop: { chance: '1/20' } },
    ];
    const network = { link: 'datagram', latency: '1ms..2ms' };
    expect(broken({ network, faults }, 100)).toEqual([]);
  });

  test('stays with a holder that takes it again without having released it', () => {
    const clients = { ...WORLD.clients, releases: false };
    expect(broken({ network: { latency: '1ms..2ms' }, clients }, 60)).toEqual([]);
  });

  test('numbers the accesses under a grant on, when its holder takes it again', () => {
    const section = { id: 1, thinkUs: 0, lock: 'db', work: [writeOf(1)] };
    const again = { ...section, id: 2, work: [writeOf(2)] };
    const alice = { ...clientOf('alice', [], { releases: false }), sections: [section, again] };
    const options = { waits: 'in-line' };
    const { trace, verdicts } = examine(
      planOf({ clients: [alice], store: 'fenced-sequenced', options }),
      [...CLAIMS, 'holder-order'],
    );
    const writes = eventsOf(trace, 'write');
    expect(writes.map(({ under, isAccepted }) => [under, isAccepted])).toEqual([
      [1, true],
      [1, true],
    ]);
    expect(writes[1]?.issue).toBeGreaterThan(writes[0]?.issue ?? 0);
    expect(verdicts.filter(({ kind }) => kind === 'invalid')).toEqual([]);
  });
});
