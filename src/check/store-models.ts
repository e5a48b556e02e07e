/**
 * Defines the models by which `linearizable` may judge the clients' history of one resource in one
 * store, and converts operations to the calls of each model. Omits operations that were never
 * executed and, except in fenced models, reads without an answer. A write with an unknown outcome
 * may take effect at any time after its call.
 */
import type { Answer, Call } from '../core/history/call.ts';
import { addTo, entryOf } from '../core/kernel/entries.ts';
import type { Json } from '../core/kernel/json.ts';
import { checkHistory } from '../linearizability/check-history.ts';
import type { CallData, Model, Operation } from '../linearizability/model.ts';
import { type CounterCall, counter } from '../linearizability/models/counter.ts';
import {
  type FencedCall,
  fencedRegister,
  fencedRegisterWithReads,
} from '../linearizability/models/fenced-register.ts';
import {
  type CasRegisterCall,
  casRegister,
  type RegisterCall,
  register,
} from '../linearizability/models/register.ts';
import {
  type VersionedCall,
  versionedRegister,
} from '../linearizability/models/versioned-register.ts';
import { isShared } from './contents.ts';
import { type FirstRow, INITIAL_VALUE, type OperationLog, type TraceIndex } from './trace-index.ts';

/**
 * A model of a store, and the form of its calls. `register` sees reads and writes, but no refused
 * ones. `fenced` also sees tokens, refusals and announcements. `counter` sees a read and its write
 * as one increment. `versioned` sees the versions that reads returned and writes created. `cas`
 * sees a write that names a version as a comparison with the value that its client knows. Every
 * value starts at 0 unless the store reports another.
 */
export type ModelDefinition =
  | ModelForm<'register', RegisterCall>
  | ModelForm<'fenced', FencedCall>
  | ModelForm<'counter', CounterCall>
  | ModelForm<'versioned', VersionedCall>
  | ModelForm<'cas', CasRegisterCall>;

/** A model for calls of one form. */
export interface ModelForm<Calls extends string, C extends CallData> {
  readonly about: string;
  readonly calls: Calls;
  readonly model: Model<Json, C>;
  /**
   * Creates the model for a store with other initial values. By default, `model` is used.
   * @internal
   */
  readonly from?: (first: FirstRow) => Model<Json, C>;
}

const UNWRITTEN: FirstRow = { value: INITIAL_VALUE, version: 0 };

/** The result of checking one resource in one store. */
export type ModelVerdict =
  | { readonly kind: 'valid' | 'unknown' }
  | { readonly kind: 'invalid'; readonly at: StoreOperation | undefined };

/** The models, by the names that claims and stores use. */
export const storeModels: ReadonlyMap<string, ModelDefinition> = new Map<string, ModelDefinition>([
  ['register', builtInModel('register', 'a plain register', ({ value }) => register(value))],
  ['counter', builtInModel('counter', 'a counter', ({ value }) => counter(value))],
  [
    'fenced-register',
    builtInModel(
      'fenced',
      'a write is accepted iff its token is at least the highest',
      ({ value }) => fencedRegister({ initial: value }),
    ),
  ],
  [
    'fenced-register-strict',
    builtInModel('fenced', 'a write is accepted iff its token is above the highest', ({ value }) =>
      fencedRegister({ initial: value, isStrict: true }),
    ),
  ],
  [
    'fenced-register-with-reads',
    builtInModel('fenced', 'a read registers its token too', ({ value }) =>
      fencedRegisterWithReads(value),
    ),
  ],
  [
    'versioned-register',
    builtInModel('versioned', 'each write raises the version by one', ({ value, version }) =>
      versionedRegister(value, version),
    ),
  ],
  [
    'cas-register',
    builtInModel(
      'cas',
      'a write that names a version is accepted only over what its client read',
      (first) => casRegister(first.value),
    ),
  ],
]);

const builtInModels: ReadonlySet<ModelDefinition> = new Set(storeModels.values());

function builtInModel<Calls extends string, C extends CallData>(
  calls: Calls,
  about: string,
  from: (first: FirstRow) => Model<Json, C>,
): ModelForm<Calls, C> {
  return { about, calls, model: from(UNWRITTEN), from };
}

/**
 * Checks whether these operations fit a model; `at` is the operation whose answer fits no order.
 */
export function checkStore(
  operations: readonly StoreOperation[],
  definition: ModelDefinition,
  {
    first,
    maxConfigurations,
  }: { readonly first: FirstRow | null; readonly maxConfigurations: number },
): ModelVerdict {
  return asSeen(operations, { definition, first }, (seen, model) => {
    const replayed = isBuiltInModel(definition) ? replayAsReturned(seen.history, model) : 'open';
    if (replayed === 'fits') return { kind: 'valid' };
    if (replayed !== 'open') return { kind: 'invalid', at: seen.sources[replayed] };
    return checkAgainst(seen, model, maxConfigurations);
  });
}

/** Calls `use` with a model, and with the operations as calls of that model. */
export function asSeen<T>(
  operations: readonly StoreOperation[],
  { definition, first }: { readonly definition: ModelDefinition; readonly first: FirstRow | null },
  use: <C extends CallData>(seen: ClientHistory<C>, model: Model<Json, C>) => T,
): T {
  switch (definition.calls) {
    case 'register':
      return use(registerHistory(operations), modelFrom(definition, first));
    case 'fenced':
      return use(fencedHistory(operations), modelFrom(definition, first));
    case 'counter':
      return use(counterHistory(operations), modelFrom(definition, first));
    case 'versioned':
      return use(versionedHistory(operations), modelFrom(definition, first));
    case 'cas':
      return use(casHistory(operations), modelFrom(definition, first));
  }
}

function modelFrom<C extends CallData>(
  { model, from }: ModelForm<string, C>,
  first: FirstRow | null,
): Model<Json, C> {
  return first === null ? model : (from?.(first) ?? model);
}

function checkAgainst<C extends CallData>(
  seen: ClientHistory<C>,
  model: Model<Json, C>,
  maxConfigurations: number,
): ModelVerdict {
  const verdict = checkHistory(seen.history, model, { maxConfigurations });
  if (verdict.kind !== 'invalid') return { kind: verdict.kind };
  return { kind: 'invalid', at: seen.sources[verdict.at] };
}

/** Returns true for a built-in model, whose steps never throw. */
export function isBuiltInModel(definition: ModelDefinition): boolean {
  return builtInModels.has(definition);
}

/**
 * Replays the answered operations in the order of their returns, which is cheap and decides most
 * runs. Returns `fits` if the model allows this order. The order is then a solution, since it
 * respects calls that do not overlap. If the model refuses an operation and no calls up to its
 * return overlap, no other order is possible: returns the index of the operation. Otherwise returns
 * `open`.
 */
function replayAsReturned<C extends CallData>(
  history: readonly Operation<C>[],
  model: Model<Json, C>,
): 'fits' | 'open' | number {
  const answered = inOrderOfReturns(history);
  const states = new Map<string, Json>();
  for (const operation of answered) {
    const { call } = operation;
    const part = model.partition?.(call) ?? '';
    const [next, ...others] = model.step(states.get(part) ?? model.init, call);
    if (others.length > 0) return 'open';
    if (next === undefined) {
      return isAlone(history, answered, operation) ? history.indexOf(operation) : 'open';
    }
    states.set(part, next);
  }
  return 'fits';
}

/** Returns the answered operations in the order of their returns. Sorts only if necessary. */
function inOrderOfReturns<C>(history: readonly Operation<C>[]): readonly Operation<C>[] {
  const answered: Operation<C>[] = [];
  let lastReturn = Number.NEGATIVE_INFINITY;
  let isInOrder = true;
  for (const operation of history) {
    if (operation.outcome !== 'ok') continue;
    const end = operation.return ?? 0;
    if (end < lastReturn) isInOrder = false;
    lastReturn = end;
    answered.push(operation);
  }
  return isInOrder ? answered : answered.sort((a, b) => (a.return ?? 0) - (b.return ?? 0));
}

/** Returns true if all operations called by the return of `last` ran one at a time. */
function isAlone<C>(
  history: readonly Operation<C>[],
  answered: readonly Operation<C>[],
  last: Operation<C>,
): boolean {
  const end = last.return ?? 0;
  let before = 0;
  let lastReturn = Number.NEGATIVE_INFINITY;
  for (const operation of answered) {
    if (operation.invoke <= lastReturn) return false;
    lastReturn = operation.return ?? 0;
    before += 1;
    if (operation === last) break;
  }
  let called = 0;
  for (const { invoke } of history) if (invoke <= end) called += 1;
  return called === before;
}

type StoreCall = Extract<Call, { readonly store: string }>;

/** An operation on a store. Operations that certainly had no effect are excluded. */
export interface StoreOperation {
  readonly log: OperationLog;
  readonly call: StoreCall;
  /** Null if unknown. */
  readonly answer: Answer | null;
  readonly isAnswered: boolean;
  /** True if its key exists in several stores. */
  readonly isShared: boolean;
}

/** A history, and the source of each of its operations. */
export interface ClientHistory<C> {
  readonly history: readonly Operation<C>[];
  readonly sources: readonly StoreOperation[];
}

/** Returns the operations of each resource in each store, in call order. */
export function storeOperations(indexed: TraceIndex): readonly (readonly StoreOperation[])[] {
  const stores = new Map<string, Map<string, StoreOperation[]>>();
  for (const log of indexed.operations.values()) {
    const { call } = log.invoke.event;
    const returned = log.return?.event;
    if (!('store' in call) || call.verb === 'fence' || returned?.outcome === 'fail') continue;
    // An "applied before" answer does not state whether this attempt or an earlier one was applied.
    const isRepeat = returned?.answer?.kind === 'accepted' && returned.answer.isRepeated === true;
    const isAnswered = returned?.outcome === 'ok' && !isRepeat;
    const answer = isAnswered ? returned.answer : null;
    const operation = { log, call, answer, isAnswered, isShared: isShared(indexed, call) };
    const resources = entryOf(stores, call.store, () => new Map());
    addTo(resources, call.resource, operation);
  }
  return [...stores.values()].flatMap((resources) => [...resources.values()]);
}

/**
 * Converts operations to calls of a plain register, in which a refused call counts as not executed.
 */
export function registerHistory(
  operations: readonly StoreOperation[],
): ClientHistory<RegisterCall> {
  return historyOf(operations, ({ call, answer, isAnswered }) => {
    const { key, value } = call;
    if (call.verb === 'write') {
      return answer?.kind === 'refused' ? null : { name: 'write', key, value };
    }
    if (call.verb !== 'read' || !isAnswered || answer?.kind !== 'value') return null;
    return { name: 'read', key, value: answer.value };
  });
}

/**
 * Converts operations to calls of a register that compares tokens, in which a refusal is an answer.
 * A read whose answer was lost is kept: if reads register their tokens, its token may have locked
 * out other clients.
 */
export function fencedHistory(operations: readonly StoreOperation[]): ClientHistory<FencedCall> {
  return historyOf(operations, ({ call, answer }) => {
    const { resource, key, token } = call;
    if (call.verb === 'read') {
      const served = answer?.kind === 'value' ? answer.value : 'refused';
      const value = answer === null ? 'unknown' : served;
      return { name: 'read', resource, key, token, value };
    }
    const acceptance = answer?.kind === 'accepted' ? 'accepted' : 'refused';
    const outcome = answer === null ? 'unknown' : acceptance;
    if (call.verb === 'open') return { name: 'open', resource, token, answer: outcome };
    return { name: 'write', resource, key, value: call.value, token, answer: outcome };
  });
}

/**
 * Converts operations to calls of a counter: a read followed by the write of its sum is one
 * increment, from the call of the read to the return of the write. Omits keys that are also written
 * in another way or moved between stores.
 */
export function counterHistory(operations: readonly StoreOperation[]): ClientHistory<CounterCall> {
  const overwritten = new Set<string>();
  const readOfIncrement = new Map<StoreOperation, StoreOperation>();
  const lastRead = new Map<string, StoreOperation>();
  for (const operation of operations) {
    const { call, log } = operation;
    const reader = `${log.invoke.event.process} ${call.key}`;
    if (call.verb === 'read') lastRead.set(reader, operation);
    if (call.verb !== 'write') continue;
    if (call.adds === null || operation.isShared) overwritten.add(call.key);
    const read = lastRead.get(reader);
    if (read !== undefined) readOfIncrement.set(operation, read);
    lastRead.delete(reader);
  }
  const parts = new Set(readOfIncrement.values());
  return historyOf(
    operations,
    (operation) => {
      const { call, answer } = operation;
      if (overwritten.has(call.key) || parts.has(operation)) return null;
      if (call.verb === 'write') {
        if (answer?.kind === 'refused' || call.adds === null) return null;
        return { name: 'increment', key: call.key, by: call.adds };
      }
      if (call.verb !== 'read' || answer?.kind !== 'value') return null;
      return { name: 'read', key: call.key, value: answer.value };
    },
    (operation) => (readOfIncrement.get(operation) ?? operation).log.invoke.index,
  );
}

/**
 * Converts operations to calls of a register that counts its writes. A refusal that reports the
 * store's current version is an answer; a call with any other refusal counts as not executed. A row
 * that was never written has version 0.
 */
export function versionedHistory(
  operations: readonly StoreOperation[],
): ClientHistory<VersionedCall> {
  return historyOf(operations, ({ call, answer }) => {
    const { key, value } = call;
    if (call.verb === 'write') {
      const asked = call.version === undefined ? {} : { expected: call.version ?? 0 };
      const write = { name: 'write', key, value, version: null, ...asked } as const;
      if (answer?.kind === 'accepted') return { ...write, version: answer.version ?? null };
      if (answer?.kind !== 'refused') return write;
      if (answer.version === undefined || answer.check !== undefined) return null;
      if (call.version === undefined) return null;
      return { ...write, version: answer.version ?? 0, answer: 'refused' };
    }
    if (call.verb !== 'read' || answer?.kind !== 'value') return null;
    return { name: 'read', key, value: answer.value, version: answer.version ?? 0 };
  });
}

/**
 * Converts operations to calls of a compare-and-set register: a write that expects a version
 * expects the value that its client last read or wrote under that version. Omits refused writes,
 * since the same value may have returned under another version.
 */
export function casHistory(operations: readonly StoreOperation[]): ClientHistory<CasRegisterCall> {
  const known = new Map<string, { readonly version: number | null; readonly value: number }>();
  const expectedBy = new Map<StoreOperation, number>();
  const inOrderOfReturn = operations
    .flatMap((operation) => [
      { operation, at: operation.log.invoke.index, isReturn: false },
      { operation, at: operation.log.return?.index ?? Number.POSITIVE_INFINITY, isReturn: true },
    ])
    .sort((left, right) => left.at - right.at);
  for (const { operation, isReturn } of inOrderOfReturn) {
    const { call, answer, log } = operation;
    const knower = JSON.stringify([log.invoke.event.process, call.key]);
    if (isReturn) {
      const value = answer?.kind === 'value' ? answer.value : call.value;
      if (answer === null || answer.kind === 'refused' || value === null) continue;
      if ('version' in answer) known.set(knower, { version: answer.version ?? null, value });
    } else if (call.version !== undefined) {
      const last = known.get(knower);
      if (last?.version === call.version) expectedBy.set(operation, last.value);
    }
  }
  return historyOf(operations, (operation) => {
    const { call, answer, isAnswered } = operation;
    const { key, value } = call;
    if (call.verb === 'write') {
      if (answer?.kind === 'refused') return null;
      const expected = expectedBy.get(operation);
      if (expected === undefined) return { name: 'write', key, value };
      return { name: 'cas', key, expected, value, answer: isAnswered ? 'matched' : 'unknown' };
    }
    if (call.verb !== 'read' || answer?.kind !== 'value') return null;
    return { name: 'read', key, value: answer.value };
  });
}

function historyOf<C>(
  operations: readonly StoreOperation[],
  callOf: (operation: StoreOperation) => C | null,
  invokeOf = (operation: StoreOperation): number => operation.log.invoke.index,
): ClientHistory<C> {
  const history: Operation<C>[] = [];
  const sources: StoreOperation[] = [];
  for (const operation of operations) {
    const call = callOf(operation);
    if (call === null) continue;
    sources.push(operation);
    history.push({
      client: operation.log.invoke.event.process,
      call,
      invoke: invokeOf(operation),
      return: operation.isAnswered ? (operation.log.return?.index ?? null) : null,
      outcome: operation.isAnswered ? 'ok' : 'info',
    });
  }
  return { history, sources };
}
