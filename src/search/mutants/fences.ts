/** Mutants of the store that compares tokens. */
import { type Mutant, row } from './mutant.ts';
import { CROWD, lateMessage, pauseBefore } from './worlds.ts';

const lateWrite = lateMessage('write', 'request', '1ms..60ms', '1/2');

export const fenceMutants: readonly Mutant[] = [
  row('unfenced', {
    change: 'no comparison at all',
    caughtBy: 'fence-monotone',
    needs: 'a pause',
    mutant: { store: 'unfenced' },
    world: { ...CROWD, faults: [pauseBefore('write', '1/2')] },
  }),
  row('read-not-registered', {
    change: 'a read ignores its token',
    caughtBy: 'no-lost-update',
    needs: 'a late store message',
    base: { store: 'fenced-reads' },
    mutant: { store: 'fenced' },
    world: { ...CROWD, workload: { kind: 'read-modify-write' }, faults: [lateWrite] },
  }),
  row('fence-inverted', {
    change: 'refuses the higher token',
    caughtBy: 'progress',
    needs: '',
    mutant: { store: 'fence-inverted' },
    world: CROWD,
  }),
  row('fence-equality', {
    change: 'refuses any token but the first, as etcd’s own demo of fencing does',
    caughtBy: 'progress',
    needs: '',
    mutant: { store: 'fence-equality' },
    world: CROWD,
  }),
  row('fence-strict', {
    change: '`<` became `<=`: refuses the second write of a grant',
    caughtBy: 'progress',
    needs: '',
    mutant: { store: 'fenced-strict' },
    world: { ...CROWD, workload: { kind: 'blind-writes', writesPerGrant: 2 } },
  }),
  row('same-token-reorder', {
    change: 'no sequence within a token',
    caughtBy: 'holder-order',
    needs: 'a duplicate, or writes that overtake one another',
    base: { store: 'fenced-sequenced' },
    mutant: { store: 'fenced' },
    world: {
      ...CROWD,
      workload: { kind: 'blind-writes', writesPerGrant: 2, awaits: false },
      network: { link: 'datagram', latency: '1ms..3ms' },
      faults: [{ delay: { by: '1ms..20ms', chance: '1/10' } }, duplicates()],
    },
  }),
  row('highest-not-updated', {
    change: 'the highest token is compared with, but never assigned',
    caughtBy: 'fence-monotone',
    needs: 'a pause',
    mutant: { store: 'highest-not-updated' },
    world: { ...CROWD, faults: [pauseBefore('write', '1/2')] },
  }),
  row('highest-per-key', {
    change: 'the highest token is kept by resource and key',
    caughtBy: 'fence-monotone',
    needs: 'a late store message',
    mutant: { store: 'fenced-per-key' },
    world: {
      ...CROWD,
      workload: { kind: 'blind-writes', keys: ['x', 'y'] },
      faults: [lateWrite],
    },
  }),
  row('highest-volatile', {
    change: 'the highest token is lost in a restart',
    caughtBy: 'fence-durable',
    needs: 'a crash of the store',
    mutant: { store: 'fenced-volatile' },
    world: {
      ...CROWD,
      faults: [
        { crash: { process: 'stores', after: 'write', restart: '1ms..5ms', chance: '1/2' } },
      ],
    },
  }),
  row('highest-on-one-replica', {
    change: 'only the first of two replicas compares',
    caughtBy: 'fence-monotone',
    needs: 'a failover, and a pause',
    mutant: { store: 'highest-on-one-replica' },
    world: {
      ...CROWD,
      faults: [
        { failover: { process: 'stores', at: '0ms..60ms', lag: '0ms', chance: '1/2' } },
        pauseBefore('write', '1/2'),
      ],
    },
  }),
];

function duplicates(): { readonly duplicate: { readonly by: string; readonly chance: string } } {
  return { duplicate: { by: '1ms..20ms', chance: '1/10' } };
}
