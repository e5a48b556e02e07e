/**
 * Changes to a run. Each neutralizes one event, to test whether a breach depends on the event.
 * Draws are keyed by name, so the run differs only in the consequences. An intervention names its
 * event by message, operation or timer, so its meaning survives other changes. If the event does
 * not occur, the intervention has no effect.
 */
import type { Json } from '../kernel/json.ts';
import type { Name } from '../kernel/name.ts';
import type { Fault } from '../plan/fault.ts';

export type Intervention =
  /** Injects all faults except `fault`. Of several equal faults, only one is removed. */
  | { readonly kind: 'without fault'; readonly fault: Fault }
  /** Delivers a message after the plan's base latency. No fault or partition affects it. */
  | { readonly kind: 'message on time'; readonly message: string }
  /** Lets a timer run for its base length, without the drawn part. */
  | { readonly kind: 'timer on time'; readonly timer: string }
  /**
   * A lease or key that this request sets to expire lasts until the run ends, or the server keeps
   * its record of an ended lease until then.
   */
  | { readonly kind: 'expiry postponed'; readonly message: string; readonly of: Expiring }
  /**
   * The server does not execute the call. It sends only these replies, keyed by message name, when
   * the requests arrive.
   */
  | {
      readonly kind: 'call not sent';
      readonly operation: string;
      readonly replies: Readonly<Record<string, Json>>;
    }
  /** The server handles request `first` right after request `second`, which arrives later. */
  | { readonly kind: 'calls swapped'; readonly first: string; readonly second: string }
  /** Replaces the server's reply `message` with `reply`. The request is still executed. */
  | { readonly kind: 'reply replaced'; readonly message: string; readonly reply: Json };

/** A lease or key, or the record of a lease that has ended, which a server forgets later. */
export type Expiring = 'lease' | 'record';

export type InterventionKind = Intervention['kind'];

interface Swap {
  readonly first: string;
  readonly second: string;
  /** Handles `first`; null unless it has arrived and waits for `second`. */
  held: (() => void) | null;
  hasPassed: boolean;
}

/** The interventions in one run. */
export class Interventions {
  private readonly onTime: Set<string> = new Set();
  private readonly postponed: Map<string, Expiring> = new Map();
  private readonly withheld: Map<string, Readonly<Record<string, Json>>> = new Map();
  private readonly replies: Map<string, Json> = new Map();
  private readonly swaps: Swap[] = [];
  /** The faults that are not injected. */
  readonly removed: Fault[] = [];
  private readonly endUs: number;

  /** `endUs` is the time by which the run ends. */
  constructor(interventions: readonly Intervention[], endUs: number) {
    this.endUs = endUs;
    for (const change of interventions) this.add(change);
  }

  private add(change: Intervention): void {
    switch (change.kind) {
      case 'without fault':
        this.removed.push(change.fault);
        break;
      case 'message on time':
        this.onTime.add(change.message);
        break;
      case 'timer on time':
        this.onTime.add(change.timer);
        break;
      case 'expiry postponed':
        this.postponed.set(change.message, change.of);
        break;
      case 'call not sent':
        this.withheld.set(change.operation, change.replies);
        break;
      case 'calls swapped':
        this.swaps.push({
          first: change.first,
          second: change.second,
          held: null,
          hasPassed: false,
        });
        break;
      case 'reply replaced':
        this.replies.set(change.message, change.reply);
        break;
    }
  }

  /** Returns true if a message or timer must take its base latency or length. */
  isOnTime({ text }: Name): boolean {
    return this.onTime.size > 0 && this.onTime.has(text);
  }

  /** Returns the lifetime of a lease, key or record that `request` sets to expire after `ttlUs`. */
  lifetimeUs(request: string, ttlUs: number, of: Expiring): number {
    return this.postponed.get(request) === of ? Math.max(ttlUs, this.endUs) : ttlUs;
  }

  /** Returns the replies to a call that must not be executed, or null for any other call. */
  repliesWithout(operation: string): Readonly<Record<string, Json>> | null {
    return this.withheld.get(operation) ?? null;
  }

  /** Returns the replacement for a reply, or undefined if there is none. */
  replyInstead(message: string): Json | undefined {
    return this.replies.get(message);
  }

  /** Handles a message now, or later if it is the first of two swapped requests. */
  handleInOrder(message: string, handle: () => void): void {
    const swap = this.swaps.find(({ first }) => first === message);
    if (swap !== undefined && !swap.hasPassed && swap.held === null) {
      swap.held = handle;
      return;
    }
    handle();
    for (const ended of this.swaps) {
      if (ended.second !== message) continue;
      ended.hasPassed = true;
      ended.held?.();
      ended.held = null;
    }
  }

  /** False if every message is handled when it arrives. */
  get swapsCalls(): boolean {
    return this.swaps.length > 0;
  }
}
