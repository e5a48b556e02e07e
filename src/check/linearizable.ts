/**
 * Judges `linearizable`: could the calls that clients made to one resource in one store have come
 * one at a time, each between its call and its return, with a model giving the answers? A history
 * is cut where its trace is; what has no answer there may or may not have happened.
 *
 * Exercised, for a model with tokens: accesses that the store handled under a grant that was no
 * longer the latest of its lock; for any other: calls made while another client's was open; for one
 * with versions also writes whose version was gone.
 */

import { Defect } from '../core/kernel/assert.ts';
import { errorText } from '../text/error-text.ts';
import { accessBreach } from './access-breach.ts';
import { type StoreOperation, storeOperations } from './client-history.ts';
import { type Breach, conclude } from './conclude.ts';
import {
  checkStore,
  type ModelDefinition,
  type ModelVerdict,
  storeModels,
} from './store-models.ts';
import { type Access, type Entry, type FirstRow, isStale, type Survey } from './survey.ts';
import type { Terms } from './terms.ts';
import type { Verdict } from './verdict.ts';

/** "The history is linearizable to a model": the one that the terms name; without one, unknown. */
export function linearizable(survey: Survey, terms: Terms): Verdict {
  const claim = 'linearizable';
  if (terms.model !== null) return judgeAgainst(claim, terms.model, survey, terms);
  const reason = 'nobody wrote the specification of this store';
  return { kind: 'unknown', claim, exercised: 0, reason };
}

/** The checker of the claim `linearizable(<model>)`. */
export function linearizableTo(model: string): (survey: Survey, terms: Terms) => Verdict {
  const claim = `linearizable(${model})`;
  return (survey, terms) => judgeAgainst(claim, model, survey, terms);
}

function judgeAgainst(claim: string, model: string, survey: Survey, terms: Terms): Verdict {
  const definition = (terms.models ?? storeModels).get(model);
  if (definition === undefined) {
    return { kind: 'unknown', claim, exercised: 0, reason: `there is no model ${model}` };
  }
  const lacking = lackOfVersions(survey, definition);
  if (lacking !== null) return { kind: 'unknown', claim, exercised: 0, reason: lacking };
  let breach: Breach | null = null;
  let isUnknown = false;
  let overlapping = 0;
  for (const operations of storeOperations(survey)) {
    overlapping += overlappingCalls(operations);
    const { maxConfigurations } = terms;
    const first = firstRowOf(survey, operations);
    const result = checkOwn(operations, definition, { first, maxConfigurations });
    if (typeof result === 'string') {
      return {
        kind: 'unknown',
        claim,
        exercised: 0,
        reason: `the model ${model} threw: ${result}`,
      };
    }
    if (result.kind === 'unknown') isUnknown = true;
    if (result.kind === 'invalid' && breach === null) breach = breachAt(survey, result.at);
  }
  const exercised = exercisedBy(definition, survey, overlapping);
  if (breach === null && isUnknown) {
    const reason = `the search met ${terms.maxConfigurations} configurations without an answer`;
    return { kind: 'unknown', claim, exercised, reason };
  }
  return conclude(claim, { exercised, breach });
}

/**
 * Why a model of versions cannot be asked: a store tells none, or times in place of counts, which a
 * model of one's own may know.
 */
function lackOfVersions(
  { operations, places }: Survey,
  definition: ModelDefinition,
): string | null {
  if (definition.calls !== 'versioned') return null;
  for (const { invoke, return: returned } of operations.values()) {
    const { call } = invoke.event;
    const answer = returned?.event.answer;
    const hasVersions = answer?.kind === 'value' || answer?.kind === 'accepted';
    if (!('store' in call) || call.verb === 'open' || !hasVersions) continue;
    if (answer.version === undefined) return `${call.store} tells no versions`;
  }
  if (definition !== storeModels.get('versioned-register')) return null;
  for (const { store, accesses } of places) {
    const isTimed = accesses.some(({ event }) => event.version?.by === 'timestamp');
    if (isTimed) return `${store} tells timestamps, and a model that counts knows none`;
  }
  return null;
}

/** The same as `checkStore`, or what a model threw that is not fencepost's own. */
function checkOwn(
  operations: readonly StoreOperation[],
  definition: ModelDefinition,
  setting: Parameters<typeof checkStore>[2],
): ModelVerdict | string {
  try {
    return checkStore(operations, definition, setting);
  } catch (error) {
    const isOurs = [...storeModels.values()].includes(definition);
    if (isOurs || error instanceof Defect) throw error;
    return errorText(error);
  }
}

/** What the keys of these operations' place begin as, all alike; null: as every value. */
export function firstRowOf(
  { places }: Survey,
  operations: readonly StoreOperation[],
): FirstRow | null {
  const call = operations[0]?.call;
  const place = places.find(
    ({ store, resource }) => store === call?.store && resource === call?.resource,
  );
  return [...(place?.firsts.values() ?? [])][0] ?? null;
}

/**
 * Calls made while one of another client was open; `operations` are in the order of their calls.
 */
function overlappingCalls(operations: readonly StoreOperation[]): number {
  let overlapping = 0;
  const openUntil = new Map<string, number>();
  for (const { log } of operations) {
    const { event, index } = log.invoke;
    for (const [client, until] of openUntil) {
      if (client === event.process || until <= index) continue;
      overlapping++;
      break;
    }
    const until = log.return?.index ?? Number.POSITIVE_INFINITY;
    openUntil.set(event.process, Math.max(until, openUntil.get(event.process) ?? 0));
  }
  return overlapping;
}

function exercisedBy({ calls }: ModelDefinition, survey: Survey, overlapping: number): number {
  if (calls === 'fenced') return staleAccesses(survey);
  const comparesVersions = calls === 'versioned' || calls === 'cas';
  return comparesVersions ? overlapping + outrunWrites(survey) : overlapping;
}

function outrunWrites({ places }: Survey): number {
  let outrun = 0;
  for (const { accesses } of places) {
    for (const { event } of accesses) if (event.refusal?.kind === 'version') outrun++;
  }
  return outrun;
}

function staleAccesses(survey: Survey): number {
  let stale = 0;
  for (const place of survey.places)
    for (const access of place.accesses) if (isStale(access)) stale++;
  return stale;
}

/**
 * The operation whose answer fits nowhere, how the store handled it, and what it had accepted last.
 */
function breachAt(survey: Survey, operation: StoreOperation | undefined): Breach {
  const log = operation?.log;
  const call = operation?.call;
  const place = survey.places.find(
    ({ store, resource }) => store === call?.store && resource === call?.resource,
  );
  const accesses = place?.accesses ?? [];
  const handled = accesses.find(({ event }) => event.operation === log?.invoke.event.operation);
  const previous = accesses.findLast((access) => isPrevious(access, handled));
  return accessBreach(survey, 'no-order', {
    accesses: [
      ['previous write', previous],
      ['handling', handled],
    ],
    late: handled ?? null,
    others: [
      ['call', log?.invoke],
      ['return', log?.return],
    ],
  });
}

function isPrevious(access: Entry<Access>, handled: Entry<Access> | undefined): boolean {
  const { event, index } = access;
  return event.kind === 'write' && event.isAccepted && index < (handled?.index ?? 0);
}
