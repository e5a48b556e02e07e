/** No lock at all: what happens when nobody takes turns, to compare the locks with. */
import type { LockDriver, Protocol } from '../protocol.ts';

export const none: Protocol = {
  about: 'no lock: everybody works at once',
  source: 'the baseline',
  options: [],
  servers: () => [],
  takesSeveral: false,
  hasGrants: false,
  unpromised: ['no-lost-update', 'cross-key', 'single-flight', 'linearizable'],
  build: () => () => noLock,
};

const noLock: LockDriver = {
  *acquire(at) {
    at.end = { clock: 'monotonic', us: Number.POSITIVE_INFINITY };
    return true;
  },
  *renew() {
    return true;
  },
  *release() {},
};
