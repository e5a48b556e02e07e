/**
 * What makes two kept plans the same kind of failure: the claim, the shape of the plan, and the
 * parts that the events of the evidence play. A corpus keeps one plan a kind.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Verdict } from '../../check/verdict.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { shapeOf } from './shape.ts';

export interface Signature {
  readonly claim: string;
  readonly shape: string;
  /**
   * The roles of the evidence, in the order of the trace; null where the claim did not break, as on
   * a plan that is kept as a guard.
   */
  readonly roles: readonly string[] | null;
}

/** The signature of a plan that `verdict` is about. */
export function signatureOf(plan: Plan, verdict: Verdict): Signature {
  const roles = verdict.kind === 'invalid' ? verdict.evidence.map(({ role }) => role) : null;
  return { claim: verdict.claim, shape: shapeOf(plan), roles };
}

/**
 * Whether two plans show the same failure. A guard, which breaks nothing, is never the same as a
 * plan that does: it does not see what the other shows.
 */
export function isSameKind(a: Signature, b: Signature): boolean {
  return textOf(a) === textOf(b);
}

/** Eight hexadecimal digits of a signature, to tell kinds apart at a glance. */
export function idOf(signature: Signature): string {
  return bytesToHex(sha256(utf8ToBytes(textOf(signature)))).slice(0, 8);
}

function textOf({ claim, shape, roles }: Signature): string {
  return JSON.stringify([claim, shape, roles]);
}
