/**
 * Optimistic locking: nobody waits for a lock. A write says which version it was computed from,
 * and is refused if somebody was faster.
 */
import type { OptionInfo, Protocol } from '../protocol.ts';
import { OptimisticDriver } from './driver.ts';
import { policyOf } from './policy.ts';

const options: readonly OptionInfo[] = [
  {
    name: 'unknownCommit',
    values: ['read-again', 'give-up', 'retry-blindly'],
    fallback: 'read-again',
    about:
      'after a write without an answer: try again under the same idempotency key, stop, or ' +
      'try again without a key',
  },
];

export const optimistic: Protocol = {
  about: 'no lock: a write names the version it was computed from; if refused, it reads again',
  source: 'Kung and Robinson, On Optimistic Methods for Concurrency Control (1981)',
  options,
  servers: () => [],
  takesSeveral: false,
  canRenew: false,
  unpromised: ['cross-key', 'single-flight'],
  build: (_world, given) => {
    const policy = policyOf(given.word('unknownCommit'));
    return () => new OptimisticDriver(policy);
  },
};
