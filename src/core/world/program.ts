/**
 * How a client is written: a generator that yields what it wants of the world. Every `yield*` is a
 * point at which the world may pause, crash or delay it, so "checked the lease, was paused, wrote"
 * needs no extra code.
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
 * What a client does, as a generator that returns a `T`. It yields only by `yield*` of `request`,
 * `send`, `answerOf`, `sleep`, `backOff`, `mark`, `inBackground`, and of other programs.
 */
export type Program<T> = Generator<
  | {
      readonly kind: 'send';
      readonly point: Name;
      /** @internal */
      readonly launch: () => void;
      /** What to wait for once it is sent: a resume less than a send and an await. @internal */
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

/** When a client takes its lease to end, on one of its own clocks, in microseconds. */
export interface LeaseEnd {
  readonly clock: 'wall' | 'monotonic';
  readonly us: number;
}

/** A client's own process: its clocks, and what it reports to the observer. */
export interface Self {
  readonly name: string;
  /** What its monotonic clock shows, in microseconds. */
  monotonicUs(): number;
  /** What its wall clock shows, in microseconds since 1970. */
  wallUs(): number;
  /**
   * A section begins: calls are numbered anew, and a restart goes on behind it.
   * @internal
   */
  beginSection(section: Name): void;
  /**
   * It came to its end, whatever it achieved.
   * @internal
   */
  endSection(section: Name): void;
  /**
   * Prepares a call under the present grant; it leaves when it is sent.
   * @internal
   */
  prepare<Q extends Json, R extends Json>(setting: CallSetting<Q, R>): PendingCall<Q, R>;
  /** @internal */
  launch<Q extends Json, R extends Json>(call: PendingCall<Q, R>): void;
  /**
   * The place that the next prepared call will have among those of its section, from 1.
   * @internal
   */
  readonly nextIssue: number;
  /**
   * Records that the grant numbered `ordinal` reached the program, which counts on it until `end`.
   * If it is the one of the section before, calls are numbered on from there.
   */
  enter(entry: {
    readonly section: Name;
    readonly lock: string;
    readonly ordinal: number;
    readonly token: number;
    readonly end: LeaseEnd;
  }): void;
  /** The program stops counting on its grant, but what it still does is done under it. */
  leave(): void;
  /** The program judged its lease by its own clock. */
  testLease(test: { isLive: boolean; end: LeaseEnd }): void;
  /** For locks that a client takes by a quorum of servers, none of which gives the grant alone. */
  readonly quorum: {
    /** The client takes the lock. Returns the number of its grant, for `enter`. */
    grant(term: {
      readonly lock: string;
      /** The fencing token; 0 for none. */
      readonly token: number;
      readonly ttlUs: number;
      /** The first of the calls that the answer rests on: the lease counts from its departure. */
      readonly since: { readonly sentAtUs: number };
      /** When the client takes the lease to end. */
      readonly end: LeaseEnd;
      /**
       * True time from which on too few of the servers hold the lease, as the observer knows; null
       * if it has no end. Default: the client's own end.
       */
      readonly heldUntilUs?: number | null;
    }): number;
    /** Enough servers said that they prolong the grant numbered `ordinal`. */
    renew(term: Parameters<Self['quorum']['grant']>[0] & { readonly ordinal: number }): void;
    /** The client gives the lock up; to be called before its servers are asked. */
    release(held: { readonly lock: string; readonly ordinal: number }): void;
    /**
     * The client takes this value for what several replicas hold together.
     * @internal
     */
    serve(read: Omit<Read, 'atUs'>): void;
  };
  /** A guarded job begins or ends. */
  job(
    phase: 'begin' | 'end' | 'skip',
    job: { readonly section: Name; readonly lock: string; readonly tick: number },
  ): void;
  /** The program logs something, e.g. `log('cache-lock', 'dropped without release')`. */
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

/** Sends an access to several servers, without waiting for their answers. */
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

/** Waits until a call is answered, or no answer can come any more. */
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

/** Waits `forUs` microseconds on the process's own monotonic clock. `timer` names it for faults. */
export function* sleep(timer: Name, forUs: number): Program<void> {
  yield { kind: 'sleep', point: null, timer, forUs, isJittered: false };
}

/** Waits before another try: as `sleep`, and longer by the jitter that the plan's chance draws. */
export function* backOff(timer: Name, forUs: number): Program<void> {
  yield { kind: 'sleep', point: null, timer, forUs, isJittered: true };
}

/**
 * Starts a program beside this one, such as a heartbeat, in the same process: it runs at once to
 * where it first waits, and then whenever what it waits for has come. It shares the pauses, the
 * crash and the clock of the process; so do its calls and timers, which need names of their own. It
 * outlives this one, and ends by itself, by `stop`, in a crash, or when nothing else is left to
 * happen.
 */
export function* inBackground(program: Program<void>): Program<{
  /** False once it has ended, was stopped or went down with its process. */
  readonly isRunning: boolean;
  /** It does nothing more, whatever it waits for. */
  stop(): void;
}> {
  let background: Background = { isRunning: false, stop: () => {} };
  const started = (running: Background): void => {
    background = running;
  };
  yield { kind: 'background', point: null, program, started };
  return background;
}

/** Passes a point of a section at which a plan may place a fault, e.g. `alice/1/checked`. */
export function* mark(section: Name, point: string): Program<void> {
  yield { kind: 'mark', point: under(section, point) };
}
