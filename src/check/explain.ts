/** Puts a breach into the claim's words for its rule: *Let … Then … However …*, and a cure. */
import type { Trace } from '../core/history/trace.ts';
import { theftBehind } from './breach-cause.ts';
import { builtInClaims } from './claims.ts';
import { explainBy, type Known } from './explanation.ts';
import { indexTrace } from './trace-index.ts';
import type { Explanation, Invalid } from './verdict.ts';

/**
 * Why `verdict` contradicts its claim, as the trace alone shows it: what would have prevented it
 * only other runs can tell (`explainPlan`). The parts come without `Let`, `Then`, `However` and
 * stops. Never throws: a rule of which no words are known is told by its evidence. Its headline
 * names `known.system` where the server that broke the claim would stand.
 */
export function explain(trace: Trace, verdict: Invalid, known?: Known): Explanation {
  if (verdict.explanation !== undefined) return verdict.explanation;
  // `linearizable(<a model of one's own>)` has the words of `linearizable`.
  const family = verdict.claim.replace(/\(.*$/, '');
  const claim = builtInClaims.get(verdict.claim) ?? builtInClaims.get(family);
  const theft = theftBehind(indexTrace(trace), verdict);
  return explainBy(claim?.rules ?? {}, trace, verdict, { ...known, theft });
}
