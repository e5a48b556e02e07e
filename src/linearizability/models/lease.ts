/**
 * A lease: a lock that may expire at any time, unobserved. A grant is therefore always possible,
 * but only the last client that was granted the lease can renew or release it. An acquire may be
 * denied while any client may hold the lease. The caller itself may hold it through an unanswered
 * attempt. An acquire must not be denied if the lease is known to be free: never taken, released,
 * or observed to expire.
 */
import { mistakesIn } from '../call-shape.ts';
import { illegal, type Model } from '../model.ts';

/** A call of `lease`. */
export type LeaseCall =
  | {
      readonly name: 'acquire';
      readonly lease: string;
      readonly owner: string;
      /** `denied`: a client, perhaps the caller, may hold the lease. */
      readonly answer: 'granted' | 'denied' | 'unknown';
    }
  | {
      readonly name: 'renew';
      readonly lease: string;
      readonly owner: string;
      /** `denied`: the caller does not hold the lease. */
      readonly answer: 'renewed' | 'denied' | 'unknown';
    }
  | {
      readonly name: 'release';
      readonly lease: string;
      readonly owner: string;
      readonly answer: 'released' | 'denied' | 'unknown';
    }
  /** A client observed that the lease expired. */
  | { readonly name: 'expire'; readonly lease: string };

const mistakeIn = mistakesIn<LeaseCall>({
  acquire: { lease: 'a string', owner: 'a string', answer: ['granted', 'denied', 'unknown'] },
  renew: { lease: 'a string', owner: 'a string', answer: ['renewed', 'denied', 'unknown'] },
  release: { lease: 'a string', owner: 'a string', answer: ['released', 'denied', 'unknown'] },
  expire: { lease: 'a string' },
});

/**
 * The state is the holder, or null if there is none. An unobserved expiry is not a call: `step`
 * lets the lease expire if a call requires this.
 */
export function lease(): Model<string | null, LeaseCall> {
  return {
    name: 'lease',
    init: null,
    step(owner, call): readonly (string | null)[] {
      if (call.name === 'expire') return [null];
      if (call.name === 'acquire') {
        if (call.answer === 'denied') return owner === null ? illegal : [owner];
        // An acquire with an unknown outcome may have been denied, if another client held the
        // lease.
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
      // A denied renewal is not pure: it may show that the lease has expired.
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
      if (call.name === 'acquire') return 'a client to hold the lease';
      return `${call.owner} to be the last client that was granted the lease`;
    },
    describeState: (owner) =>
      owner === null ? 'no client holds it' : `it was last granted to ${owner}`,
  };
}
