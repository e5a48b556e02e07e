/**
 * One acquisition that the program declares with `guard`: its grant, and the time until which the
 * program relies on it. A process may have several acquisitions, in one or more sections; each ends
 * independently.
 */
import type { Name } from '../../core/kernel/name.ts';
import { ClientView, type Quorum } from '../../core/world/client-view.ts';
import type { Process } from '../../core/world/process.ts';
import type { LeaseEnd } from '../../core/world/program.ts';
import type { HostedParts } from '../../core/world/world.ts';
import type { Incarnation } from './incarnation.ts';

interface LeaseTerm {
  /** Default 0: none. */
  readonly token?: number;
  /**
   * Time until which the program relies on the lock, by the program's own `Date`. If omitted, the
   * program relies on the lock until it leaves.
   */
  readonly untilMs?: number;
}

export interface LeaseHoldSetting extends LeaseTerm {
  readonly lock: string;
  /** False if no grant corresponds to the acquisition. Default true. */
  readonly hasGrants?: boolean;
}

interface Entered extends LeaseHoldSetting {
  readonly section: Name;
  /** The grant that a server reported, or null if there is none. */
  readonly given: number | null;
  readonly whenLeft: (left: LeaseHold) => void;
}

/** A hundred years, longer than any run. */
const NEVER_MS = 3_155_760_000_000;

interface Holder {
  readonly process: Process;
  readonly parts: HostedParts;
  readonly nowUs: number;
  readonly clientGrants: Quorum;
  /** Acquisitions that the process has not left. */
  readonly leaseHolds: Set<LeaseHold>;
}

/** One acquisition, from its entry until its program leaves or its process crashes. */
export class LeaseHold {
  /** Grant number, or 0 if the process has ended or the acquisition has no grant. */
  readonly ordinal: number;
  token: number;
  end: LeaseEnd;
  readonly view: ClientView;
  private readonly host: Holder;
  private readonly incarnation: Incarnation;
  private readonly lock: string;
  private readonly whenLeft: (left: LeaseHold) => void;
  /** True if the program stated no end. */
  private isOpen: boolean;
  private readonly isClientGrant: boolean;

  constructor(host: Holder, incarnation: Incarnation, entered: Entered) {
    const { section, lock, token = 0, untilMs, given, whenLeft, hasGrants = true } = entered;
    this.host = host;
    this.incarnation = incarnation;
    this.lock = lock;
    this.token = token;
    this.whenLeft = whenLeft;
    this.isClientGrant = given === null;
    this.isOpen = untilMs === undefined;
    this.end = this.endAt(untilMs);
    this.view = new ClientView(host.process, host.parts);
    this.ordinal = 0;
    if (incarnation.isOver) return;
    incarnation.requireInside();
    if (!hasGrants) return;
    this.ordinal = given ?? host.clientGrants.grant(this.term());
    this.view.enter({ section, lock, ordinal: this.ordinal, token, end: this.end });
    host.leaseHolds.add(this);
  }

  /** Changes the time until which the program relies on the lock, and the token. */
  renew({ token = this.token, untilMs }: LeaseTerm): void {
    if (this.incarnation.isOver || !this.host.leaseHolds.has(this)) return;
    this.incarnation.requireInside();
    this.token = token;
    this.isOpen = untilMs === undefined;
    this.end = this.endAt(untilMs);
    const { ordinal, end } = this;
    if (this.isClientGrant) this.host.clientGrants.renew({ ...this.term(), ordinal });
    this.view.testLease({ isLive: this.wallUs < end.us, end });
  }

  private endAt(untilMs: number | undefined): LeaseEnd {
    const endMs = untilMs ?? this.host.process.epochUs / 1000 + NEVER_MS;
    return { clock: 'wall', us: Math.round(endMs * 1000) };
  }

  private get wallUs(): number {
    const { host } = this;
    return host.process.clock.wallUs(host.nowUs);
  }

  private term() {
    const { host, lock, token, end } = this;
    const ttlUs = this.isOpen ? 0 : Math.max(0, end.us - this.wallUs);
    const held = this.isOpen ? { heldUntilUs: null } : {};
    return { lock, token, ttlUs, since: { sentAtUs: host.nowUs }, end, ...held };
  }

  leave(): void {
    if (this.incarnation.isOver || !this.host.leaseHolds.delete(this)) return;
    this.view.leave();
    this.giveBack();
    this.whenLeft(this);
  }

  /** Ends the acquisition because its process crashed. A grant without an end is released. */
  crash(): void {
    this.host.leaseHolds.delete(this);
    if (this.isOpen) this.giveBack();
    this.view.leave();
  }

  private giveBack(): void {
    const { lock, ordinal } = this;
    if (this.isClientGrant) this.host.clientGrants.release({ lock, ordinal });
  }
}
