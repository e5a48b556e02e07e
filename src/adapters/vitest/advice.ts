/**
 * What to do about a test that tested nothing: a fault that is placed where no client comes by, or
 * a claim whose hazard never arose.
 */
import { sectionPointsOf } from '../../core/plan/operation-names.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { expand } from '../../scenario/expand.ts';
import type { FaultTemplate, Scenario, SystemScenario } from '../../scenario/scenario.ts';
import { claimTally, type Tally } from '../../search/sweep/tally.ts';
import { OWN_LOCK } from './body-lock.ts';

/** One line each; `seed` is one of those that were examined. */
export function adviceFor(
  scenario: Scenario,
  system: SystemScenario,
  { tally, seed }: { readonly tally: Tally; readonly seed: number },
): readonly string[] {
  const idle = scenario.faults.filter(({ kind }) => tally.faults[kind] === undefined);
  const known = pointsOf(expand(scenario, system.name, seed), system);
  const misplaced = [...new Set(idle.flatMap(placesOf))].filter((place) => !known.has(place));
  if (misplaced.length > 0) {
    const verbs = [...known].filter((point) => !point.includes('/')).sort();
    const list = verbs.join(', ');
    return misplaced.map((place) => `  no client passes "${place}"; what they pass: ${list}`);
  }
  const untested = system.expect.holds.filter((claim) => claimTally(tally, claim).exercised === 0);
  return claimAdvice(untested, system);
}

/** The points that clients pass when nothing goes wrong, and their names without the section. */
function pointsOf({ clients }: Plan, { store, operations }: SystemScenario): ReadonlySet<string> {
  const named = operations === undefined ? {} : { operations };
  const points = clients.flatMap((client) =>
    client.sections.flatMap((section) => sectionPointsOf({ client, section, store, ...named })),
  );
  return new Set(points.flatMap(({ verb, point }) => [verb, point]));
}

/** Where a fault is placed, if that is at a point. */
function placesOf({ fields }: FaultTemplate): readonly string[] {
  return fields.flatMap(({ type, value }) => {
    if (type === 'message') return value.kind === 'verb' ? [value.verb] : [];
    if (type !== 'when' || value.kind === 'at') return [];
    return [value.kind === 'verb' ? value.verb : value.point];
  });
}

const CONTEND = 'take more `clients` on fewer `locks`, faults that outlast `ttl`, or more `seeds`';

function claimAdvice(untested: readonly string[], { lock }: SystemScenario): readonly string[] {
  if (untested.length === 0) return [];
  const ofServer = 'mutual-exclusion';
  if (lock !== OWN_LOCK || !untested.includes(ofServer)) return [`  ${CONTEND}`];
  return [
    `  ${CONTEND}`,
    `  ${ofServer} is about what a lock server grants and denies; where yours tells of neither`,
    '  (`RedisNode` does not), only a breach puts it to the test: expect `grant-order` to hold',
  ];
}
