/** Tests stores that ask the lock service, and `linearizable` on stores with wrong versions. */
import { describe, expect, test } from 'vitest';
import { builtIn, extend } from '../../catalogue.ts';
import type { Fault } from '../../core/plan/fault.ts';
import { defineSystem } from '../../define-system.ts';
import { examineSeed } from '../../harness.ts';
import { loadScenario } from '../../load.ts';
import { run, whyRefused } from '../../run.ts';
import { clientOf, eventsOf, MS, planOf, writeOf } from '../plan.fixture.ts';
import { VersionServer } from './store-server.ts';
import { type Commit, MemoryTable, type VersionOutcome } from './version-table.ts';

/** Accepts every write, whatever version it expects. */
class CarelessTable extends MemoryTable {
  override commit(commit: Commit): VersionOutcome {
    return super.commit({ ...commit, expected: undefined });
  }
}

/** Refuses every write to a row at version 1, even if it expects that version. */
class ReluctantTable extends MemoryTable {
  override commit(commit: Commit): VersionOutcome {
    const { version } = this.find(commit.cell);
    return version === 1 ? 'refused' : super.commit(commit);
  }
}

const catalogue = extend(
  builtIn,
  defineSystem({
    stores: Object.fromEntries(
      [MemoryTable, CarelessTable, ReluctantTable].map((Table) => [
        Table.name.toLowerCase(),
        {
          about: 'a store with versions',
          model: 'versioned-register',
          requirements: { hasVersions: true },
          build: (name: string) => new VersionServer(name, 'count', new Table()),
        },
      ]),
    ),
  }),
);

/** Returns, per claim, how many of 20 seeds break it on a store. */
function broken(store: string): Readonly<Record<string, number>> {
  const text = `
name: own
systems:
  own: { lock: optimistic, store: ${store}, expect: { holds: [no-lost-update] } }
clients: { count: 3, ttl: 50ms, sections: 3 }
workload: { kind: read-modify-write }
network: { latency: 1ms..2ms }
faults: [{ pause: { process: clients, before: write, for: 20ms, chance: 1/2 } }]
`;
  const read = loadScenario(text, 'own.yaml', catalogue);
  if (read.kind === 'problems') throw new Error(JSON.stringify(read.problems));
  const counts = { linearizable: 0, 'no-lost-update': 0 };
  for (let seed = 0; seed < 20; seed += 1) {
    const claims = Object.keys(counts);
    for (const verdict of examineSeed(read.scenario, 'own', seed, claims, catalogue).verdicts) {
      if (verdict.kind !== 'invalid') continue;
      if (verdict.claim === 'linearizable') counts.linearizable += 1;
      else counts['no-lost-update'] += 1;
    }
  }
  return counts;
}

test('a store that compares versions is linearizable', () => {
  expect(broken('memorytable')).toEqual({ linearizable: 0, 'no-lost-update': 0 });
});

test('a store that does not compare versions loses updates and is not linearizable', () => {
  const counts = broken('carelesstable');
  expect(counts['no-lost-update']).toBe(20);
  expect(counts['linearizable']).toBe(20);
});

test('a store that refuses the right version loses nothing but is not linearizable', () => {
  expect(broken('reluctanttable')).toEqual({ linearizable: 20, 'no-lost-update': 0 });
});

const alice = clientOf('alice', [writeOf(1)]);

function planWith(faults: readonly Fault[] = [], store = 'check-sequencer') {
  return planOf({ clients: [alice], store, faults });
}

describe('a store that asks the lock service', () => {
  test('exchanges two more messages per write, and applies it after the answer', () => {
    const trace = run(planWith());
    const [write] = eventsOf(trace, 'write');
    expect(write).toMatchObject({ isAccepted: true, value: 1, atUs: 5 * MS });
    const asked = eventsOf(trace, 'invoke').filter(({ process }) => process === 'store');
    expect(asked).toMatchObject([
      { operation: 'alice/1/write/1/check', call: { verb: 'check', lock: 'db', token: 1 } },
    ]);
  });

  test('refuses a write whose lease is over, even if no other client holds the lock', () => {
    const when = { kind: 'before', point: 'alice/1/write' } as const;
    const pause: Fault = { kind: 'pause', process: 'alice', when, forUs: 60 * MS, clocks: 'run' };
    expect(eventsOf(run(planWith([pause])), 'write')).toMatchObject([{ isAccepted: false }]);
    const fenced = run(planWith([pause], 'fenced'));
    expect(eventsOf(fenced, 'write')).toMatchObject([{ isAccepted: true }]);
  });

  test('refuses a write that it cannot verify while the lock service is down', () => {
    const when = { kind: 'before', point: 'alice/1/write' } as const;
    const crash: Fault = { kind: 'crash', process: 'lock', when, restartAfterUs: 90 * MS };
    expect(eventsOf(run(planWith([crash])), 'write')).toMatchObject([{ isAccepted: false }]);
  });

  test('forgets its open questions in a crash', () => {
    const when = { kind: 'at', atUs: 4 * MS } as const;
    const crash: Fault = { kind: 'crash', process: 'store', when, restartAfterUs: MS };
    const trace = run(planWith([crash]));
    expect(eventsOf(trace, 'write')).toEqual([]);
    expect(trace.ending.kind).toBe('complete');
  });

  test('cannot be used with a lock that it cannot ask', () => {
    const plan = planOf({ clients: [alice], lock: 'none', store: 'check-sequencer' });
    expect(whyRefused(plan)).toBe('none cannot check tokens for the store check-sequencer');
  });
});
