/** Mutants of the client: what it attaches to a write, compares itself, or sends again. */
import { type Mutant, row } from './mutant.ts';
import { CROWD, pauseBefore } from './worlds.ts';

export const clientMutants: readonly Mutant[] = [
  row('client-side-fence', {
    change: 'the client reads the fence, compares, then writes plainly',
    caughtBy: 'fence-monotone',
    needs: 'a pause',
    mutant: { store: 'client-side-fence' },
    world: { ...CROWD, faults: [pauseBefore('write', '1/2')] },
  }),
  row('token-borrowed', {
    change: 'the client fetches the current token when it writes, as with Redisson’s getToken',
    caughtBy: 'token-bound',
    needs: 'a pause',
    base: { clients: { checksLease: false } },
    mutant: { options: { attaches: 'current' } },
    world: {
      ...CROWD,
      faults: [
        { pause: { process: 'clients', after: 'acquire', for: '1ms..40ms', chance: '1/2' } },
      ],
    },
  }),
  row('token-missing-accepted', {
    change: 'a write without a token is accepted, and the client forgets it at times',
    caughtBy: 'fence-monotone',
    needs: 'a pause',
    base: { options: { attaches: 'at-times' } },
    mutant: { store: 'token-missing-accepted' },
    world: { ...CROWD, faults: [pauseBefore('write', '1/2')] },
  }),
  row('retry-unknown-commit', {
    change: 'an optimistic client tries again after a timeout, without an idempotency key',
    caughtBy: 'no-lost-update',
    needs: 'a lost message',
    base: { lock: 'optimistic', store: 'versioned', options: { unknownCommit: 'read-again' } },
    mutant: { options: { unknownCommit: 'retry-blindly' } },
    world: {
      clients: {
        ...{ count: 3, ttl: '50ms', sections: 3, think: '0ms..20ms' },
        ...{ backoff: '2ms', storeTimeout: '15ms' },
      },
      workload: { kind: 'read-modify-write' },
      network: { latency: '1ms..2ms' },
      faults: [{ drop: { chance: '1/20' } }],
    },
  }),
];
