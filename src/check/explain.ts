/** Words a breach by the sentences of its claim: *Let … Then … However …*. */
import type { Trace } from '../core/history/trace.ts';
import { theftBehind } from './breach-cause.ts';
import { builtInClaims } from './claims.ts';
import { explainBy, type Known } from './explanation.ts';
import { indexTrace } from './trace-index.ts';
import type { Explanation, Invalid } from './verdict.ts';

/**
 * Explains why `verdict` contradicts its claim, from the trace alone; only other runs can show what
 * would have prevented it (`explainPlan`). The parts omit `Let`, `Then`, `However` and periods.
 * Never throws: a rule without words is described by its evidence. The headline names
 * `known.system`, if given, instead of the server that broke the claim.
 */
export function explain(trace: Trace, verdict: Invalid, known?: Known): Explanation {
  if (verdict.explanation !== undefined) return verdict.explanation;
  // `linearizable(<custom model>)` uses the words of `linearizable`.
  const family = verdict.claim.replace(/\(.*$/, '');
  const claim = builtInClaims.get(verdict.claim) ?? builtInClaims.get(family);
  const theft = theftBehind(indexTrace(trace), verdict);
  return explainBy(claim?.rules ?? {}, trace, verdict, { ...known, theft });
}
