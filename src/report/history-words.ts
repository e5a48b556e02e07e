/** Says in one sentence why no order of a history's operations allows a return. */
import { linesOf, type ReportedOperation } from './history-report.ts';

export interface Refusal {
  readonly operation: ReportedOperation;
  /** `the value 4`; '' when the model has no words for it. */
  readonly needs: string;
  /** In what states it could find the object, and the last change that led there. */
  readonly possible: readonly PossibleFinding[];
}

export interface PossibleFinding {
  /** `it is 2`. */
  readonly state: string;
  /** Null when nothing has changed it yet. */
  readonly after: ReportedOperation | null;
}

const MOST_FINDINGS = 3;

/**
 * "`cas(4→4)=ok` by 3 (lines 9–12) needs the value 4, but after `write(2)` by 1 (lines 5–6), which
 * returned before it began, it is 2."
 */
export function refusalSentence({ operation, needs, possible }: Refusal): string {
  const name = operationPhrase(operation);
  if (possible.length === 0)
    return `${name} fits into no order of what was called before it returned.`;
  const ranked = [...possible].sort(
    (left, right) => distance(left, operation) - distance(right, operation),
  );
  const findings = ranked.slice(0, MOST_FINDINGS).map((found) => findingPhrase(found, operation));
  const left = possible.length - findings.length;
  const others = left === 0 ? '' : `; and ${left} other states do no better`;
  const need = needs === '' ? 'is not allowed' : `needs ${needs}`;
  return `${name} ${need}, but ${findings.join(', or ')}${others}.`;
}

/** `` `write(2)` by 1 (lines 5–6) ``. */
export function operationPhrase(operation: ReportedOperation): string {
  return `\`${operation.text}\` by ${operation.process} (${linesOf(operation)})`;
}

function findingPhrase({ state, after }: PossibleFinding, bad: ReportedOperation): string {
  if (after === null) return `at first ${state}`;
  const isBefore = after.return !== null && after.return < bad.invoke;
  const order = isBefore ? ', which returned before it began,' : '';
  return `after ${operationPhrase(after)}${order} ${state}`;
}

/** What was certainly done before it began convinces most, and the later the more. */
function distance({ after }: PossibleFinding, bad: ReportedOperation): number {
  if (after === null) return Number.MAX_SAFE_INTEGER;
  const end = after.return ?? Number.MAX_SAFE_INTEGER / 2;
  return end < bad.invoke ? bad.invoke - end : end;
}
