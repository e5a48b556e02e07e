/**
 * The part of the API server that a Lease object needs (kubernetes/api, coordination/v1). It stores
 * one record per lock; an update must name the stored version. The server has no clock: each client
 * decides whether a lease has expired.
 *
 * Every change gives the object a new `resourceVersion`, which is never reused.
 */
import { type Boot, GrantRecorder, type Server, type Turn } from '../../servers.ts';

/** The fields of a Lease that client-go depends on; the times in a Lease are only informational. */
export type ElectionRecord = {
  /** `holderIdentity`; '' after a release. */
  readonly holder: string;
  /** `leaseDurationSeconds`, a whole number from 1. */
  readonly seconds: number;
  /** `leaseTransitions`: the number of changes of the holder. */
  readonly transitions: number;
};

export type LeaseRequest =
  | { readonly kind: 'get'; readonly lock: string }
  /** Creates the object if `version` is 0; otherwise updates the object at that version. */
  | {
      readonly kind: 'put';
      readonly lock: string;
      readonly record: ElectionRecord;
      readonly version: number;
      /** For the observer: how long the sender relies on its lease. */
      readonly countedUs: number;
    };

export type LeaseReply =
  /** Version 0 means that there is no object. */
  | { readonly kind: 'lease'; readonly record: ElectionRecord; readonly version: number }
  /** Another version is stored, or there is an object already. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'invalid' };

interface Stored {
  readonly record: ElectionRecord;
  readonly version: number;
  /** For the observer: the owner, and the end of the lease by a clock without error. */
  readonly client: string;
  readonly untilUs: number;
}

const NO_RECORD: ElectionRecord = { holder: '', seconds: 0, transitions: 0 };
const US_A_SECOND = 1_000_000;

type Put = Extract<LeaseRequest, { kind: 'put' }>;

export class ApiServer implements Server<LeaseRequest, LeaseReply> {
  private readonly tokenOf: (record: ElectionRecord) => number;
  private readonly leases: Map<string, Stored> = new Map();
  private readonly recorder: GrantRecorder;
  private versions = 0;

  constructor(name: string, tokenOf: (record: ElectionRecord) => number) {
    this.tokenOf = tokenOf;
    this.recorder = new GrantRecorder(name);
  }

  handle(request: LeaseRequest, turn: Turn<LeaseReply>): LeaseReply {
    const stored = this.leases.get(request.lock);
    if (request.kind === 'put') return this.put(request, stored, turn);
    this.noteDenial(request.lock, stored, turn);
    const { record = NO_RECORD, version = 0 } = stored ?? {};
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
    const seconds = record.seconds + Math.ceil(turn.lifetimeUs(0) / US_A_SECOND);
    const untilUs = turn.atUs + seconds * US_A_SECOND;
    this.note(request, stored, turn);
    const kept = { holder: record.holder, seconds, transitions: record.transitions };
    this.leases.set(lock, { record: kept, version: this.versions, client, untilUs });
    return { kind: 'lease', record, version: this.versions };
  }

  private note(
    { lock, record, countedUs: ttlUs }: Put,
    stored: Stored | undefined,
    turn: Turn<LeaseReply>,
  ): void {
    const isHeld = stored?.record.holder !== '';
    const untilUs = turn.atUs + record.seconds * US_A_SECOND;
    const { client } = turn;
    const terms = { lock, client, token: this.tokenOf(record), ttlUs, untilUs, isEffective: true };
    if (record.holder === '') this.noteRelease(lock, turn, isHeld);
    else if (record.holder !== stored?.record.holder) this.recorder.grant(turn, terms);
    else if (turn.under === 0) this.recorder.grantAgain(turn, terms);
    else this.recorder.renew(turn, terms);
  }

  private noteRelease(lock: string, turn: Turn<LeaseReply>, isEffective: boolean): void {
    this.recorder.release(turn, { lock, client: turn.client, isEffective });
  }

  /** Records a denial if, by a clock without error, the client must still wait. */
  private noteDenial(lock: string, stored: Stored | undefined, turn: Turn<LeaseReply>): void {
    if (stored === undefined || stored.record.holder === '' || turn.under !== 0) return;
    if (stored.client === turn.client || turn.atUs >= stored.untilUs) return;
    this.recorder.deny(turn, { lock, client: turn.client, holder: stored.client });
  }

  /** All state is in etcd, so a crash loses nothing. */
  restart(_boot: Boot): void {}

  snapshot(): () => void {
    return () => {};
  }
}
