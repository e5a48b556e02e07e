/** No lock at all: what happens when nobody takes turns, to compare the locks with. */
import type { LockDriver, Protocol, Section } from '../protocol.ts';

export const none: Protocol = {
  about: 'no lock: everybody works at once',
  source: 'the baseline',
  options: [],
  servers: () => [],
  takesSeveral: false,
  unpromised: ['no-lost-update', 'cross-key', 'single-flight', 'linearizable'],
  build: () => () => new NoLock(),
};

class NoLock implements LockDriver {
  *acquire(at: Section): Generator<never, boolean, void> {
    at.end = { clock: 'monotonic', us: Number.POSITIVE_INFINITY };
    return true;
  }

  *renew(): Generator<never, boolean, void> {
    return true;
  }

  *release(): Generator<never, void, void> {}
}
