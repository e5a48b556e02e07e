/**
 * How a client is written: a generator that yields what it wants of the world. Every `yield*` is a
 * point at which the world may pause, crash or delay it, so "checked the lease, was paused, wrote"
 * needs no extra code.
 */
import type { Job } from '../history/events.ts';
import type { Json } from '../kernel/json.ts';
import { type Name, under } from '../kernel/name.ts';
import {
  type Awaitable,
  type CallSetting,
  type PendingCall,
  Round,
  type RoundSetting,
} from './calls.ts';
import type { Entry, LeaseEnd, Quorum } from './client-view.ts';

export type Program<T> = Generator<Effect, T, void>;

export type Effect =
  | {
      readonly kind: 'send';
      readonly point: Name;
      readonly launch: () => void;
      /** What to wait for once it is sent: a resume less than a send and an await. */
      readonly awaits: Awaitable | null;
    }
  | { readonly kind: 'await'; readonly point: null; readonly call: Awaitable }
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
      readonly started: (background: Background) => void;
    };

/**
 * A second program of a process, such as a heartbeat. It shares the pauses, the crash and the clock
 * of its process with the main one; so do its calls and timers, which need names of their own.
 */
export interface Background {
  /** False once it has ended, was stopped or went down with its process. */
  readonly isRunning: boolean;
  /** It does nothing more, whatever it waits for. */
  stop(): void;
}

/** What a program knows of its own process, and what it says of itself to the observer. */
export interface Self {
  readonly name: string;
  monotonicUs(): number;
  wallUs(): number;
  /** A section begins: calls are numbered anew, and a restart goes on behind it. */
  beginSection(section: Name): void;
  /** It came to its end, whatever it achieved. */
  endSection(section: Name): void;
  /** Prepares a call under the present grant; it leaves when it is sent. */
  prepare<Q extends Json, R extends Json>(setting: CallSetting<Q, R>): PendingCall<Q, R>;
  launch<Q extends Json, R extends Json>(call: PendingCall<Q, R>): void;
  /** The place that the next prepared call will have among those of its section, from 1. */
  readonly nextIssue: number;
  /**
   * The grant that its ordinal numbers reached the program, which counts on it until its end. If it
   * is the one of the section before, calls are numbered on from there.
   */
  enter(entry: Entry): void;
  /** The program stops counting on its grant, but what it still does is done under it. */
  leave(): void;
  /** The program judged its lease by its own clock. */
  testLease(test: { isLive: boolean; end: LeaseEnd }): void;
  /** For locks that a client takes by a quorum of servers, none of which gives the grant alone. */
  readonly quorum: Quorum;
  /** A guarded job begins or ends. */
  job(phase: Job['phase'], job: { section: Name; lock: string; tick: number }): void;
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
export function* answerOf<C extends Awaitable>(call: C): Program<C> {
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

/** Waits `forUs` on the process's own monotonic clock. */
export function* sleep(timer: Name, forUs: number): Program<void> {
  yield { kind: 'sleep', point: null, timer, forUs, isJittered: false };
}

/** The same before it tries again: longer by the jitter that the plan's chance allows. */
export function* backOff(timer: Name, forUs: number): Program<void> {
  yield { kind: 'sleep', point: null, timer, forUs, isJittered: true };
}

/**
 * Starts a program beside this one, in the same process: it runs at once to where it first waits,
 * and then whenever what it waits for has come. It outlives this one, and ends by itself, by
 * `stop`, in a crash, or when nothing else is left to happen.
 */
export function* inBackground(program: Program<void>): Program<Background> {
  let background: Background = { isRunning: false, stop: () => {} };
  const started = (running: Background): void => {
    background = running;
  };
  yield { kind: 'background', point: null, program, started };
  return background;
}

/** Passes a point at which a plan may place a fault, e.g. `alice/1/checked`. */
export function* mark(section: Name, point: string): Program<void> {
  yield { kind: 'mark', point: under(section, point) };
}
