/**
 * Puts a contradiction into words, in the form *Let … Then … However …* and what would have helped:
 * the claim's own for the rule that broke.
 */
import type { Trace } from '../core/history/trace.ts';
import { builtInClaims } from './claims.ts';
import { explainBy } from './explanation.ts';
import type { Explanation, Invalid } from './verdict.ts';

/**
 * Why `verdict` contradicts its claim. The parts come without `Let`, `Then`, `However` and stops.
 * Never throws: a rule of which no words are known is told by its evidence. Its headline names
 * `system`, as the scenario calls it, where the server that broke the claim would stand.
 */
export function explain(trace: Trace, verdict: Invalid, system = ''): Explanation {
  if (verdict.explanation !== undefined) return verdict.explanation;
  // `linearizable(<a model of one's own>)` has the words of `linearizable`.
  const family = verdict.claim.replace(/\(.*$/, '');
  const claim = builtInClaims.get(verdict.claim) ?? builtInClaims.get(family);
  return explainBy(claim?.rules ?? {}, trace, verdict, system);
}

/** The whole explanation as a paragraph. */
export function inWords({ headline, given, next, however, cure }: Explanation): string {
  const sentences = [
    headline,
    given === '' ? '' : `Let ${given}`,
    next === '' ? '' : `Then ${next}`,
    however === '' ? '' : `However ${however}`,
    cure,
  ];
  return sentences
    .filter((sentence) => sentence !== '')
    .map((sentence) => `${sentence}.`)
    .join(' ');
}
