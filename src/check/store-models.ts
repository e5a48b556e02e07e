/**
 * The models by which `linearizable` may judge what clients saw of one resource in one store, each
 * with the form of the calls that it knows.
 */
import type { Json } from '../core/kernel/json.ts';
import { checkHistory } from '../linearizability/check-history.ts';
import type { CallData, Model } from '../linearizability/model.ts';
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
import {
  type ClientHistory,
  casHistory,
  counterHistory,
  fencedHistory,
  registerHistory,
  type StoreOperation,
  versionedHistory,
} from './client-history.ts';
import type { FirstRow } from './survey.ts';
import { INITIAL_VALUE } from './terms.ts';

/**
 * A model of a store, and in which form it takes the calls: `register` sees reads and writes of
 * keys, and nothing of what was refused; `fenced` sees tokens, refusals and announcements;
 * `counter` sees each read-modify-write as one increment; `versioned` sees the version that each
 * read saw and each write made; `cas` sees a write that names a version as one that compares with
 * the value that its client knows under it. Every value begins at 0, if the store does not say.
 */
export type ModelDefinition = { readonly about: string } & (
  | Form<'register', RegisterCall>
  | Form<'fenced', FencedCall>
  | Form<'counter', CounterCall>
  | Form<'versioned', VersionedCall>
  | Form<'cas', CasRegisterCall>
);

interface Form<Calls extends string, C extends CallData> {
  readonly calls: Calls;
  readonly model: Model<Json, C>;
  /** The same where the values of a store begin as something else; absent: it is asked as it is. */
  readonly from?: (first: FirstRow) => Model<Json, C>;
}

const UNWRITTEN: FirstRow = { value: INITIAL_VALUE, version: 0 };

/** How the check of one resource in one store ended. */
export type ModelVerdict =
  | { readonly kind: 'valid' | 'unknown' }
  | { readonly kind: 'invalid'; readonly at: StoreOperation | undefined };

/** The models by the names that claims and stores give them. */
export const storeModels: ReadonlyMap<string, ModelDefinition> = new Map<string, ModelDefinition>([
  ['register', own('register', 'a plain register', ({ value }) => register(value))],
  ['counter', own('counter', 'a counter', ({ value }) => counter(value))],
  [
    'fenced-register',
    own('fenced', 'a write is accepted iff its token is at least the highest', ({ value }) =>
      fencedRegister({ initial: value }),
    ),
  ],
  [
    'fenced-register-strict',
    own('fenced', 'a write is accepted iff its token is above the highest', ({ value }) =>
      fencedRegister({ initial: value, isStrict: true }),
    ),
  ],
  [
    'fenced-register-with-reads',
    own('fenced', 'a read registers its token too', ({ value }) => fencedRegisterWithReads(value)),
  ],
  [
    'versioned-register',
    own('versioned', 'each write raises the version by one', ({ value, version }) =>
      versionedRegister(value, version),
    ),
  ],
  [
    'cas-register',
    own('cas', 'a write that names a version is accepted only over what its client read', (first) =>
      casRegister(first.value),
    ),
  ],
]);

function own<Calls extends string, C extends CallData>(
  calls: Calls,
  about: string,
  from: (first: FirstRow) => Model<Json, C>,
): { readonly about: string } & Form<Calls, C> {
  return { about, calls, model: from(UNWRITTEN), from };
}

/** Whether these operations fit a model; `at` is the one whose answer fits nowhere. */
export function checkStore(
  operations: readonly StoreOperation[],
  definition: ModelDefinition,
  {
    first,
    maxConfigurations,
  }: { readonly first: FirstRow | null; readonly maxConfigurations: number },
): ModelVerdict {
  return asSeen(operations, { definition, first }, (seen, model) =>
    checkAgainst(seen, model, maxConfigurations),
  );
}

/** Hands `use` the operations in the terms of a model, and the model. */
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
  { model, from }: Form<string, C>,
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
