/**
 * Decides which writes belong to one intent: a client that tries a step again writes under another
 * name, and says which operation it carries out again.
 */
import { isAcknowledged, type OperationLog, type Survey } from './survey.ts';

/** By the name of the first operation, those that carry it out again; most runs have none. */
export function repeatsOf(survey: Survey): ReadonlyMap<string, readonly OperationLog[]> {
  const repeats = new Map<string, OperationLog[]>();
  for (const operation of survey.operations.values()) {
    const { call } = operation.invoke.event;
    if (!('repeats' in call) || call.repeats === undefined) continue;
    const known = repeats.get(call.repeats);
    if (known === undefined) repeats.set(call.repeats, [operation]);
    else known.push(operation);
  }
  return repeats;
}

/** Whether the client learnt that an operation, or one that carries it out again, was accepted. */
export function isCarriedOut(survey: Survey, operation: OperationLog): boolean {
  if (isAcknowledged(operation)) return true;
  return repeatsOf(survey).get(operation.invoke.event.operation)?.some(isAcknowledged) ?? false;
}

/** The name of the first operation that was to do what this one does. */
export function intentOf(survey: Survey, operation: string): string {
  const call = survey.operations.get(operation)?.invoke.event.call;
  return call !== undefined && 'repeats' in call ? (call.repeats ?? operation) : operation;
}
