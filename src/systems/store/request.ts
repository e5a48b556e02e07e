/** What a client asks of a store, and what a store answers, whatever its kind. */
import type { Answer } from '../../history/trace.ts';

/** What else a write to a store with versions says. */
export interface Condition {
  /** The version that the key must still have; null for whichever it has. */
  readonly version: number | null;
  /** Names what is written, so that it is not applied again; null for no name. */
  readonly once: string | null;
  /** The client's wall clock as it writes. */
  readonly wallUs: number;
}

export type StoreRequest =
  | {
      readonly kind: 'write';
      readonly resource: string;
      readonly key: string;
      readonly value: number;
      readonly token: number;
      readonly sequence: number;
      /** Of a `Condition`. */
      readonly version?: number | null;
      readonly once?: string | null;
      readonly wallUs?: number;
    }
  | {
      /** `fence` asks for the highest token. */
      readonly kind: 'read' | 'open' | 'fence';
      readonly resource: string;
      readonly key: string;
      readonly token: number;
      readonly sequence: number;
    };

export type StoreReply =
  | { readonly kind: 'accepted'; readonly version?: number }
  | { readonly kind: 'value'; readonly value: number; readonly version?: number }
  /** Compared with the highest token, or, where there is one, with the present version. */
  | { readonly kind: 'refused'; readonly highest: number; readonly version?: number };

/** What the trace says of a reply. */
export function describeStoreReply(reply: StoreReply): Answer {
  switch (reply.kind) {
    case 'accepted':
      return reply.version === undefined ? reply : { kind: 'accepted' };
    case 'value':
      return reply.version === undefined ? reply : { kind: 'value', value: reply.value };
    case 'refused':
      return reply;
  }
}

/** What a client must know of the stores it talks to. */
export interface Manners {
  /** Whether a token must be announced before its first access. */
  readonly needsOpen: boolean;
  /** Whether the client compares its token with the store's before it writes. */
  readonly comparesItself: boolean;
  /** Whether a read gives a version, and a write may name the one that it expects. */
  readonly hasVersions: boolean;
}
