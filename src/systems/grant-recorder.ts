/** Recorders for the servers of locks. Every server that grants locks has one. */
import type { Deny, Renew } from '../core/history/events.ts';
import { WHY } from '../core/history/events.ts';
import type { Draft } from '../core/kernel/json.ts';
import type { Boot, Turn } from '../core/world/server.ts';

/** The terms of a grant. Times are in microseconds. */
export interface GrantTerms {
  readonly lock: string;
  readonly client: string;
  /** Fencing token; 0 if there is none. */
  readonly token: number;
  readonly ttlUs: number;
  /**
   * True time at which the lease ends, or null if it never ends. Assumes that the server's clock
   * keeps its present rate.
   */
  readonly untilUs: number | null;
  /** Send time of the first request for the grant. Default: the turn's `sentAtUs`. */
  readonly sentAtUs?: number;
}

type Named = Pick<Renew, 'message' | 'sentAtUs' | 'under' | 'extended'>;

/**
 * Records the grants of a lock's server for the observer, and remembers each lock's current grant.
 * Without these records, no claim about the lock is tested. Recording does not affect the server.
 */
export class GrantRecorder {
  private readonly process: string;
  private ordinals: Map<string, number> = new Map();
  /** The client of each lock's latest grant. */
  private holders: Map<string, string> = new Map();

  constructor(process: string) {
    this.process = process;
  }

  /** Returns the grant number of the lock's latest grant; 0 before the first. */
  current(lock: string): number {
    return this.ordinals.get(lock) ?? 0;
  }

  /** Records a reason for behavior that the lock's rules alone do not explain. */
  explain(turn: Turn, text: string): void {
    turn.observe({ kind: 'log', atUs: turn.atUs, process: this.process, topic: WHY, text });
  }

  /**
   * Records a new grant, whose number travels with the reply. If the turn was kept waiting, `atUs`
   * is the time of the grant.
   */
  grant(turn: Turn, terms: GrantTerms, atUs: number = turn.atUs): void {
    const { lock, token, ttlUs, untilUs, sentAtUs = turn.sentAtUs } = terms;
    const ordinal = turn.grant();
    this.ordinals.set(lock, ordinal);
    this.holders.set(lock, terms.client);
    turn.observe({
      kind: 'grant',
      atUs,
      process: this.process,
      message: turn.message,
      lock,
      client: terms.client,
      ordinal,
      token,
      ttlUs,
      sentAtUs,
      untilUs,
    });
  }

  /** Records that the server repeats the current grant, which extends the grant. */
  grantAgain(turn: Turn, terms: GrantTerms): void {
    const { message, sentAtUs } = turn;
    const under = turn.grant(this.current(terms.lock));
    this.noteRenewal(turn, terms, { message, sentAtUs, under, extended: under });
  }

  /**
   * Records a denied acquire. `holder` is the cause, or '' if the lock is free; the default is the
   * client of the latest grant. With `waits`, the lock may be granted to the client later.
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

  /** Records a renewal, which extends the lock's current grant if `isEffective`. */
  renew(turn: Turn, renewal: GrantTerms & { readonly isEffective: boolean }): void {
    const extended = renewal.isEffective ? this.current(renewal.lock) : 0;
    const { message, sentAtUs, under } = turn;
    this.noteRenewal(turn, renewal, { message, sentAtUs, under, extended });
  }

  /**
   * Records an extension without a request for this grant. `message` kept the grant's session
   * alive, or is '' if no message did.
   */
  prolong(
    boot: Boot,
    terms: Required<GrantTerms>,
    { ordinal, message }: { readonly ordinal: number; readonly message: string },
  ): void {
    const { sentAtUs } = terms;
    this.noteRenewal(boot, terms, { message, sentAtUs, under: ordinal, extended: ordinal });
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

  /** Records a release, which ends the lock's current grant if `isEffective`. */
  release(
    turn: Turn,
    {
      lock,
      client,
      isEffective,
      under = turn.under,
    }: Pick<GrantTerms, 'lock' | 'client'> & {
      readonly isEffective: boolean;
      /** The grant to release. Default: the turn's grant. */
      readonly under?: number;
    },
  ): void {
    const released = isEffective ? this.current(lock) : 0;
    const { atUs, message } = turn;
    const { process } = this;
    turn.observe({ kind: 'release', atUs, process, message, lock, client, under, released });
  }

  /** Records that the server ends the current grant. `why` is a clause: `its session was over`. */
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
   * For a server's `snapshot`: returns a function that calls `restore` and then restores the
   * recorder.
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
 * Records the grants of locks built on ordered keys: the oldest key of a lock holds the lock. A key
 * becomes a grant when its client learns that the key holds the lock.
 */
export class OrderedKeyRecorder<K extends { readonly lock: string }> extends GrantRecorder {
  private readonly line: ConstructorParameters<typeof OrderedKeyRecorder<K>>[1];
  /** Grant numbers by key number, for granted keys only. */
  private readonly given: Map<number, number> = new Map();

  constructor(
    process: string,
    line: {
      /** Returns a number that is unique among the keys of all locks. */
      readonly numberOf: (key: K) => number;
      /** Returns the terms of a key's grant, or the last terms if its session has ended. */
      readonly termsOf: (key: K, boot: Boot) => Required<GrantTerms>;
    },
  ) {
    super(process);
    this.line = line;
  }

  /** Records that a new key waits behind the key of `holder`. */
  wait(turn: Turn, { lock }: K, holder: string): void {
    this.deny(turn, { lock, client: turn.client, holder, waits: true });
  }

  /**
   * Records that the client learns in this turn that its key holds the lock. A key that was granted
   * before keeps its grant number. If the turn was kept waiting, `atUs` is the time of the grant.
   */
  give(turn: Turn, key: K, atUs: number = turn.atUs): void {
    const number = this.line.numberOf(key);
    const known = this.given.get(number);
    if (known !== undefined) {
      turn.grant(known);
      return;
    }
    this.grant(turn, this.line.termsOf(key, turn), atUs);
    this.given.set(number, this.current(key.lock));
  }

  /**
   * Records the deletion of `key`, or null if the key was already gone. Deleting a key without a
   * grant is not a release.
   */
  giveBack(turn: Turn, lock: string, key: K | null): void {
    const ordinal = key === null ? undefined : this.given.get(this.line.numberOf(key));
    const isEffective = ordinal !== undefined && ordinal === this.current(lock);
    if (!isEffective && turn.under === 0) return;
    this.release(turn, { lock, client: turn.client, isEffective });
  }

  /** Extends the grants of these keys, which share a session. `message` is as for `prolong`. */
  prolongAll(boot: Boot, keys: readonly K[], message: string): void {
    for (const key of keys) {
      const ordinal = this.given.get(this.line.numberOf(key));
      if (ordinal === undefined) continue;
      this.prolong(boot, this.line.termsOf(key, boot), { ordinal, message });
    }
  }
}
