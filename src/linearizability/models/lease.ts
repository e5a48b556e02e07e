/**
 * A lease: a lock that may expire at any time, unseen. So a grant is always possible, but a renewal
 * or a release succeeds only for the last one to whom it was granted. It is denied while somebody
 * may hold it, the caller included, whose own earlier attempt may not have been answered; never
 * while it was not taken, or was given back or seen to have expired, since it was taken last.
 */
import { mistakesIn } from '../call-shape.ts';
import { illegal, type Model } from '../model.ts';

/** A call of `lease`. */
export type LeaseCall =
  | {
      readonly name: 'acquire';
      readonly lease: string;
      readonly owner: string;
      /** `denied`: it is held, perhaps by the caller, and may not have expired. */
      readonly answer: 'granted' | 'denied' | 'unknown';
    }
  | {
      readonly name: 'renew';
      readonly lease: string;
      readonly owner: string;
      /** `denied`: the caller does not hold it, perhaps no longer. */
      readonly answer: 'renewed' | 'denied' | 'unknown';
    }
  | {
      readonly name: 'release';
      readonly lease: string;
      readonly owner: string;
      readonly answer: 'released' | 'denied' | 'unknown';
    }
  /** A client saw that it expired. */
  | { readonly name: 'expire'; readonly lease: string };

const mistakeIn = mistakesIn<LeaseCall>({
  acquire: { lease: 'a text', owner: 'a text', answer: ['granted', 'denied', 'unknown'] },
  renew: { lease: 'a text', owner: 'a text', answer: ['renewed', 'denied', 'unknown'] },
  release: { lease: 'a text', owner: 'a text', answer: ['released', 'denied', 'unknown'] },
  expire: { lease: 'a text' },
});

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
    mistakeIn,
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
