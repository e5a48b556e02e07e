/**
 * Concludes a scenario: judges its expectations, shrinks its failures, and builds a
 * `ScenarioResult`. The result is the same for any number of machines.
 */
import { builtIn } from '../../catalogue.ts';
import { causeText } from '../../check/breach-cause.ts';
import { drawsNothing, expand } from '../../scenario/expand.ts';
import type { Scenario, SystemScenario } from '../../scenario/scenario.ts';
import { kindsAmong } from '../sweep/causes.ts';
import {
  type AvoidedSeeds,
  avoidedOn,
  countAvoided,
  NONE_AVOIDED,
} from '../sweep/counterfactual.ts';
import { claimCounts, distinctFailures, NO_COUNTS, type SweepCounts } from '../sweep/counts.ts';
import { type Judgement, judgeSystem } from '../sweep/expectation.ts';
import { expectedOf, judgedOn } from '../sweep/expected.ts';
import { mostFirst } from '../sweep/sections.ts';
import { type KeptOutcome, seedsLeftOut } from '../sweep/shards.ts';
import { performTask } from '../sweep/tasks.ts';
import { type Exit, exits, worstOf } from './exit-codes.ts';
import type {
  ClaimResult,
  CounterexampleSummary,
  ExhaustedScope,
  Finding,
  Result,
  SystemEdges,
  SystemResult,
} from './result.ts';
import {
  type CampaignSetting,
  type Concluded,
  DAMAGED,
  type Examined,
  isOver,
  type Subject,
  tasksOf,
} from './setting.ts';
import { shrinkClaim } from './shrink-failures.ts';

/** Judges every system, and shrinks its failures. In a shard, the merge shrinks them later. */
export async function concludeScenario(
  subject: Subject,
  examined: Examined,
  setting: CampaignSetting,
): Promise<Concluded> {
  const { scenario, file, catalogue } = subject;
  const { countsBySystem, range, cutShort, isPart, keptPlans, difference, plans } = examined;
  const avoided = await avoidedIn(subject, examined, () => isOver(setting));
  const isComplete = cutShort === null;
  const isSingle = range.from === range.to;
  const { isCalm = false } = setting;
  const seeds = { isComplete: isComplete && !isPart, isSingle, isPart, isCalm };
  const coverage = { ...seeds, avoided, countsBySystem, catalogue };
  const codes = exitsOfKept(keptPlans);
  if (difference !== null) codes.push(exits.nondeterministic);
  const systems: SystemResult[] = [];
  const findings: Finding[] = [];
  for (const system of scenario.systems) {
    const counts = countsBySystem.get(system.name) ?? NO_COUNTS;
    const judgement = judgeSystem(scenario, system, counts, coverage);
    const shrunk = isPart ? NOTHING_SHRUNK : await shrinkSystem(subject, system, examined, setting);
    const found = await edgesOf(subject, system, examined, setting);
    const output = await outputOf(subject, system, examined, setting);
    findings.push(...shrunk.findings);
    codes.push(
      ...shrunk.codes,
      ...found.codes,
      ...exitsOf(counts, judgement, !isComplete && !setting.isInterrupted()),
    );
    const exhausted = plans?.get(system.name);
    systems.push({
      ...systemResult(system, { counts, avoided, judgement }),
      counterexample: counterexampleOf(shrunk.findings[0]),
      ...(isPart ? { isPart } : {}),
      ...(plans === null && drawsNothing(scenario, system.name) ? { isWritten: true } : {}),
      ...(exhausted === undefined ? {} : { exhausted: scopeOf(scenario, exhausted) }),
      ...(found.edges === null ? {} : { edges: found.edges }),
      ...(output === null ? {} : { output }),
      ...(seedsLeftOut(counts, range) === 0 ? {} : { leftOut: seedsLeftOut(counts, range) }),
    });
  }
  const sum = (of: (counts: SweepCounts) => number): number =>
    scenario.systems.reduce((all, { name }) => all + of(countsBySystem.get(name) ?? NO_COUNTS), 0);
  return {
    result: {
      name: scenario.name,
      file,
      systems,
      ...(cutShort === null ? {} : { cutShort }),
      range,
      keptPlans,
      difference,
    },
    findings,
    exit: worstOf(codes),
    seeds: sum(({ seeds }) => seeds),
    events: sum(({ events }) => events),
    milliseconds: examined.milliseconds,
  };
}

async function avoidedIn(
  { scenario, catalogue }: Subject,
  { countsBySystem, isPart, plans }: Examined,
  shouldStop: () => boolean,
): Promise<AvoidedSeeds> {
  if (isPart) return NONE_AVOIDED;
  const numbered = plans && new Map([...plans].map(([name, entry]) => [name, entry.numbered]));
  const options = { catalogue, shouldStop, ...(numbered && { numbered }) };
  return await countAvoided(scenario, countsBySystem, options);
}

/** Runs the first failed seed, or the only seed, again. Returns its output, or null if none. */
async function outputOf(
  subject: Subject,
  { name }: SystemScenario,
  { countsBySystem, plans, range, isPart }: Examined,
  setting: CampaignSetting,
): Promise<NonNullable<SystemResult['output']> | null> {
  const { failures, killed, seeds } = countsBySystem.get(name) ?? NO_COUNTS;
  const isSingle = range.from === range.to && seeds === 1 && setting.chunkSeeds === undefined;
  const seed = failures[0]?.seed ?? (isSingle ? range.from : null);
  const tasks = tasksOf(subject, setting);
  // A killed seed would have to be killed again.
  if (isPart || seed === null || killed > 0 || tasks.isGivenUp()) return null;
  if (subject.catalogue === builtIn) return null;
  const plan = plans?.get(name)?.numbered.planOf(seed) ?? expand(subject.scenario, name, seed);
  const end = await performTask({ kind: 'run', plan }, tasks);
  return end.kind === 'ran' && end.output.length > 0 ? { seed, lines: end.output } : null;
}

/** Minimum number of runs for the search for edges. Systems with more plans get more runs. */
const LEAST_EDGE_RUNS = 1_000;

interface SystemEdgesFound {
  readonly edges: SystemEdges | null;
  readonly codes: readonly Exit[];
}

/** Finds the shortest fault that breaks each broken claim. Returns null edges without a search. */
async function edgesOf(
  subject: Subject,
  { name: system, expect }: SystemScenario,
  { countsBySystem, plans, cutShort, isPart }: Examined,
  setting: CampaignSetting,
): Promise<SystemEdgesFound> {
  const { scenario } = subject;
  const nothing = { edges: null, codes: [] };
  const systemPlans = plans?.get(system);
  const tasks = tasksOf(subject, setting);
  const counts = countsBySystem.get(system) ?? NO_COUNTS;
  const listed = [...expect.breaks, ...expect.holds];
  const claims = listed.filter((claim) => claimCounts(counts, claim).broken > 0);
  const isWanted = setting.findsEdges && cutShort === null && !isPart && claims.length > 0;
  if (systemPlans === undefined || !isWanted || tasks.isGivenUp()) return nothing;
  await setting.emit({ kind: 'edges', system });
  const mostRuns = Math.max(systemPlans.plans, LEAST_EDGE_RUNS);
  const end = await performTask({ kind: 'edges', scenario, system, claims, mostRuns }, tasks);
  if (tasks.isGivenUp()) return nothing;
  if (end.kind === 'edges') return { edges: end.edges, codes: [] };
  const what =
    end.kind === 'lost' ? `${end.where}: ${end.why}` : end.kind === 'threw' ? end.error : '';
  await setting.emit({ kind: 'run lost', system, what });
  return { edges: null, codes: [exits.failed] };
}

interface ShrunkSystem {
  readonly findings: readonly Finding[];
  readonly codes: readonly Exit[];
}

const NOTHING_SHRUNK: ShrunkSystem = { findings: [], codes: [] };

async function shrinkSystem(
  subject: Subject,
  system: SystemScenario,
  { countsBySystem, plans }: Examined,
  setting: CampaignSetting,
): Promise<ShrunkSystem> {
  const { isInterrupted, describe, shrinking } = setting;
  const counts = countsBySystem.get(system.name) ?? NO_COUNTS;
  const codes: Exit[] = [];
  const emit: CampaignSetting['emit'] = (event) => {
    if (event.kind === 'run lost') codes.push(exits.failed);
    return setting.emit(event);
  };
  const tasks = tasksOf(subject, setting);
  const numbered = plans?.get(system.name)?.numbered ?? null;
  const context = { tasks, limits: shrinking, isInterrupted, numbered, describe, emit };
  const all: Finding[] = [];
  for (const claim of shrinking.claimsOf(system, counts)) {
    const startedMs = performance.now();
    const broken = { system: system.name, claim, counts: claimCounts(counts, claim) };
    const [first, ...others] = await shrinkClaim(subject, broken, context);
    if (first !== undefined) {
      all.push(first, ...others);
      const milliseconds = performance.now() - startedMs;
      const findings = [first, ...others] as const;
      await emit({ kind: 'failure shrunk', system: system.name, claim, findings, milliseconds });
    } else if (!isInterrupted()) {
      const [seed = 0] = broken.counts.brokenSeeds;
      await emit({ kind: 'vanished', subject, system: system.name, claim, seed });
      codes.push(exits.nondeterministic);
    }
  }
  return { findings: all, codes };
}

/** Exit codes of unexpected outcomes of kept plans. Outcomes that are not listed mean `broken`. */
const KEPT_EXITS: ReadonlyMap<string, Exit> = new Map<string, Exit>([
  [DAMAGED, exits.usage],
  ['nondeterministic', exits.nondeterministic],
  // The plan shows neither a breach nor nondeterminism. It tests nothing until its names match.
  ['diverged', exits.incomplete],
]);

/** Returns the exit codes of the kept plans with an unexpected outcome. */
export function exitsOfKept(kept: readonly KeptOutcome[]): Exit[] {
  return kept
    .filter(({ outcome, expected }) => outcome !== expected)
    .map(({ outcome }) => KEPT_EXITS.get(outcome) ?? exits.broken);
}

function exitsOf(counts: SweepCounts, judgement: Judgement, isSpent: boolean): Exit[] {
  const codes: Exit[] = [];
  if (counts.failed > 0) codes.push(exits.failed);
  if (judgement.met === false) codes.push(exits.broken);
  const isOpen = judgement.met === null && counts.failed === 0;
  if (isOpen && (judgement.isIncomplete || isSpent)) codes.push(exits.incomplete);
  return codes;
}

interface Judged {
  readonly counts: SweepCounts;
  readonly avoided: AvoidedSeeds;
  readonly judgement: Judgement;
}

function systemResult(
  system: SystemScenario,
  { counts, avoided, judgement }: Judged,
): Omit<SystemResult, 'counterexample'> {
  const { name, expect } = system;
  const { seeds, broken, unknown, failed, stampede } = counts;
  const isListed = judgement.unexpected.every((claim) => expect.holds.includes(claim));
  const claims = Object.keys(counts.claims).map((claim): readonly [string, ClaimResult] => [
    claim,
    claimResult(claim, counts, avoidedOn(avoided, name, claim)),
  ]);
  return {
    name,
    expect: isListed ? expect : { ...expect, ...expectedOf(system) },
    met: judgement.met,
    seeds,
    broken,
    unknown,
    claims: Object.fromEntries(claims),
    measured: {
      'holder-overlap': counts.overlap,
      'loss-noticed': counts.losses,
      ...(stampede.computations === 0 ? {} : { stampede }),
    },
    sections: { ...counts.sections, failed: mostFirst(counts.sections.failed) },
    vacuous: judgement.vacuous,
    hints: judgement.hints,
    ...(counts.unsimulated.found.length === 0 ? {} : { unsimulated: counts.unsimulated }),
    // The order in which kinds first fired depends on the chunks.
    faults: Object.fromEntries(Object.entries(counts.faults).sort(([a], [b]) => (a < b ? -1 : 1))),
    failed,
    failures: distinctFailures(counts),
  };
}

function claimResult(claim: string, counts: SweepCounts, avoided: number): ClaimResult {
  const {
    broken,
    brokenSeeds,
    unknown,
    firstUnknown,
    exercised,
    causes = [],
  } = claimCounts(counts, claim);
  const kinds = kindsAmong(causes).map((kind) => ({
    rule: kind.cause.rule,
    cause: causeText(kind.cause),
    broken: kind.broken,
    firstSeed: kind.brokenSeeds[0] ?? 0,
  }));
  const firstSeed = brokenSeeds[0] ?? null;
  return {
    broken,
    firstSeed,
    exercised,
    avoided,
    ...judgedOn(counts, claim),
    unknown,
    ...(firstUnknown === null ? {} : { firstUnknown }),
    ...(kinds.length === 0 ? {} : { kinds }),
  };
}

/** Returns the scope of an exhaustive search of `plans` plans. */
export function scopeOf(scenario: Scenario, { plans }: { readonly plans: number }): ExhaustedScope {
  return {
    faults: scenario.exhaust?.faults ?? 0,
    ties: scenario.exhaust?.ties ?? 0,
    kinds: [...new Set(scenario.faults.map(({ kind }) => kind))],
    latencyUs: scenario.network.latency.minUs,
    clients: scenario.clients.length,
    sections: Math.max(...scenario.clients.map(({ sections }) => sections)),
    plans,
  };
}

function counterexampleOf(finding: Finding | undefined): CounterexampleSummary | null {
  if (finding === undefined) return null;
  const { planFile, claim, plan, size, digest } = finding;
  return {
    file: planFile,
    claim,
    clients: plan.clients.length,
    faults: plan.faults.length,
    events: size.events,
    originalEvents: size.originalEvents,
    chance: plan.chance === null ? 0 : 1,
    digest,
  };
}

/** Merges the conclusions of all scenarios. `asked` is the number of requested scenarios. */
export function resultOf(
  concluded: readonly Concluded[],
  { asked, isInterrupted }: { readonly asked: number; readonly isInterrupted: boolean },
): Result {
  const sum = (of: (conclusion: Concluded) => number): number =>
    concluded.reduce((all, conclusion) => all + of(conclusion), 0);
  const seconds = Math.max(sum(({ milliseconds }) => milliseconds) / 1000, 0.001);
  const codes = concluded.map(({ exit }) => exit);
  const notBegun = asked - concluded.length;
  return {
    type: 'report',
    version: 1,
    summary: {
      type: 'summary',
      version: 1,
      exit: worstOf(isInterrupted ? [...codes, exits.interrupted] : codes),
      seedsPerSecond: Math.round(sum(({ seeds }) => seeds) / seconds),
      eventsPerSecond: Math.round(sum(({ events }) => events) / seconds),
      scenarios: concluded.map(({ result }) => result),
      ...(notBegun === 0 ? {} : { notBegun }),
    },
    findings: concluded.flatMap(({ findings }) => findings),
  };
}
