/** The table's column of works: the steps of each client under a grant. */
import type { Work } from './row.ts';

const FAST = { ttlUs: 30_000, clients: { sections: 3, think: '0ms..30ms' }, scenario: {} } as const;

function fast(name: string, workload: Work['scenario']): Work {
  return { ...FAST, name, scenario: { workload } };
}

const PATIENCE = { backoff: '500ms', lockTimeout: '1s' } as const;

/** Leases that are counted in whole seconds need longer times. */
function slow(name: string, workload: Work['scenario'], clients: Work['clients'] = {}): Work {
  return {
    name,
    ttlUs: 3_000_000,
    clients: { sections: 3, think: '0s..3s', ...PATIENCE, ...clients },
    scenario: { workload, network: '1ms..20ms', slack: '20s' },
  };
}

/** Blind writes. */
export const W1: Work = fast('W1', { kind: 'blind-writes' });

/** A write, then a read of it. */
export const W1_READ_BACK: Work = fast('W1, read back', { steps: ['write', 'read'] });

/** Several writes under one grant. */
export const W1_SEVERAL: Work = fast('W1, several writes', {
  steps: ['write', { compute: '500us' }, 'write'],
});

/** The same without awaiting the previous answer. */
export const W1_UNAWAITED: Work = fast('W1, several writes, not awaited', {
  steps: ['write', { compute: '500us' }, 'write'],
  awaits: false,
});

/** Read, add one, write. */
export const W2: Work = fast('W2', { kind: 'read-modify-write' });

/** The same, so fast that two changes share a millisecond. */
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
    count: 2,
    sections: 3,
    think: '0ms..10ms',
    each: {
      alice: { workload: { locks: ['a'], steps: [{ lock: 'b' }, 'increment'] } },
      bob: { workload: { locks: ['b'], steps: [{ lock: 'a' }, 'increment'] } },
    },
  },
};

/** A transfer between two stores under one lock. */
export const W3: Work = fast('W3', { kind: 'transfer' });

const JOB = { steps: [{ job: { for: '500ms' } }, 'write'] };

/** A job, then a write. */
export const W4: Work = slow('W4', JOB);

/** The same by one worker, with hours in between. */
export const W4_IDLE: Work = slow('W4, 24 h idle', JOB, {
  count: 1,
  sections: 4,
  think: '1h..30h',
});

/** Blind writes under sessions of whole seconds, two ticks of ZooKeeper. */
export const W1_SLOW: Work = {
  ...slow('W1, in seconds', { kind: 'blind-writes' }),
  ttlUs: 4_000_000,
  clients: { sections: 2, think: '0s..1s', ...PATIENCE },
};

/** The same with one second of work before each write. */
export const W1_SLOW_BUSY: Work = {
  ...W1_SLOW,
  name: 'W1, in seconds, busy',
  scenario: { ...W1_SLOW.scenario, workload: { steps: [{ compute: '1s' }, 'write'] } },
};

/** The same with minutes in between. */
export const W1_IDLE: Work = {
  ...W1_SLOW,
  name: 'W1, minutes idle',
  clients: { count: 2, sections: 3, think: '0s..3m', ...PATIENCE },
};

/** Work for a third of the lease, by clients that start simultaneously. */
export const BUSY: Work = {
  ...fast('W1, busy', { steps: [{ compute: '10ms' }, 'write'] }),
  clients: { count: 2, sections: 2, think: '0ms..2ms', lockTimeout: '8ms' },
};
