/**
 * Judges `linearizable`: the calls of clients to one resource in one store could have been executed
 * one at a time, each between its call and its return, with the answers that a model gives. A call
 * without an answer at the end of the trace may or may not have been executed.
 */
import { Defect } from '../core/kernel/assert.ts';
import { sectionOf } from '../core/kernel/name.ts';
import { errorText } from '../text/error-text.ts';
import { type Claim, defineClaim } from './claim.ts';
import { accessBreach } from './evidence.ts';
import {
  checkStore,
  isBuiltInModel,
  type ModelDefinition,
  type ModelVerdict,
  type StoreOperation,
  storeModels,
  storeOperations,
} from './store-models.ts';
import type { Terms } from './terms.ts';
import {
  type AccessEvent,
  actorIn,
  type FirstRow,
  isStale,
  type LogEntry,
  placeAt,
  type TraceIndex,
} from './trace-index.ts';
import type { Breach, Findings } from './verdict.ts';

/** The claim `linearizable`, whose model the terms name, and claims with a fixed model. */
export const linearizableClaims: readonly Claim[] = [
  linearizableTo(null, {
    about: 'the clients’ history satisfies the store’s own sequential specification',
    source: 'Herlihy and Wing (1990)',
  }),
  linearizableTo('register', {
    about: 'linearizable as a plain register',
    source: 'Herlihy and Wing (1990)',
  }),
  linearizableTo('counter', {
    about: 'linearizable as a counter, each read-modify-write as one increment',
    source: 'Herlihy and Wing (1990)',
  }),
  linearizableTo('fenced-register', {
    about: 'linearizable as a register that accepts a write iff its token ≥ the highest',
    source: 'Herlihy and Wing (1990), Kleppmann (2016)',
  }),
  linearizableTo('fenced-register-with-reads', {
    about: 'linearizable as a fenced register whose reads also register tokens',
    source: 'Herlihy and Wing (1990), Hazelcast, FencedLock',
  }),
];

/** Creates `linearizable(<model>)`. If `model` is null, the terms name the model. */
export function linearizableTo(
  model: string | null,
  texts: Pick<Claim, 'about' | 'source'>,
): Claim {
  return defineClaim({
    name: model === null ? 'linearizable' : `linearizable(${model})`,
    ...texts,
    hazard:
      'overlapping calls, version conflicts; only accesses under old grants for fenced models',
    needsNoLock: true,
    rules: ['no-order'],
    judge: (indexed, terms) => judgeAgainst(model ?? terms.model, indexed, terms),
  });
}

function judgeAgainst(
  model: string | null,
  indexed: TraceIndex,
  terms: Terms,
): Findings<'no-order'> {
  if (model === null) return { exercised: 0, unknown: 'this store has no specification' };
  const definition = (terms.models ?? storeModels).get(model);
  if (definition === undefined) return { exercised: 0, unknown: `there is no model ${model}` };
  const lacking = lackOfVersions(indexed, definition);
  if (lacking !== null) return { exercised: 0, unknown: lacking };
  let breach: Breach<'no-order'> | null = null;
  let unknown: string | null = null;
  let overlapping = 0;
  for (const operations of storeOperations(indexed)) {
    overlapping += overlappingCalls(indexed, operations);
    const { maxConfigurations } = terms;
    const first = firstRowOf(indexed, operations);
    const result = checkCustom(operations, definition, { first, maxConfigurations });
    if (typeof result === 'string') {
      return { exercised: 0, unknown: `the model ${model} threw: ${result}` };
    }
    if (result.kind === 'unknown') {
      unknown = `the search reached ${maxConfigurations} configurations without a result`;
    }
    if (result.kind === 'invalid') breach ??= breachAt(indexed, result.at);
  }
  return { exercised: exercisedBy(definition, indexed, overlapping), breach, unknown };
}

/** Returns why the store does not have the versions that the model needs, or null if it does. */
function lackOfVersions(
  { operations, places }: TraceIndex,
  definition: ModelDefinition,
): string | null {
  if (definition.calls !== 'versioned') return null;
  for (const { invoke, return: returned } of operations.values()) {
    const { call } = invoke.event;
    const answer = returned?.event.answer;
    const hasVersions = answer?.kind === 'value' || answer?.kind === 'accepted';
    if (!('store' in call) || call.verb === 'open' || !hasVersions) continue;
    if (answer.version === undefined) return `${call.store} reports no versions`;
  }
  if (definition !== storeModels.get('versioned-register')) return null;
  for (const { store, accesses } of places) {
    const isTimed = accesses.some(({ event }) => event.version?.by === 'timestamp');
    if (isTimed) return `${store} reports timestamps, which a counting model does not have`;
  }
  return null;
}

/** Like `checkStore`, but returns the text of an error thrown by a user-defined model. */
function checkCustom(
  operations: readonly StoreOperation[],
  definition: ModelDefinition,
  setting: Parameters<typeof checkStore>[2],
): ModelVerdict | string {
  try {
    return checkStore(operations, definition, setting);
  } catch (error) {
    if (isBuiltInModel(definition) || error instanceof Defect) throw error;
    return errorText(error);
  }
}

/** Returns the initial contents of the keys in the operations' store, or null for the default. */
export function firstRowOf(
  indexed: TraceIndex,
  [operation]: readonly StoreOperation[],
): FirstRow | null {
  const place = placeAt(indexed, operation?.call ?? {});
  return [...(place?.firsts.values() ?? [])][0] ?? null;
}

/** Counts the calls made while a call of another actor was open. `operations` are in call order. */
function overlappingCalls(indexed: TraceIndex, operations: readonly StoreOperation[]): number {
  let overlapping = 0;
  const openUntil = new Map<string, number>();
  for (const { log } of operations) {
    const { event, index } = log.invoke;
    const actor = actorIn(indexed, event.process, sectionOf(event.operation));
    for (const [other, until] of openUntil) {
      if (other === actor || until <= index) continue;
      overlapping++;
      break;
    }
    const until = log.return?.index ?? Number.POSITIVE_INFINITY;
    openUntil.set(actor, Math.max(until, openUntil.get(actor) ?? 0));
  }
  return overlapping;
}

function exercisedBy(
  { calls }: ModelDefinition,
  { places }: TraceIndex,
  overlapping: number,
): number {
  const accesses = places.flatMap((place) => place.accesses);
  if (calls === 'fenced') return accesses.filter(isStale).length;
  if (calls !== 'versioned' && calls !== 'cas') return overlapping;
  return overlapping + accesses.filter(({ event }) => event.refusal?.kind === 'version').length;
}

function breachAt(indexed: TraceIndex, operation: StoreOperation | undefined): Breach<'no-order'> {
  const log = operation?.log;
  const accesses = placeAt(indexed, operation?.call ?? {})?.accesses ?? [];
  const handled = accesses.find(({ event }) => event.operation === log?.invoke.event.operation);
  const previous = accesses.findLast((access) => isPrevious(access, handled));
  const shown = { late: handled, others: { call: log?.invoke, return: log?.return } };
  const parts = { 'previous write': previous, handling: handled };
  return accessBreach(indexed, 'no-order', parts, shown);
}

function isPrevious(
  access: LogEntry<AccessEvent>,
  handled: LogEntry<AccessEvent> | undefined,
): boolean {
  const { event, index } = access;
  return event.kind === 'write' && event.isAccepted && index < (handled?.index ?? 0);
}
