/**
 * The models by which `linearizable` may judge what clients saw of one resource in one store, each
 * with the form of the calls that it knows.
 */
import type { Json } from '../kernel/json.ts';
import { checkHistory } from '../linearizability/check-history.ts';
import type { Model } from '../linearizability/model.ts';
import { type CounterCall, counter } from '../linearizability/models/counter.ts';
import { type FencedCall, fencedRegister } from '../linearizability/models/fenced-register.ts';
import { fencedRegisterWithReads } from '../linearizability/models/fenced-register-with-reads.ts';
import { type RegisterCall, register } from '../linearizability/models/register.ts';
import type { CallData } from '../linearizability/operation.ts';
import {
  type ClientHistory,
  counterHistory,
  fencedHistory,
  registerHistory,
  type StoreOperation,
} from './client-history.ts';
import { INITIAL_VALUE } from './terms.ts';

/**
 * A model of a store, and in which form it takes the calls: `register` sees reads and writes of
 * keys, and nothing of what was refused; `fenced` sees tokens, refusals and announcements;
 * `counter` sees each read-modify-write as one increment. Every value begins at 0.
 */
export type ModelDefinition = { readonly about: string } & (
  | { readonly calls: 'register'; readonly model: Model<Json, RegisterCall> }
  | { readonly calls: 'fenced'; readonly model: Model<Json, FencedCall> }
  | { readonly calls: 'counter'; readonly model: Model<Json, CounterCall> }
);

/** How the check of one resource in one store ended. */
export type ModelVerdict =
  | { readonly kind: 'valid' | 'unknown' }
  | { readonly kind: 'invalid'; readonly at: StoreOperation | undefined };

/** The models by the names that claims and stores give them. */
export const storeModels: ReadonlyMap<string, ModelDefinition> = new Map<string, ModelDefinition>([
  ['register', { about: 'a plain register', calls: 'register', model: register(INITIAL_VALUE) }],
  ['counter', { about: 'a counter', calls: 'counter', model: counter(INITIAL_VALUE) }],
  [
    'fenced-register',
    {
      about: 'a write is accepted iff its token is at least the highest',
      calls: 'fenced',
      model: fencedRegister({ initial: INITIAL_VALUE }),
    },
  ],
  [
    'fenced-register-strict',
    {
      about: 'a write is accepted iff its token is above the highest',
      calls: 'fenced',
      model: fencedRegister({ initial: INITIAL_VALUE, isStrict: true }),
    },
  ],
  [
    'fenced-register-with-reads',
    {
      about: 'a read registers its token too',
      calls: 'fenced',
      model: fencedRegisterWithReads(INITIAL_VALUE),
    },
  ],
]);

/** Whether these operations fit a model; `at` is the one whose answer fits nowhere. */
export function checkStore(
  operations: readonly StoreOperation[],
  definition: ModelDefinition,
  maxConfigurations: number,
): ModelVerdict {
  switch (definition.calls) {
    case 'register':
      return checkAgainst(registerHistory(operations), definition.model, maxConfigurations);
    case 'fenced':
      return checkAgainst(fencedHistory(operations), definition.model, maxConfigurations);
    case 'counter':
      return checkAgainst(counterHistory(operations), definition.model, maxConfigurations);
  }
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
