/**
 * A lease: a lock that may expire at any time, unseen. So a grant is always possible, but a renewal
 * or a release succeeds only for the last one to whom it was granted. It is denied while somebody
 * may hold it, the caller included, whose own earlier attempt may not have been answered; never
 * while it was not taken, or was given back or seen to have expired, since it was taken last.
 */
import { type CallsOf, mistakesIn } from '../call-shape.ts';
import { illegal, type Model } from '../model.ts';

const calls = {
  acquire: {
    lease: 'a text',
    owner: 'a text',
    /** `denied`: it is held and may not have expired, by whomever. */
    answer: ['granted', 'denied', 'unknown'],
  },
  renew: {
    lease: 'a text',
    owner: 'a text',
    /** `denied`: the caller does not hold it, perhaps no longer. */
    answer: ['renewed', 'denied', 'unknown'],
  },
  release: { lease: 'a text', owner: 'a text', answer: ['released', 'denied', 'unknown'] },
  /** Somebody saw that it expired. */
  expire: { lease: 'a text' },
} as const;

export type LeaseCall = CallsOf<typeof calls>;

/**
 * The state is who holds it; null: nobody. That it expires unseen takes no call: `step` lets it
 * expire where a call needs it to.
 */
export function lease(): Model<string | null, LeaseCall> {
  return {
    name: 'lease',
    init: null,
    step(owner, call): readonly (string | null)[] {
      if (call.name === 'expire') return [null];
      if (call.name === 'acquire') {
        if (call.answer === 'denied') return owner === null ? illegal : [owner];
        // What did not say how it ended may have been denied, where somebody held it.
        const isOpen = call.answer === 'unknown' && owner !== null && owner !== call.owner;
        return isOpen ? [call.owner, owner] : [call.owner];
      }
      const isHolder = owner === call.owner;
      if (call.answer === 'denied') return [isHolder ? null : owner];
      if (!isHolder) return call.answer === 'unknown' ? [owner] : illegal;
      return [call.name === 'renew' ? owner : null];
    },
    isPure(call): boolean {
      if (call.name === 'acquire') return call.answer === 'denied';
      // A denied renewal is not: it may show that the lease has expired.
      return call.name === 'renew' && call.answer !== 'denied';
    },
    mistakeIn: mistakesIn(calls),
    partition: (call) => call.lease,
    whenFailed: (call) => (call.name === 'expire' ? null : { ...call, answer: 'denied' }),
    describe: (call) =>
      call.name === 'expire'
        ? `expire(${call.lease})`
        : `${call.name}(${call.lease})=${call.answer}`,
    needs(call): string {
      if (call.name === 'expire') return 'nothing';
      if (call.name === 'acquire') return 'somebody to hold the lease';
      return `${call.owner} to be the last who was granted the lease`;
    },
    describeState: (owner) =>
      owner === null ? 'nobody holds it' : `${owner} was the last to be granted it`,
  };
}
