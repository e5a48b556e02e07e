/**
 * The API server as far as a Lease object needs it (kubernetes/api, coordination/v1): it keeps one
 * record per lock, and takes an update only of whoever names the version that is stored. It has no
 * clock: that a lease is over, each client concludes for itself.
 *
 * Every change gives the object a new `resourceVersion`, which never comes back.
 */
import { type Boot, GrantBook, type Server, type Turn } from '../../servers.ts';

/** What client-go keeps in a Lease, but for the times that nobody goes by. */
export type ElectionRecord = {
  /** `holderIdentity`: '' once it was given back. */
  readonly holder: string;
  /** `leaseDurationSeconds`, a whole number from 1. */
  readonly seconds: number;
  /** `leaseTransitions`: how often it went to another holder. */
  readonly transitions: number;
};

export type LeaseRequest =
  | { readonly kind: 'get'; readonly lock: string }
  /** Creates the object where `version` is 0, else updates the one of that version. */
  | {
      readonly kind: 'put';
      readonly lock: string;
      readonly record: ElectionRecord;
      readonly version: number;
      /** How long its sender counts on it, for the observer. */
      readonly countedUs: number;
    };

export type LeaseReply =
  /** Version 0: there is none. */
  | { readonly kind: 'lease'; readonly record: ElectionRecord; readonly version: number }
  /** Another version is stored, or one where none should be. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'invalid' };

interface Stored {
  readonly record: ElectionRecord;
  readonly version: number;
  /** For the observer: whose it is, and until when a right clock counts it. */
  readonly client: string;
  readonly untilUs: number;
}

const NOBODY: ElectionRecord = { holder: '', seconds: 0, transitions: 0 };
const US_A_SECOND = 1_000_000;

type Put = Extract<LeaseRequest, { kind: 'put' }>;

export class ApiServer implements Server<LeaseRequest, LeaseReply> {
  private readonly tokenOf: (record: ElectionRecord) => number;
  private readonly leases: Map<string, Stored> = new Map();
  private readonly book: GrantBook;
  private versions = 0;

  constructor(name: string, tokenOf: (record: ElectionRecord) => number) {
    this.tokenOf = tokenOf;
    this.book = new GrantBook(name);
  }

  handle(request: LeaseRequest, turn: Turn<LeaseReply>): LeaseReply {
    const stored = this.leases.get(request.lock);
    if (request.kind === 'put') return this.put(request, stored, turn);
    this.noteDenial(request.lock, stored, turn);
    const { record = NOBODY, version = 0 } = stored ?? {};
    return { kind: 'lease', record, version };
  }

  private put(request: Put, stored: Stored | undefined, turn: Turn<LeaseReply>): LeaseReply {
    const { lock, record } = request;
    if (record.seconds < 1) return { kind: 'invalid' };
    if (request.version !== (stored?.version ?? 0)) {
      if (record.holder === '') this.noteRelease(lock, turn, false);
      return { kind: 'conflict' };
    }
    this.versions += 1;
    const { client } = turn;
    const untilUs = turn.atUs + record.seconds * US_A_SECOND;
    this.note(request, stored, turn);
    this.leases.set(lock, { record, version: this.versions, client, untilUs });
    return { kind: 'lease', record, version: this.versions };
  }

  /** For the observer: what became of the lock by this change. */
  private note(
    { lock, record, countedUs: ttlUs }: Put,
    stored: Stored | undefined,
    turn: Turn<LeaseReply>,
  ): void {
    const isHeld = stored?.record.holder !== '';
    const untilUs = turn.atUs + record.seconds * US_A_SECOND;
    const { client } = turn;
    const lent = { lock, client, token: this.tokenOf(record), ttlUs, untilUs, isEffective: true };
    if (record.holder === '') this.noteRelease(lock, turn, isHeld);
    else if (record.holder !== stored?.record.holder) this.book.grant(turn, lent);
    else if (turn.under === 0) this.book.grantAgain(turn, lent);
    else this.book.renew(turn, lent);
  }

  private noteRelease(lock: string, turn: Turn<LeaseReply>, isEffective: boolean): void {
    this.book.release(turn, { lock, client: turn.client, isEffective });
  }

  /** For the observer: whoever reads this is to wait, if its clock is right. */
  private noteDenial(lock: string, stored: Stored | undefined, turn: Turn<LeaseReply>): void {
    if (stored === undefined || stored.record.holder === '' || turn.under !== 0) return;
    if (stored.client === turn.client || turn.atUs >= stored.untilUs) return;
    this.book.deny(turn, { lock, client: turn.client, holder: stored.client });
  }

  /** All of it is in etcd: a crash loses nothing. */
  restart(_boot: Boot): void {}

  snapshot(): () => void {
    return () => {};
  }
}
