/** Names and makes the store calls of a section. */
import { assert } from '../core/kernel/assert.ts';
import type { Draft } from '../core/kernel/json.ts';
import { type Name, under } from '../core/kernel/name.ts';
import type { CallSetting } from '../core/world/calls.ts';
import { type Program, request, send } from '../core/world/program.ts';
import type { Change, Section } from './protocol.ts';
import type {
  Condition,
  PendingAccess,
  StoreAccess,
  StoreReply,
  StoreRequest,
} from './store/request.ts';

type WriteRequest = Extract<StoreRequest, { readonly kind: 'write' }>;

/** The name and target of a store access. */
export interface AccessPlace {
  readonly id: number;
  readonly label: string;
  readonly store: string;
  readonly key: string;
  /** Number of earlier tries of the same step. Default 0. */
  readonly again?: number;
}

/** Returns `write` for id 1, `write-2` for id 2, and so on. */
export function part(verb: string, id: number): string {
  return id === 1 ? verb : `${verb}-${id}`;
}

/** Returns a function that names a section's operations: `alice/1/beat`, `alice/1/beat-2`, …. */
export function namesUnder(section: Name): Section['nextName'] {
  const counts = new Map<string, number>();
  return (label) => {
    const count = (counts.get(label) ?? 0) + 1;
    counts.set(label, count);
    return under(section, part(label, count));
  };
}

/** Returns `write`, or `write-2` for step 2; if repeated, `write-again` or `write-2-again-2`. */
export function labelOf(place: Pick<AccessPlace, 'label' | 'id' | 'again'>): string {
  const { again = 0 } = place;
  const first = part(place.label, place.id);
  return again === 0 ? first : `${first}-${part('again', again)}`;
}

interface WriteAsk {
  readonly kind: 'write';
  readonly key: string;
  readonly value: number;
  readonly adds: number | null;
  /** Only for stores with versions. */
  readonly condition?: Condition | undefined;
  /** The operation that this write repeats. */
  readonly repeats?: string | undefined;
  /** The operation from which the guard learned the key's value. */
  readonly base?: string | undefined;
}

export type StoreAsk =
  | WriteAsk
  | { kind: 'read' | 'open' | 'fence'; key: string; value: null; adds: null };

/** The section's lock names the resource. */
function accessOf(at: Section, place: AccessPlace, ask: StoreAsk): StoreAccess {
  const resource = at.section.lock;
  const token = carriedToken(at);
  const { kind: verb, key, value, adds } = ask;
  const { store } = place;
  const call: Draft<StoreAccess['call']> = { verb, store, resource, key, value, token, adds };
  if (ask.kind === 'write') {
    const version = ask.condition?.version;
    if (version !== undefined) call.version = version;
    if (ask.repeats !== undefined) call.repeats = ask.repeats;
    if (ask.base !== undefined) call.base = ask.base;
  }
  const { storeTimeoutUs: timeoutUs, tries } = at.plan;
  return { operation: under(at.name, labelOf(place)), call, timeoutUs, tries };
}

/** Returns the token that an access carries now; 0 if there is none. */
export function carriedToken(at: Section): number {
  return at.driver.token?.(at.section.lock) ?? at.token;
}

/**
 * Reads or writes a value for a driver's `change`, with the section's token, and waits for the
 * answer. `again` counts the earlier reads, or writes, of this change. `version` is the version
 * that a write expects (null: never written; absent: any). The store applies writes with the same
 * `once` at most once (null: no identifier). Returns the reply, or null if no answer came, and
 * whether an unanswered try may have been executed.
 */
export function* accessStore(
  at: Section,
  { id, store, key, labels, by }: Change,
  {
    again,
    write,
  }: {
    readonly again: number;
    readonly write?: {
      readonly value: number;
      readonly version?: number | null | undefined;
      readonly once: string | null;
    };
  },
): Program<{ readonly reply: StoreReply | null; readonly isUnknown: boolean }> {
  const ask: StoreAsk =
    write === undefined ? { kind: 'read', key, value: null, adds: null } : writeOf(write);
  const label = write === undefined ? labels.read : labels.write;
  const { reply, state, mayHaveHappened } = yield* askStore(
    at,
    { id, label, store, key, again },
    ask,
  );
  return { reply, isUnknown: mayHaveHappened || state === 'unknown' };

  function writeOf({ value, version, once }: NonNullable<typeof write>): WriteAsk {
    const adds = 'adds' in by ? by.adds : null;
    const first = under(at.name, part(labels.write, id)).text;
    const condition = conditionOf(at, { adds }, { version, once });
    return { kind: 'write', key, value, adds, condition, repeats: again === 0 ? undefined : first };
  }
}

/** Makes a store access and waits for its answer. */
export function askStore(at: Section, place: AccessPlace, ask: StoreAsk): Program<PendingAccess> {
  const access = accessOf(at, place, ask);
  const { replicas } = at.servers;
  return replicas === undefined
    ? request(at.self, storeCall(at, access, ask))
    : replicas.ask(at.self, access);
}

/** Makes a store access without waiting for its answer. */
export function sendToStore(
  at: Section,
  place: AccessPlace,
  ask: StoreAsk,
): Program<PendingAccess> {
  const access = accessOf(at, place, ask);
  const { replicas } = at.servers;
  return replicas === undefined
    ? send(at.self, storeCall(at, access, ask))
    : replicas.send(at.self, access);
}

function storeCall(
  at: Section,
  { operation, call, timeoutUs, tries }: StoreAccess,
  ask: StoreAsk,
): CallSetting<StoreRequest, StoreReply> {
  const target = at.servers.stores.get(call.store);
  assert(target !== undefined, `there is no store ${call.store}`);
  const { resource, token } = call;
  const asked = requestOf(ask, { resource, token, sequence: at.self.nextIssue });
  return {
    operation,
    call,
    target,
    request: asked,
    timeoutUs,
    tries,
    describe: (reply) => reply,
  };
}

/** Returns the condition of a write, or undefined if the store has no versions. */
export function conditionOf(
  { versions, servers, self }: Section,
  { adds }: { readonly adds: number | null },
  { version, once }: { readonly version?: number | null | undefined; readonly once: string | null },
): Condition | undefined {
  if (versions === null) return undefined;
  const wallUs = self.wallUs();
  const sent: Draft<Condition> =
    version === undefined ? { once, wallUs } : { version, once, wallUs };
  if (adds !== null && servers.requirements.addsItself) sent.adds = adds;
  return sent;
}

function requestOf(
  ask: StoreAsk,
  { resource, token, sequence }: { resource: string; token: number; sequence: number },
): StoreRequest {
  const { key } = ask;
  if (ask.kind !== 'write') return { kind: ask.kind, resource, key, token, sequence };
  const { kind, value, condition } = ask;
  const sent: WriteRequest = { kind, resource, key, token, sequence, value };
  return Object.assign(sent, condition);
}
