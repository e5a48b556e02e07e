/** Turns what a sweep counted into the summary that people and machines read. */
import type { Finding } from '../report/finding.ts';
import type { CounterexampleSummary, SystemSummary } from '../report/summary.ts';
import type { SystemScenario } from '../scenario/scenario.ts';
import type { Judgement } from '../search/sweep/expectation.ts';
import { claimTally, type Tally } from '../search/sweep/tally.ts';

/** The summary of one system. */
export function summarizeSystem(
  system: SystemScenario,
  tally: Tally,
  judgement: Judgement,
  finding: Finding | null,
): SystemSummary {
  const claims = Object.keys(tally.claims).map((claim) => {
    const { broken, brokenSeeds, exercised } = claimTally(tally, claim);
    return [claim, { broken, firstSeed: brokenSeeds[0] ?? null, exercised }] as const;
  });
  return {
    name: system.name,
    expect: system.expect,
    met: judgement.met,
    seeds: tally.seeds,
    broken: tally.broken,
    unknown: tally.unknown,
    claims: Object.fromEntries(claims),
    measured: {
      'holder-overlap': tally.overlap,
      ...(tally.stampede.computations === 0 ? null : { stampede: tally.stampede }),
    },
    vacuous: judgement.vacuous,
    // The order in which kinds first struck depends on how the seeds were cut into chunks.
    faults: Object.fromEntries(Object.entries(tally.faults).sort(([a], [b]) => (a < b ? -1 : 1))),
    counterexample: finding === null ? null : summarizeFinding(finding),
  };
}

function summarizeFinding(finding: Finding): CounterexampleSummary {
  const { plan, size } = finding;
  return {
    file: finding.planFile,
    claim: finding.claim,
    clients: plan.clients.length,
    faults: plan.faults.length,
    events: size.events,
    originalEvents: size.originalEvents,
    chance: plan.chance === null ? 0 : 1,
    digest: finding.digest,
  };
}
