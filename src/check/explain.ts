/**
 * Explains a breach in sentences: *Let … Then … However …*. `access-rules.ts` and `lock-rules.ts`
 * contain the sentences for each rule, built from the clauses in `phrases.ts`.
 */
import type { Trace } from '../core/history/trace.ts';
import { ACCESS_RULES } from './access-rules.ts';
import type { RuleName } from './claim.ts';
import { Contradiction, type Known, type Words } from './explanation.ts';
import { LOCK_RULES } from './lock-rules.ts';
import { bareSentences, grantsOf, withCauses } from './phrases.ts';
import type { Explanation, Invalid } from './verdict.ts';

/** The sentences for a breach, by rule. A rule without a row does not type-check. */
export const RULE_WORDS: Readonly<Record<RuleName, Words>> = { ...ACCESS_RULES, ...LOCK_RULES };

/**
 * Explains why `verdict` contradicts its claim, from the trace alone. The parts omit `Let`, `Then`,
 * `However` and periods. The headline names `known.system`, if given, instead of the server. The
 * cure is empty, since only other runs can prove one (`explainPlan`). Never throws, since an error
 * in a sentence must not hide the breach: if no sentence fits, the evidence is listed.
 */
export function explain(trace: Trace, verdict: Invalid, known?: Known): Explanation {
  if (verdict.explanation !== undefined) return verdict.explanation;
  const shown = new Contradiction(trace, verdict, known);
  const given = grantsOf(shown);
  try {
    const words = new Map(Object.entries(RULE_WORDS)).get(verdict.rule) ?? bareSentences;
    const { headline, next, however } = words(shown);
    return { headline, given, next, however: `${however}${withCauses(shown)}`, cure: '' };
  } catch {
    return { ...bareSentences(shown), given, cure: '' };
  }
}
