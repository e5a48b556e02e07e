/**
 * Changes of a run that each neutralize one event, to show whether a breach depends on it: the run
 * without the event is otherwise the same, since every draw is keyed by name. Each intervention
 * names its event by message, operation or timer, never by position, so it still means the same if
 * other events change. One that names nothing in the run changes nothing.
 */
import type { Json } from '../kernel/json.ts';
import type { Name } from '../kernel/name.ts';
import type { Fault } from '../plan/fault.ts';

export type Intervention =
  /** Injects all faults but this one. Of several equal ones, one is removed. */
  | { readonly kind: 'without fault'; readonly fault: Fault }
  /** Sends a message with the plan's base latency. No fault and no partition affects it. */
  | { readonly kind: 'message on time'; readonly message: string }
  /** Lets a timer run for its base length, without the drawn part. */
  | { readonly kind: 'timer on time'; readonly timer: string }
  /** A lease that the server would end some time after this request lasts until the run ends. */
  | { readonly kind: 'expiry postponed'; readonly message: string }
  /**
   * The server does not execute a call. Its client gets the replies that are listed by message, at
   * the times at which the server would have sent them, and otherwise none.
   */
  | {
      readonly kind: 'call not sent';
      readonly operation: string;
      readonly replies: Readonly<Record<string, Json>>;
    }
  /** The server handles request `first` right after request `second`, which arrives later. */
  | { readonly kind: 'calls swapped'; readonly first: string; readonly second: string }
  /** The server executes a request, but its client gets this reply. */
  | { readonly kind: 'reply replaced'; readonly message: string; readonly reply: Json };

export type InterventionKind = Intervention['kind'];

/** Two requests whose order is swapped. */
interface Swap {
  readonly first: string;
  readonly second: string;
  /** Handles `first`, once it has arrived before `second`. */
  held: (() => void) | null;
  hasPassed: boolean;
}

/** The interventions in one run. */
export class Interventions {
  private readonly onTime: Set<string> = new Set();
  private readonly postponed: Set<string> = new Set();
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
        this.postponed.add(change.message);
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

  /** Returns true if a message or a timer takes its base time. */
  isOnTime({ text }: Name): boolean {
    return this.onTime.size > 0 && this.onTime.has(text);
  }

  /** Returns how long something lasts that a request would let expire after `ttlUs`. */
  lifetimeUs(request: string, ttlUs: number): number {
    return this.postponed.has(request) ? Math.max(ttlUs, this.endUs) : ttlUs;
  }

  /** Returns the replies, by message, to a call that no server executes, or null if one does. */
  repliesWithout(operation: string): Readonly<Record<string, Json>> | null {
    return this.withheld.get(operation) ?? null;
  }

  /** Returns the reply that the client gets instead of the server's, or undefined if none. */
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
