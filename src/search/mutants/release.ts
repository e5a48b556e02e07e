/** Mutants of giving back and prolonging: what touches a grant that it does not mean. */
import { type Mutant, row } from './mutant.ts';
import { CROWD, lateMessage, pauseBefore } from './worlds.ts';

const REDIS = { lock: 'redis', store: 'unfenced' };

export const releaseMutants: readonly Mutant[] = [
  row('release-by-client', {
    change: 'a release frees whatever its client holds by then',
    caughtBy: 'owner-only-release',
    needs: 'a late lock message',
    mutant: { options: { release: 'by-client' } },
    world: {
      ...CROWD,
      clients: {
        count: 2,
        ttl: '10ms',
        sections: 3,
        think: '0ms..20ms',
        lockTimeout: '5ms',
        pool: 2,
      },
      faults: [lateMessage('release', 'request', '1ms..40ms', '1/2')],
    },
  }),
  row('release-get-then-delete', {
    change: 'a GET and a DEL instead of one script',
    caughtBy: 'owner-only-release',
    needs: 'a pause, or an eviction',
    base: { ...REDIS, options: { release: 'compare-and-delete' } },
    mutant: { options: { release: 'get-then-delete' } },
    world: {
      ...CROWD,
      faults: [
        pauseBefore('release', '1/3'),
        { evict: { process: 'lock', key: 'db', before: 'release', chance: '1/3' } },
      ],
    },
  }),
  row('release-unconditional', {
    change: 'a plain DEL',
    caughtBy: 'owner-only-release',
    needs: 'a pause, or a partition',
    base: { ...REDIS, options: { release: 'compare-and-delete' } },
    mutant: { options: { release: 'delete' } },
    world: {
      ...CROWD,
      clients: {
        count: 3,
        ttl: '10ms',
        sections: 3,
        think: '0ms..20ms',
        tries: 3,
        lockTimeout: '6ms',
      },
      faults: [
        pauseBefore('write', '1/3'),
        {
          partition: {
            ...{ from: 'clients', to: ['lock'], before: 'release' },
            ...{ for: '1ms..15ms', chance: '1/3' },
          },
        },
      ],
    },
  }),
  row('renew-no-owner', {
    change: 'a renew prolongs whoever’s key is there',
    caughtBy: 'renew-live',
    needs: 'a pause',
    base: { ...REDIS, options: { renew: 'compare' } },
    mutant: { options: { renew: 'any' } },
    world: {
      ...CROWD,
      workload: { steps: ['renew', { write: {} }] },
      faults: [pauseBefore('renew', '1/3')],
    },
  }),
];
