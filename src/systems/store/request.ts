/** What a client asks of a store, and what a store answers, whatever its kind. */
import type { Answer, Call } from '../../core/history/call.ts';
import type { Name } from '../../core/kernel/name.ts';
import type { CallSetting, CallState } from '../../core/world/calls.ts';
import type { Program, Self } from '../../core/world/program.ts';

/** An access as it travels to a store. `sequence` is its place among those of its grant, from 1. */
export type StoreRequest = {
  readonly resource: string;
  readonly key: string;
  readonly token: number;
  readonly sequence: number;
} & (
  | {
      readonly kind: 'write';
      readonly value: number;
      /** The version that the key must have, null for a key never written; absent: any. */
      readonly version?: number | null;
      /** Names what is written, so that it is not applied again; null for no name. */
      readonly once?: string | null;
      /** The client's wall clock as it writes. */
      readonly wallUs?: number;
      /** What the store is to add to the value that it finds; absent: it takes the value. */
      readonly adds?: number;
    }
  /** `fence` asks for the highest token. */
  | { readonly kind: 'read' | 'open' | 'fence' }
);

type WriteRequest = Extract<StoreRequest, { readonly kind: 'write' }>;

/** What else a write to a store with versions says. */
export type Condition = Required<Pick<WriteRequest, 'once' | 'wallUs'>> &
  Pick<WriteRequest, 'version' | 'adds'>;

/** What a store answers. The trace says all of it. */
export type StoreReply = Extract<Answer, { readonly kind: 'accepted' | 'value' | 'refused' }>;

/** What a client must know of the stores it talks to, as `StoreDefinition` says it. */
export interface Manners {
  readonly needsOpen: boolean;
  readonly comparesItself: boolean;
  readonly hasVersions: boolean;
  readonly addsItself?: boolean;
}

/** An access as a client makes it, whoever is asked. */
export interface StoreAccess
  extends Pick<CallSetting<StoreRequest, StoreReply>, 'timeoutUs' | 'tries'> {
  readonly operation: Name;
  readonly call: Extract<Call, { readonly store: string }>;
}

/** An access under way, and how it ended. */
export interface PendingAccess {
  readonly setting: { readonly operation: Name };
  readonly isSettled: boolean;
  readonly state: CallState;
  /** Whether a try of which nobody heard may have been executed. */
  readonly mayHaveHappened: boolean;
  /** Null where no answer came. */
  readonly reply: StoreReply | null;
}

/** How clients talk to a store that is several servers. */
export interface SeveralServers {
  /** Sends an access and waits for its answer. */
  ask(self: Self, access: StoreAccess): Program<PendingAccess>;
  /** Sends it without waiting. */
  send(self: Self, access: StoreAccess): Program<PendingAccess>;
}
