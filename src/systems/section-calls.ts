/**
 * What a section knows while it runs, and what its calls to a store say, with the cached token
 * attached.
 */
import { assert } from '../kernel/assert.ts';
import { type Name, under } from '../kernel/name.ts';
import type { ClientPlan, SectionPlan } from '../plan/plan.ts';
import type { CallSetting, PendingCall } from '../world/call.ts';
import type { LeaseEnd, Self } from '../world/program.ts';
import type { ServerHost } from '../world/server.ts';
import type { LockDriver } from './protocol.ts';
import { describeStoreReply, type StoreReply, type StoreRequest } from './store/store-server.ts';

/** The servers that a client talks to. */
export interface Servers {
  /** The lock protocol's driver for a client. */
  readonly driverOf: (client: ClientPlan) => LockDriver;
  readonly stores: ReadonlyMap<string, ServerHost<StoreRequest, StoreReply>>;
  /** Whether the stores want a token announced before its first access. */
  readonly needsOpen: boolean;
}

type StoreCall = PendingCall<StoreRequest, StoreReply>;

/** One section as its program goes through it. */
export interface Section {
  readonly self: Self;
  readonly plan: ClientPlan;
  readonly section: SectionPlan;
  readonly name: Name;
  readonly driver: LockDriver;
  readonly servers: Servers;
  /** Calls that were sent and not waited for. */
  readonly unanswered: StoreCall[];
  readonly opened: Set<string>;
  end: LeaseEnd;
}

/** What a store access is called, and what it is for. */
export interface Place {
  readonly id: number;
  readonly label: string;
  readonly store: string;
  readonly key: string;
}

/** `write`, `write-2`, …: the first of a kind has no number. */
export function part(verb: string, id: number): string {
  return id === 1 ? verb : `${verb}-${id}`;
}

/**
 * A store access under the section's lock, which names the resource, with the cached token
 * attached.
 */
export function storeCall(
  at: Section,
  place: Place,
  ask:
    | { kind: 'write'; key: string; value: number; adds: number | null }
    | { kind: 'read' | 'open'; key: string; value: null; adds: null },
): CallSetting<StoreRequest, StoreReply> {
  const target = at.servers.stores.get(place.store);
  assert(target !== undefined, `there is no store ${place.store}`);
  const resource = at.section.lock;
  const token = at.driver.token(resource);
  const access = { resource, key: ask.key, token, sequence: at.self.nextIssue };
  const sent: StoreRequest =
    ask.kind === 'write'
      ? { kind: 'write', ...access, value: ask.value }
      : { kind: ask.kind, ...access };
  return {
    operation: under(at.name, part(place.label, place.id)),
    call: {
      verb: ask.kind,
      store: place.store,
      resource,
      key: ask.key,
      value: ask.value,
      token,
      adds: ask.adds,
    },
    target,
    request: sent,
    timeoutUs: at.plan.storeTimeoutUs,
    tries: at.plan.tries,
    describe: describeStoreReply,
  };
}
