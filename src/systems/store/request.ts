/** Requests to a store and its replies, common to all kinds of store. */
import type { Answer, Call } from '../../core/history/call.ts';
import type { Name } from '../../core/kernel/name.ts';
import type { CallSetting, CallState } from '../../core/world/calls.ts';
import type { Program, Self } from '../../core/world/program.ts';

/** An access to a store. `sequence` counts the accesses of a grant, from 1. */
export type StoreRequest = {
  readonly resource: string;
  readonly key: string;
  readonly token: number;
  readonly sequence: number;
} & (
  | {
      readonly kind: 'write';
      readonly value: number;
      /** The version that the key must have; null: never written; absent: any. */
      readonly version?: number | null;
      /** An identifier under which the write is applied at most once, or null. */
      readonly once?: string | null;
      /** The client's wall-clock time at the write. */
      readonly wallUs?: number;
      /** Increment to apply instead of storing `value`. */
      readonly adds?: number;
    }
  /** `fence` requests the highest token. */
  | { readonly kind: 'read' | 'open' | 'fence' }
);

type WriteRequest = Extract<StoreRequest, { readonly kind: 'write' }>;

/** The additional fields of a write to a store with versions. */
export type Condition = Required<Pick<WriteRequest, 'once' | 'wallUs'>> &
  Pick<WriteRequest, 'version' | 'adds'>;

/** A reply of a store. The trace records the entire reply. */
export type StoreReply = Extract<Answer, { readonly kind: 'accepted' | 'value' | 'refused' }>;

/** Client requirements of a store, as in `StoreDefinition`. */
export interface ClientRequirements {
  readonly needsOpen: boolean;
  readonly comparesItself: boolean;
  readonly hasVersions: boolean;
  readonly addsItself?: boolean;
}

/** A client's access, independent of the store's servers. */
export interface StoreAccess
  extends Pick<CallSetting<StoreRequest, StoreReply>, 'timeoutUs' | 'tries'> {
  readonly operation: Name;
  readonly call: Extract<Call, { readonly store: string }>;
}

/** An access in progress or completed. */
export interface PendingAccess {
  readonly setting: { readonly operation: Name };
  readonly isSettled: boolean;
  readonly state: CallState;
  /** True if an unanswered try may have been executed. */
  readonly mayHaveHappened: boolean;
  /** Null if no answer came. */
  readonly reply: StoreReply | null;
}

/** The client's side of a store that consists of several servers. */
export interface SeveralServers {
  /** Sends an access and waits for its answer. */
  ask(self: Self, access: StoreAccess): Program<PendingAccess>;
  /** Sends an access without waiting. */
  send(self: Self, access: StoreAccess): Program<PendingAccess>;
}
