/**
 * Tells the observer what a lock's server does with its grants, and remembers which grant each
 * lock's entry belongs to. Every server that gives grants by itself keeps one; what it notes has no
 * effect on what the server does.
 */
import type { Deny, Renew } from '../core/history/events.ts';
import { WHY } from '../core/history/events.ts';
import type { Draft } from '../core/kernel/json.ts';
import type { Boot, Turn } from '../core/world/server.ts';

/** The terms of a grant. Times are in microseconds. */
export interface GrantTerms {
  readonly lock: string;
  readonly client: string;
  /** The fencing token; 0 for none. */
  readonly token: number;
  readonly ttlUs: number;
  /** True time at which the server's clock, as it now runs, ends the lease; null: never. */
  readonly untilUs: number | null;
  /**
   * When the first of several requests left that the grant rests on. Default: when its own request
   * did.
   */
  readonly sentAtUs?: number;
}

/** What a renewal was asked by, under which grant, and which it extended. */
type Named = Pick<Renew, 'message' | 'sentAtUs' | 'under' | 'extended'>;

/**
 * Reports the grants of a lock's server to the observer, and remembers which grant each lock's
 * entry belongs to. Without it no claim about the lock is tested. It changes nothing that the
 * server does.
 */
export class GrantBook {
  private readonly process: string;
  private ordinals: Map<string, number> = new Map();
  /** To whom each lock was granted last. */
  private holders: Map<string, string> = new Map();

  constructor(process: string) {
    this.process = process;
  }

  /** The ordinal of the grant that the lock's entry belongs to; 0 before the first. */
  current(lock: string): number {
    return this.ordinals.get(lock) ?? 0;
  }

  /** The server does what the lock's rules alone would not lead anyone to expect, and says why. */
  explain(turn: Turn, text: string): void {
    turn.observe({ kind: 'log', atUs: turn.atUs, process: this.process, topic: WHY, text });
  }

  /**
   * The server gives a grant: it is numbered, and the number travels with the reply. `atUs` is when
   * it does so, where the turn was kept.
   */
  grant(turn: Turn, lent: GrantTerms, atUs: number = turn.atUs): void {
    const { lock, token, ttlUs, untilUs, sentAtUs = turn.sentAtUs } = lent;
    const ordinal = turn.grant();
    this.ordinals.set(lock, ordinal);
    this.holders.set(lock, lent.client);
    turn.observe({
      kind: 'grant',
      atUs,
      process: this.process,
      message: turn.message,
      lock,
      client: lent.client,
      ordinal,
      token,
      ttlUs,
      sentAtUs,
      untilUs,
    });
  }

  /** The server tells the holder once more of the grant that it has, and prolongs it by that. */
  grantAgain(turn: Turn, lent: GrantTerms): void {
    const { message, sentAtUs } = turn;
    const under = turn.grant(this.current(lent.lock));
    this.noteRenewal(turn, lent, { message, sentAtUs, under, extended: under });
  }

  /**
   * The server denies an acquire because of `holder`: '' if the lock is free, and by default the
   * client that was granted it last. One that `waits` may be granted later.
   */
  deny(
    turn: Turn,
    {
      lock,
      client,
      holder = this.holders.get(lock) ?? '',
      waits,
    }: Pick<GrantTerms, 'lock' | 'client'> & { readonly holder?: string; readonly waits?: true },
  ): void {
    const denial: Draft<Deny> = {
      kind: 'deny',
      atUs: turn.atUs,
      process: this.process,
      message: turn.message,
      lock,
      client,
      holder,
      holderOrdinal: this.current(lock),
    };
    if (waits === true) denial.waits = waits;
    turn.observe(denial);
  }

  /** The server handles a renew; one that `isEffective` extends the lock's current entry. */
  renew(turn: Turn, renewal: GrantTerms & { readonly isEffective: boolean }): void {
    const extended = renewal.isEffective ? this.current(renewal.lock) : 0;
    const { message, sentAtUs, under } = turn;
    this.noteRenewal(turn, renewal, { message, sentAtUs, under, extended });
  }

  /**
   * The server prolongs a grant without being asked for that one: with the session that it hangs
   * on, by the message that kept that alive, or by no message, of its own accord.
   */
  prolong(
    boot: Boot,
    lent: Required<GrantTerms>,
    { ordinal, message }: { readonly ordinal: number; readonly message: string },
  ): void {
    const { sentAtUs } = lent;
    this.noteRenewal(boot, lent, { message, sentAtUs, under: ordinal, extended: ordinal });
  }

  private noteRenewal(
    boot: Boot,
    { lock, client, token, ttlUs, untilUs }: GrantTerms,
    { message, sentAtUs, under, extended }: Named,
  ): void {
    boot.observe({
      kind: 'renew',
      atUs: boot.atUs,
      process: this.process,
      message,
      lock,
      client,
      under,
      token,
      ttlUs,
      untilUs,
      extended,
      sentAtUs,
    });
  }

  /** The server handles a release; one that `isEffective` ends the lock's current entry. */
  release(
    turn: Turn,
    {
      lock,
      client,
      isEffective,
      under = turn.under,
    }: Pick<GrantTerms, 'lock' | 'client'> & {
      readonly isEffective: boolean;
      /** The grant that the caller meant. Default: the one that its turn names. */
      readonly under?: number;
    },
  ): void {
    const released = isEffective ? this.current(lock) : 0;
    const { atUs, message } = turn;
    const { process } = this;
    turn.observe({ kind: 'release', atUs, process, message, lock, client, under, released });
  }

  /** The server ends the current grant unasked; `why` is a clause: `its session was over`. */
  end(
    boot: Pick<Boot, 'atUs' | 'observe'>,
    { lock, client }: Pick<GrantTerms, 'lock' | 'client'>,
    why: string,
  ): void {
    const ordinal = this.current(lock);
    const { process } = this;
    boot.observe({ kind: 'grant-end', atUs: boot.atUs, process, lock, client, ordinal, why });
    const ended = { process, message: '', lock, client, under: ordinal, released: ordinal };
    boot.observe(Object.assign({ kind: 'release', atUs: boot.atUs } as const, ended));
  }

  /**
   * Returns a function that brings back what it remembers now, for a server's own `snapshot`, which
   * gives `restore`: that is called first.
   */
  snapshot(restore: () => void = () => {}): () => void {
    const [ordinals, holders] = [new Map(this.ordinals), new Map(this.holders)];
    return () => {
      restore();
      this.ordinals = new Map(ordinals);
      this.holders = new Map(holders);
    };
  }
}

/**
 * Reports locks that are keys in a line: the oldest key of a lock has it, and a key stands for a
 * grant once its client was told so. A `GrantBook` for such servers.
 */
export class LineBook<K extends { readonly lock: string }> extends GrantBook {
  private readonly line: ConstructorParameters<typeof LineBook<K>>[1];
  /** The grant that a key stands for, by its number. */
  private readonly given: Map<number, number> = new Map();

  constructor(
    process: string,
    line: {
      /** Returns a number that tells the key from all others, those of other locks too. */
      readonly numberOf: (key: K) => number;
      /** Returns the terms of the key's lock; once its session is over, as they were. */
      readonly lentTo: (key: K, boot: Boot) => Required<GrantTerms>;
    },
  ) {
    super(process);
    this.line = line;
  }

  /** A new key stands behind the one of `holder`. */
  wait(turn: Turn, { lock }: K, holder: string): void {
    this.deny(turn, { lock, client: turn.client, holder, waits: true });
  }

  /** The client learns by this turn that its key has the lock. */
  give(turn: Turn, key: K, atUs: number = turn.atUs): void {
    const number = this.line.numberOf(key);
    const known = this.given.get(number);
    if (known !== undefined) {
      turn.grant(known);
      return;
    }
    this.grant(turn, this.line.lentTo(key, turn), atUs);
    this.given.set(number, this.current(key.lock));
  }

  /** The client deletes its key, null where that was gone. Who only waited gives nothing back. */
  giveBack(turn: Turn, lock: string, key: K | null): void {
    const ordinal = key === null ? undefined : this.given.get(this.line.numberOf(key));
    const isEffective = ordinal !== undefined && ordinal === this.current(lock);
    if (!isEffective && turn.under === 0) return;
    this.release(turn, { lock, client: turn.client, isEffective });
  }

  /** The session of these keys lasts longer, by the message that kept it alive, '' for none. */
  prolongAll(boot: Boot, keys: readonly K[], message: string): void {
    for (const key of keys) {
      const ordinal = this.given.get(this.line.numberOf(key));
      if (ordinal === undefined) continue;
      this.prolong(boot, this.line.lentTo(key, boot), { ordinal, message });
    }
  }
}
