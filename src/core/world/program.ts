/**
 * The client API: a program is a generator that yields effects. The world may pause, crash or delay
 * it at every `yield*`, so "checked the lease, was paused, wrote" needs no extra code.
 */
import type { Read } from '../history/events.ts';
import type { Json } from '../kernel/json.ts';
import { type Name, under } from '../kernel/name.ts';
import {
  type Awaitable,
  type CallSetting,
  type PendingCall,
  Round,
  type RoundSetting,
} from './calls.ts';

/**
 * A client program: a generator that returns a `T`. It yields only through `yield*` of `request`,
 * `send`, `answerOf`, `sleep`, `backOff`, `mark`, `inBackground`, and other programs.
 */
export type Program<T> = Generator<
  | {
      readonly kind: 'send';
      readonly point: Name;
      /** @internal */
      readonly launch: () => void;
      /**
       * Call to wait for after sending, or null. A separate `await` effect would need one more
       * resume. @internal
       */
      readonly awaits: Awaitable | null;
    }
  | {
      readonly kind: 'await';
      readonly point: null;
      /** @internal */
      readonly call: Awaitable;
    }
  | {
      readonly kind: 'sleep';
      readonly point: null;
      readonly timer: Name;
      readonly forUs: number;
      readonly isJittered: boolean;
    }
  | { readonly kind: 'mark'; readonly point: Name }
  | {
      readonly kind: 'background';
      readonly point: null;
      readonly program: Program<void>;
      /** @internal */
      readonly started: (background: { readonly isRunning: boolean; stop(): void }) => void;
    },
  T,
  void
>;

export type Effect = Program<void> extends Generator<infer E> ? E : never;

export type Background = ReturnType<typeof inBackground> extends Program<infer B> ? B : never;

/** End of a lease as the client determines it, on one of its own clocks, in microseconds. */
export interface LeaseEnd {
  readonly clock: 'wall' | 'monotonic';
  readonly us: number;
}

/** A client's own process: its clocks, and its reports to the observer. */
export interface Self {
  readonly name: string;
  /** Returns its monotonic clock in microseconds. */
  monotonicUs(): number;
  /** Returns its wall clock in microseconds since 1970. */
  wallUs(): number;
  /**
   * Begins a section: call numbers start again from 1, and a restart continues after the section.
   * @internal
   */
  beginSection(section: Name): void;
  /**
   * Ends a section, regardless of its result.
   * @internal
   */
  endSection(section: Name): void;
  /**
   * Prepares a call under the current grant, without sending it.
   * @internal
   */
  prepare<Q extends Json, R extends Json>(setting: CallSetting<Q, R>): PendingCall<Q, R>;
  /** @internal */
  launch<Q extends Json, R extends Json>(call: PendingCall<Q, R>): void;
  /**
   * Position of the next prepared call in its section, from 1.
   * @internal
   */
  readonly nextIssue: number;
  /**
   * Records that the program relies on the grant numbered `ordinal` until `end`. If the previous
   * section had the same grant, call numbers continue.
   */
  enter(entry: {
    readonly section: Name;
    readonly lock: string;
    readonly ordinal: number;
    readonly token: number;
    readonly end: LeaseEnd;
  }): void;
  /**
   * Records that the program no longer relies on its grant. Later actions are still recorded under
   * the grant.
   */
  leave(): void;
  /** Records that the program checked its lease by its own clock. */
  testLease(test: { isLive: boolean; end: LeaseEnd }): void;
  /** Records grants that a client acquires from a quorum of servers instead of a single server. */
  readonly quorum: {
    /** Records that the client takes the lock. Returns the grant number, for `enter`. */
    grant(term: {
      readonly lock: string;
      /** Fencing token, or 0 for none. */
      readonly token: number;
      readonly ttlUs: number;
      /** First call of the acquisition. The lease begins when this call is sent. */
      readonly since: { readonly sentAtUs: number };
      /** End of the lease, as the client determines it. */
      readonly end: LeaseEnd;
      /**
       * True time from which too few servers hold the lease, or null if never. Default: the
       * client's `end`.
       */
      readonly heldUntilUs?: number | null;
    }): number;
    /** Records that enough servers confirmed an extension of the grant numbered `ordinal`. */
    renew(term: Parameters<Self['quorum']['grant']>[0] & { readonly ordinal: number }): void;
    /** Records that the client gives up the lock. Call this before sending the requests. */
    release(held: { readonly lock: string; readonly ordinal: number }): void;
    /**
     * Records a value that the client derived from the replies of several replicas.
     * @internal
     */
    serve(read: Omit<Read, 'atUs'>): void;
  };
  /** Records that a guarded job begins, ends or is skipped. */
  job(
    phase: 'begin' | 'end' | 'skip',
    job: { readonly section: Name; readonly lock: string; readonly tick: number },
  ): void;
  /** Writes a log line, such as `log('cache-lock', 'dropped without release')`. */
  log(topic: string, text: string): void;
}

/** Sends a call without waiting for its answer. */
export function* send<Q extends Json, R extends Json>(
  self: Self,
  setting: CallSetting<Q, R>,
): Program<PendingCall<Q, R>> {
  const call = self.prepare(setting);
  yield sending(self, call, null);
  return call;
}

/** Sends an access to several servers without waiting for their answers. */
export function* sendRound<Q extends Json, R extends Json>(
  self: Self,
  setting: RoundSetting<Q, R>,
): Program<Round<Q, R>> {
  const round = new Round<Q, R>(setting);
  const calls = setting.calls.map((part) =>
    self.prepare(Object.assign({}, part, { within: round })),
  );
  round.calls.push(...calls);
  const launch = (): void => {
    for (const call of calls) self.launch(call);
  };
  yield { kind: 'send', point: setting.operation, launch, awaits: null };
  return round;
}

/** Waits until a call is answered, or can no longer be answered. */
export function* answerOf<C extends { readonly isSettled: boolean }>(call: C): Program<C> {
  if (!call.isSettled) yield { kind: 'await', point: null, call };
  return call;
}

/** Sends a call and waits for its answer. */
export function* request<Q extends Json, R extends Json>(
  self: Self,
  setting: CallSetting<Q, R>,
): Program<PendingCall<Q, R>> {
  const call = self.prepare(setting);
  yield sending(self, call, call);
  return call;
}

function sending<Q extends Json, R extends Json>(
  self: Self,
  call: PendingCall<Q, R>,
  awaits: Awaitable | null,
): Effect {
  return { kind: 'send', point: call.setting.operation, launch: () => self.launch(call), awaits };
}

/** Waits `forUs` microseconds on the process's monotonic clock. Faults refer to `timer`. */
export function* sleep(timer: Name, forUs: number): Program<void> {
  yield { kind: 'sleep', point: null, timer, forUs, isJittered: false };
}

/** Waits before another attempt: like `sleep`, plus the jitter that the plan's chance draws. */
export function* backOff(timer: Name, forUs: number): Program<void> {
  yield { kind: 'sleep', point: null, timer, forUs, isJittered: true };
}

/**
 * Starts a background program in the same process, such as a heartbeat. It runs immediately until
 * it first waits. It shares the pauses, crashes, clock and connections of the process. The names of
 * its calls and timers must be unique in the process. It ends when it returns, when it is stopped,
 * in a crash, or when only background work is left.
 */
export function* inBackground(program: Program<void>): Program<{
  /** False once the program has ended. */
  readonly isRunning: boolean;
  /** Ends the program, even while it waits. */
  stop(): void;
}> {
  let background: Background = { isRunning: false, stop: () => {} };
  const started = (running: Background): void => {
    background = running;
  };
  yield { kind: 'background', point: null, program, started };
  return background;
}

/** Passes a point of a section at which a plan may place a fault, such as `alice/1/checked`. */
export function* mark(section: Name, point: string): Program<void> {
  yield { kind: 'mark', point: under(section, point) };
}
