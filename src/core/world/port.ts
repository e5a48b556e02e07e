/** How asynchronous code calls a server over the simulated network, and how such a call may end. */
import type { Answer, Call } from '../history/call.ts';
import type { Json } from '../kernel/json.ts';
import type { ServerHost } from './calls.ts';

/** A server of the world as asynchronous code calls it, and what the trace says of each call. */
export interface Port<Q extends Json, R extends Json> {
  /** What `World.addServer` returned. */
  readonly host: ServerHost<Q, R>;
  readonly describeRequest: (request: Q) => Call;
  /** Null where it was answered with nothing about what was asked, and nothing was done. */
  readonly describeReply: (reply: R, request: Q) => Answer | null;
}

/**
 * How a call ended, as far as its client can know: answered; `unknown`, so that it may have
 * happened or happen yet; or `never` executed. It is never thrown, since the world may do this.
 */
export type Outcome<R> =
  | { readonly kind: 'answered'; readonly reply: R }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'never' };

export type CallOptions = NonNullable<Parameters<Caller['call']>[2]>;

/** Calls servers: an `AsyncClient`, or one of its sections. */
export interface Caller {
  /**
   * Calls a server. The operation is `alice/1/<label>`, the second of that label in its section
   * `alice/1/<label>-2`; a plan names faults by it.
   */
  call<Q extends Json, R extends Json>(
    port: Port<Q, R>,
    ask: { readonly label: string; readonly request: Q },
    options?: {
      /** In milliseconds of the client's own clock. Default: it waits for ever. */
      readonly timeoutMs?: number;
      /** How often it is sent while its outcome is unknown. Default 1. */
      readonly tries?: number;
      /** The place that an error names, where calls are wrapped. @internal */
      readonly site?: { readonly stack?: string };
      /** Nobody waits for its end: a section may end before. @internal */
      readonly outlivesSection?: true;
      /** It was sent together with others, of which sections nobody knows. @internal */
      readonly isBatched?: boolean;
    },
  ): Promise<Outcome<R>>;
}
