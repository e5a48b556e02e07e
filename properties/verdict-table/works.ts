/** The table's column of works: what each client does under a grant. */
import type { Work } from './row.ts';

const FAST = { ttlUs: 30_000, clients: { sections: 3, think: '0ms..30ms' }, scenario: {} } as const;

function fast(name: string, workload: Work['scenario']): Work {
  return { ...FAST, name, scenario: { workload } };
}

/** Leases that are counted in whole seconds need longer times. */
function slow(name: string, workload: Work['scenario'], clients: Work['clients'] = {}): Work {
  const patience = { backoff: '500ms', lockTimeout: '1s' };
  return {
    name,
    ttlUs: 3_000_000,
    clients: { sections: 3, think: '0s..3s', ...patience, ...clients },
    scenario: { workload, network: '1ms..20ms', slack: '20s' },
  };
}

/** Blind writes. */
export const W1: Work = fast('W1', { kind: 'blind-writes' });

/** A write, and a look at it. */
export const W1_READ_BACK: Work = fast('W1, read back', { steps: ['write', 'read'] });

/** Several writes under one grant. */
export const W1_SEVERAL: Work = fast('W1, several writes', {
  steps: ['write', { compute: '500us' }, 'write'],
});

/** The same without awaiting the answer to the one before. */
export const W1_UNAWAITED: Work = fast('W1, several writes, not awaited', {
  ...{ steps: ['write', { compute: '500us' }, 'write'], awaits: false },
});

/** Read, add one, write. */
export const W2: Work = fast('W2', { kind: 'read-modify-write' });

/** The same, so fast that two changes fall on one millisecond. */
export const W2_SAME_TICK: Work = {
  ...W2,
  name: 'W2, same tick',
  clients: { sections: 3, think: '0ms..2ms', backoff: '1ms' },
  scenario: { ...W2.scenario, network: '0us..200us' },
};

/** Two locks in opposite order. */
export const W2_OPPOSITE: Work = {
  ...W2,
  name: 'W2, two locks in opposite order',
  clients: {
    ...{ count: 2, sections: 3, think: '0ms..10ms' },
    each: {
      alice: { workload: { locks: ['a'], steps: [{ lock: 'b' }, 'increment'] } },
      bob: { workload: { locks: ['b'], steps: [{ lock: 'a' }, 'increment'] } },
    },
  },
};

/** A transfer between two stores under one lock. */
export const W3: Work = fast('W3', { kind: 'transfer' });

const JOB = { steps: [{ job: { for: '500ms' } }, 'write'] };

/** A job, and a write. */
export const W4: Work = slow('W4', JOB);

/** The same by one worker, with hours between. */
export const W4_IDLE: Work = slow('W4, 24 h idle', JOB, {
  ...{ count: 1, sections: 4, think: '1h..30h' },
});

/** Work that takes a third of the lease, by clients that all come at once. */
export const BUSY: Work = {
  ...fast('W1, busy', { steps: [{ compute: '10ms' }, 'write'] }),
  clients: { count: 2, sections: 2, think: '0ms..2ms', lockTimeout: '8ms' },
};
