/**
 * Decides what shows a contradiction between accesses: they, their grants, and what made one late.
 */
import { causesOfAccess } from './causes.ts';
import { type Breach, evidenceOf, type Part } from './conclude.ts';
import {
  type Access,
  type GrantLog,
  grantUnder,
  type Numbered,
  type Place,
  type Survey,
} from './survey.ts';

/** An access and the part that it plays; undefined where there is none. */
export type AccessPart = readonly [role: string, access: Numbered<Access> | null | undefined];

const grantRoles = ['earlier grant', 'later grant', 'third grant'] as const;

/**
 * A breach shown by `accesses`. Their grants are added, `earlier grant` first (a single one is the
 * `grant`), and the faults that delayed `late`, the access that came when it should not have.
 */
export function accessBreach(
  survey: Survey,
  rule: string,
  shown: {
    readonly accesses: readonly AccessPart[];
    readonly late: Numbered<Access> | null;
    readonly others?: readonly Part[];
  },
): Breach {
  const { accesses, late, others = [] } = shown;
  const causes = late === null ? [] : causesOfAccess(survey, late);
  const grants = grantParts(survey, accesses);
  return { rule, evidence: evidenceOf([...accesses, ...grants, ...others, ...causes]) };
}

/** The recoveries of a place between two of its events, as evidence of what was forgotten there. */
export function recoveriesBetween(
  place: Place,
  { after, before }: { readonly after: number; readonly before: number },
): readonly Part[] {
  return place.recoveries
    .filter(({ index }) => index > after && index < before)
    .map((recovery) => ['recovery', recovery]);
}

function grantParts(survey: Survey, accesses: readonly AccessPart[]): readonly Part[] {
  const grants = new Map<number, GrantLog>();
  for (const [, access] of accesses) {
    const grant = access ? grantUnder(survey, access.event) : undefined;
    if (grant !== undefined) grants.set(grant.index, grant);
  }
  const inOrder = [...grants.values()].sort((one, other) => one.index - other.index);
  if (inOrder.length === 1) return [['grant', inOrder[0]]];
  return inOrder.map((grant, place) => [grantRoles[place] ?? 'further grant', grant]);
}
