/** `linearizable` sees what optimistic locking is there to prevent. */
import { expect, test } from 'vitest';
import { builtIn, extend } from '../../catalogue.ts';
import { defineSystem } from '../../define-system.ts';
import { examineSeed } from '../../harness.ts';
import { loadScenario } from '../../load.ts';
import { VersionServer } from './store-server.ts';
import { type Commit, MemoryTable, type VersionOutcome } from './version-table.ts';

/** Takes every write, whatever version it expects. */
class CarelessTable extends MemoryTable {
  override commit(commit: Commit): VersionOutcome {
    return super.commit({ ...commit, expected: undefined });
  }
}

/** Refuses every second write to a row, though the version is right. */
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
          manners: { hasVersions: true },
          build: (name: string) => new VersionServer(name, 'count', new Table()),
        },
      ]),
    ),
  }),
);

/** Of 20 seeds, how many break each claim before a store. */
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

test('a store that compares versions fits', () => {
  expect(broken('memorytable')).toEqual({ linearizable: 0, 'no-lost-update': 0 });
});

test('one that does not compare them loses updates, and fits no order of its calls', () => {
  const counts = broken('carelesstable');
  expect(counts['no-lost-update']).toBe(20);
  expect(counts['linearizable']).toBe(20);
});

test('one that refuses the right version loses nothing, and fits no order of its calls', () => {
  expect(broken('reluctanttable')).toEqual({ linearizable: 20, 'no-lost-update': 0 });
});
