/**
 * The time in which a program counts on its lock, from enter to leave, told to the observer. Where
 * no server says that it gave the lock, the program takes it itself, in the order of entering.
 */
import type { Name } from '../../core/kernel/name.ts';
import type { LeaseEnd } from '../../core/world/client-view.ts';
import type { AsyncHost } from './async-host.ts';
import type { Life } from './life.ts';

export interface TenureSetting {
  readonly lock: string;
  /** 0 if absent. */
  readonly token?: number;
  /** By the program's own `Date`; if absent, until it leaves. */
  readonly untilMs?: number;
}

/** Where it begins. */
interface Entered extends TenureSetting {
  readonly section: Name;
  /** The grant that a server said it gave; null where none did. */
  readonly given: number | null;
  /** What the program counted on in this section before, and prolongs; null for nothing. */
  readonly before: Tenure | null;
}

/** A hundred years: no run lasts so long. */
const NEVER_MS = 3_155_760_000_000;

export class Tenure {
  /** The grant under which it is; 0 where its process is gone. */
  readonly ordinal: number;
  readonly token: number;
  readonly end: LeaseEnd;
  private readonly host: AsyncHost;
  private readonly life: Life;
  private readonly lock: string;
  /** Whether it ends only when the program says so, since no server knows of an end. */
  private readonly isOpen: boolean;
  private readonly isOwnGrant: boolean;
  private hasLeft = false;

  constructor(host: AsyncHost, life: Life, entered: Entered) {
    const { section, lock, token = 0, untilMs, given, before } = entered;
    this.host = host;
    this.life = life;
    this.lock = lock;
    this.token = token;
    this.isOwnGrant = given === null;
    this.isOpen = untilMs === undefined;
    const endMs = untilMs ?? host.process.epochUs / 1000 + NEVER_MS;
    this.end = { clock: 'wall', us: Math.round(endMs * 1000) };
    if (life.isOver) {
      this.ordinal = 0;
      return;
    }
    life.requireInside();
    const prolonged = before !== null && !before.hasLeft && given === null ? before : null;
    if (prolonged === null) host.tenure?.leave();
    else prolonged.hasLeft = true;
    this.ordinal = given ?? this.takeOrRenew(prolonged);
    host.belief.enter({ section, lock, ordinal: this.ordinal, token, end: this.end });
    host.tenure = this;
  }

  /** The ordinal of an own grant: a new one, or that which is prolonged. */
  private takeOrRenew(prolonged: Tenure | null): number {
    const { host, lock, token, end } = this;
    const nowUs = host.process.clock.wallUs(host.nowUs);
    const ttlUs = this.isOpen ? 0 : Math.max(0, end.us - nowUs);
    const held = this.isOpen ? { heldUntilUs: null } : {};
    const term = { lock, token, ttlUs, since: { sentAtUs: host.nowUs }, end, ...held };
    if (prolonged === null) return host.ownGrants.grant(term);
    host.ownGrants.renew({ ...term, ordinal: prolonged.ordinal });
    return prolonged.ordinal;
  }

  leave(): void {
    if (this.life.isOver || this.hasLeft) return;
    this.hasLeft = true;
    this.host.belief.leave();
    this.giveBack();
  }

  /** Its process crashed: what has no end of its own ends with it. */
  crash(): void {
    if (this.isOpen && !this.hasLeft) this.giveBack();
  }

  private giveBack(): void {
    const { lock, ordinal } = this;
    if (this.isOwnGrant) this.host.ownGrants.release({ lock, ordinal });
  }
}
