/** Calls from asynchronous code to a server over the simulated network, and their outcomes. */
import type { Answer, Call } from '../history/call.ts';
import type { Json } from '../kernel/json.ts';
import type { ServerHost } from './calls.ts';

/** A server that asynchronous code calls, and the trace forms of its calls. */
export interface Port<Q extends Json, R extends Json> {
  /** The result of `World.addServer`. */
  readonly host: ServerHost<Q, R>;
  readonly describeRequest: (request: Q) => Call;
  /** Returns null if the reply does not answer the request and nothing was done. */
  readonly describeReply: (reply: R, request: Q) => Answer | null;
}

/**
 * Outcome of a call as far as the client can know. An `unknown` call may be executed, now or later;
 * a `never` call is not executed.
 */
export type Outcome<R> =
  | { readonly kind: 'answered'; readonly reply: R }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'never' };

export type CallOptions = NonNullable<Parameters<Caller['call']>[2]>;

/** Calls servers: an `AsyncClient`, or one of its sections. */
export interface Caller {
  /**
   * Calls a server. The operation is named `alice/1/<label>`, or `alice/1/<label>-2` for the second
   * operation with that label in its section. Plans place faults by that name.
   */
  call<Q extends Json, R extends Json>(
    port: Port<Q, R>,
    ask: { readonly label: string; readonly request: Q },
    options?: {
      /** Timeout in milliseconds of the client's own clock. Default: none. */
      readonly timeoutMs?: number;
      /** Maximum number of attempts while the outcome is unknown. Default 1. */
      readonly tries?: number;
      /** Call site for errors, if calls are wrapped. @internal */
      readonly site?: { readonly stack?: string };
      /** True if the section may end before the call does. @internal */
      readonly outlivesSection?: true;
      /** True if the call was sent in a batch, so that its section is unknown. @internal */
      readonly isBatched?: boolean;
    },
  ): Promise<Outcome<R>>;
}
