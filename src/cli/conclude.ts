/**
 * What the seeds of a scenario came to: expectations judged, the seeds that broke a claim shrunk
 * and explained, the summary that people and machines read, and the exit codes that apply. It does
 * not matter whether one machine examined the seeds or several.
 */
import { resolve } from 'node:path';
import { type BreachCause, causeText, isSameCause } from '../check/breach-cause.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { OtherBreach } from '../core/shrink/search.ts';
import type { ShrinkResult } from '../core/shrink/shrink.ts';
import { isSimpler } from '../core/shrink/simpler.ts';
import { expectsBreach } from '../harness.ts';
import { examineAsync, pinAsync } from '../host/async/run-async.ts';
import { describeShrunk, type FindingPlace, type Shrunk } from '../report/describe-finding.ts';
import { scopeOf } from '../report/exhausted.ts';
import { type Finding, replayCommand, shellWords } from '../report/finding.ts';
import { siblingLine } from '../report/sibling-text.ts';
import type {
  CounterexampleSummary,
  CutShort,
  ExhaustedScope,
  KindOfFailure,
  ScenarioSummary,
  SystemSummary,
} from '../report/summary.ts';
import { drawsNothing, expand } from '../scenario/expand.ts';
import type { SystemScenario } from '../scenario/scenario.ts';
import { runSiblings } from '../search/corpus/replay.ts';
import { isSameKind, signatureOf } from '../search/corpus/signature.ts';
import type { SystemEdges } from '../search/exhaust/edge.ts';
import type { NumberedPlans } from '../search/exhaust/exhaust.ts';
import { type CauseTally, kindsAmong } from '../search/sweep/causes.ts';
import {
  type AvoidedSeeds,
  avoidedOn,
  countAvoided,
  NONE_AVOIDED,
} from '../search/sweep/counterfactual.ts';
import { claimsToShrink, type Judgement, judgeSystem } from '../search/sweep/expectation.ts';
import { mostFirst } from '../search/sweep/sections.ts';
import type { KeptOutcome, RunDifference, SeedRange } from '../search/sweep/shards.ts';
import { type ClaimTally, claimTally, EMPTY_TALLY, type Tally } from '../search/sweep/tally.ts';
import { performTask, type TaskContext, type TaskEnd } from '../search/sweep/tasks.ts';
import { groupDigits } from '../text/prose.ts';
import { folderToKeepIn } from './corpus-place.ts';
import { type ExhaustedPlans, edgesOf, numberedOf } from './exhaust.ts';
import { type Exit, exits } from './exit.ts';
import { exitsOfKept } from './kept-plans.ts';
import { pageFileOf, planFileOf } from './output-files.ts';
import { plansFolderOf, scenarioTyped } from './shipped.ts';
import type { LoadedScenario } from './sources.ts';
import { noteFailures, type Terminal } from './terminal.ts';

/** What is known of a scenario once its seeds are done. */
export interface Examined {
  /** By the name of the system. */
  readonly tallies: ReadonlyMap<string, Tally>;
  /** The seeds that were asked for; of a shard, those of all shards. */
  readonly range: SeedRange;
  /** Whether every seed that was to be examined here was. */
  readonly isWhole: boolean;
  /** Why not, and of how many; absent where all were. */
  readonly cutShort?: CutShort;
  /** Whether this is one shard of several, so that only the merge can tell what never happened. */
  readonly isPart: boolean;
  readonly milliseconds: number;
  readonly keptPlans: readonly KeptOutcome[];
  /** How many runs were repeated to see whether they are deterministic, and what differed. */
  readonly repeated: number;
  readonly difference: RunDifference | null;
  /** All plans of each system, where these were examined and no seeds; absent where seeds were. */
  readonly exhausted?: ReadonlyMap<string, ExhaustedPlans>;
  /** The folder of kept plans; absent or null for `plans` beside the scenario. */
  readonly corpus?: string | null;
}

/** What the run of one scenario came to. */
export interface ScenarioOutcome {
  readonly summary: ScenarioSummary;
  /** Of the scenario's file. */
  readonly text: string;
  readonly findings: readonly Finding[];
  /** Where the systems that broke begin to; none where seeds were examined. */
  readonly edges: readonly SystemEdges[];
  readonly exits: readonly Exit[];
  readonly seeds: number;
  readonly events: number;
  readonly milliseconds: number;
  readonly examined: Examined;
}

interface ConcludeContext {
  /** The folder that counterexamples will be written to. */
  readonly output: string;
  /** Whether pages are written too, which may be named then. */
  readonly hasPage: boolean;
  readonly terminal: Terminal;
  readonly isInterrupted: () => boolean;
  /** Where seeds are shrunk; in this thread if absent or null. */
  readonly pool?: TaskContext['pool'];
}

interface ShrinkContext extends ConcludeContext {
  /** What numbers of plans mean; absent where there are seeds. */
  readonly numbered?: NumberedPlans;
  readonly onLost: NonNullable<Failing['onLost']>;
  /** Told of a claim that no seed broke again of those that had. */
  readonly onVanished: (failing: Pick<Failing, 'system' | 'claim'>, tally: ClaimTally) => void;
}

/** Judges every system, and shrinks what broke unless a merge will; writes nothing. */
export async function concludeScenario(
  loaded: LoadedScenario,
  examined: Examined,
  context: ConcludeContext,
): Promise<ScenarioOutcome> {
  const { terminal, isInterrupted, pool = null } = context;
  const { scenario, file, text } = loaded;
  const { range, isWhole, isPart, milliseconds, keptPlans, difference } = examined;
  const { corpus = null, exhausted } = examined;
  const trial = exhausted === undefined ? 'seed' : 'plan';
  const { cutShort } = examined;
  const isSingle = range.from === range.to;
  const avoided = await avoidedIn(loaded, examined, isInterrupted);
  const coverage = { isWhole: isWhole && !isPart, isSingle, isPart, avoided };
  const codes = exitsOfKept(keptPlans);
  const tasks = { pool, isGivenUp: isInterrupted };
  if (difference !== null) codes.push(exits.nondeterministic);
  const onLost = (what: string): void => {
    terminal.print(`✗ ${what}`);
    codes.push(exits.failed);
  };
  const onVanished: ShrinkContext['onVanished'] = ({ system, claim }, { brokenSeeds }) => {
    const which = `${trial} ${brokenSeeds[0] ?? range.from}`;
    const what = `${claim} broke, and does not when it is run again`;
    terminal.print(`nondeterministic: ${file}, ${system}, ${which}: ${what}`);
    codes.push(exits.nondeterministic);
  };
  const systems: SystemSummary[] = [];
  const findings: Finding[] = [];
  const edges: SystemEdges[] = [];
  let seeds = 0;
  let events = 0;
  for (const system of scenario.systems) {
    const tally = examined.tallies.get(system.name) ?? EMPTY_TALLY;
    const judgement = judgeSystem(scenario, system, tally, coverage);
    const plans = exhausted?.get(system.name);
    const numbered = plans === undefined ? {} : { numbered: plans.numbered };
    const shrinking = { ...context, ...numbered, onLost, onVanished };
    const found = isPart ? [] : await shrinkClaims(loaded, system, { tally, corpus }, shrinking);
    findings.push(...found);
    if (plans !== undefined && isWhole && !isPart) {
      edges.push(...(await edgesOf(loaded, system, { tally, plans: plans.plans }, tasks)));
    }
    const isWritten = plans === undefined && drawsNothing(scenario, system.name);
    const scope = plans && scopeOf(scenario, plans);
    const counted = { system, tally, avoided, isWritten, ...(scope && { exhausted: scope }) };
    systems.push(summarizeSystem(counted, judgement, found[0] ?? null));
    codes.push(...codesOf(tally, judgement, !isWhole && !isInterrupted()));
    noteFailures(system, tally, { terminal, trial });
    seeds += tally.seeds;
    events += tally.events;
  }
  const cut = cutShort === undefined ? {} : { cutShort };
  const summary = { name: scenario.name, file, systems, ...cut };
  return { summary, text, findings, edges, exits: codes, seeds, events, milliseconds, examined };
}

/** What each system avoided that broke a sibling, once all seeds are known. */
async function avoidedIn(
  { scenario, catalogue }: LoadedScenario,
  { tallies, range, isWhole, isPart, exhausted }: Examined,
  shouldStop: () => boolean,
): Promise<AvoidedSeeds> {
  if (!isWhole || isPart || range.from === range.to) return NONE_AVOIDED;
  const numbered = exhausted === undefined ? {} : { numbered: numberedOf(exhausted) };
  return await countAvoided(scenario, tallies, { catalogue, shouldStop, ...numbered });
}

/** Kinds of failure of one claim that are shrunk. */
const KINDS_SHRUNK = 3;

/** The counterexamples of a system, the first of each claim being that of its lowest seeds. */
async function shrinkClaims(
  loaded: LoadedScenario,
  system: SystemScenario,
  { tally, corpus }: { tally: Tally; corpus: string | null },
  context: ShrinkContext,
): Promise<Finding[]> {
  const { output, hasPage, terminal, onVanished } = context;
  const findings: Finding[] = [];
  for (const claim of claimsToShrink(system, tally)) {
    const startedMs = performance.now();
    const failing = { system: system.name, claim };
    const kinds = kindsOf(claimTally(tally, claim));
    const found = await shrinkKinds(
      loaded,
      { ...failing, kinds },
      { output, corpus, hasPage },
      context,
    );
    const [first] = found;
    if (first === undefined) {
      if (!context.isInterrupted()) onVanished(failing, claimTally(tally, claim));
      continue;
    }
    findings.push(...found);
    const { originalEvents, events } = first.size;
    const took = `${groupDigits(performance.now() - startedMs)} ms`;
    const several = found.length === 1 ? '' : `, ${found.length} kinds`;
    const size = `${originalEvents} → ${events} events${several} in ${took}`;
    terminal.note(`  shrink: ${system.name}, ${claim}: ${size}: ${first.explanation.headline}`);
  }
  return findings;
}

/** Seeds of one kind of failure; the cause is null where none is known of any. */
interface SeedsOfKind {
  readonly cause: BreachCause | null;
  readonly seeds: readonly number[];
}

function kindsOf({ causes = [], brokenSeeds }: ClaimTally): readonly SeedsOfKind[] {
  if (causes.length === 0) return [{ cause: null, seeds: brokenSeeds }];
  return kindsAmong(causes).map(({ cause, brokenSeeds: seeds }) => ({ cause, seeds }));
}

/** One counterexample for each kind, and then for each cause that shrinking met besides. */
async function shrinkKinds(
  loaded: LoadedScenario,
  { system, claim, kinds }: Pick<Failing, 'system' | 'claim'> & { kinds: readonly SeedsOfKind[] },
  folders: Folders,
  { isInterrupted, pool = null, onLost, numbered }: ShrinkContext,
): Promise<readonly Finding[]> {
  const planOf = numbered && { planOf: (number: number) => numbered.planOf(number) };
  const found: Finding[] = [];
  const met: { readonly plan: Plan; readonly seed: number }[] = [];
  const next = async (failing: Pick<Failing, 'seeds' | 'planOf'>): Promise<void> => {
    const onOthers: Failing['onOthers'] = (others, seed) =>
      void met.push(...others.map(({ plan }) => ({ plan, seed })));
    const number = found.length + 1;
    const setting = { system, claim, number, onOthers, onLost, ...planOf, ...failing };
    const context = { pool, isGivenUp: isInterrupted };
    const finding = await findCounterexample(loaded, setting, folders, context);
    if (finding !== null && !found.some((one) => isSameFinding(one, finding))) found.push(finding);
  };
  const isWritten = numbered === undefined && drawsNothing(loaded.scenario, system);
  for (const [at, { seeds }] of kinds.slice(0, isWritten ? 1 : KINDS_SHRUNK).entries()) {
    await next({ seeds: at === 0 ? seeds : seeds.slice(0, 1) });
  }
  const known = kinds.flatMap(({ cause }) => (cause === null ? [] : [cause]));
  for (const { plan, seed } of [...met]) {
    if (found.length >= KINDS_SHRUNK || isInterrupted()) break;
    const { causes } = await examineAsync(plan, [claim], loaded.catalogue);
    const cause = causes.get(claim);
    if (cause === undefined || known.some((one) => isSameCause(one, cause))) continue;
    known.push(cause);
    await next({ seeds: [seed], planOf: () => plan });
  }
  return found;
}

/** Two kinds may shrink to one failure, where neither needs the fault that told them apart. */
function isSameFinding(one: Finding, other: Finding): boolean {
  const [first, second] = [one, other].map(({ plan, verdict }) => signatureOf(plan, verdict));
  if (first === undefined || second === undefined) return false;
  return one.verdict.rule === other.verdict.rule && isSameKind(first, second);
}

function codesOf(tally: Tally, judgement: Judgement, isSpent: boolean): Exit[] {
  const codes: Exit[] = [];
  if (tally.failed > 0) codes.push(exits.failed);
  if (judgement.met === false) codes.push(exits.broken);
  const isOpen = judgement.met === null && tally.failed === 0;
  if (isOpen && (judgement.isIncomplete || isSpent)) codes.push(exits.incomplete);
  return codes;
}

export interface Failing {
  readonly system: string;
  readonly claim: string;
  /** Seeds that broke it, at least one; the simplest counterexample of the first few is taken. */
  readonly seeds: readonly number[];
  /** The plan that is shrunk of a seed; that of the scenario if absent. */
  readonly planOf?: (seed: number) => Plan;
  /** Which counterexample of its claim it is, from 1, as its file says; 1 if absent. */
  readonly number?: number;
  /** Told what else breaks the claim, by another cause. */
  readonly onOthers?: (others: readonly OtherBreach[], seed: number) => void;
  /** Told where a run did not end while a seed was shrunk, which then stays as it is. */
  readonly onLost?: (what: string) => void;
}

/** A plan that breaks its claim, shrunk unless that cannot be. */
type ShrunkSeed = Shrunk['result'] & Pick<ShrinkResult, 'others'>;

interface Folders {
  /** Where plans and pages are written. */
  readonly output: string;
  /** Where plans are kept; null for `plans` beside their scenario. */
  readonly corpus: string | null;
  /** Whether pages are written. */
  readonly hasPage: boolean;
}

/** Seeds that are shrunk to find the simplest plan: one may be stuck with two faults. */
export const SEEDS_TRIED = 3;

/** The simplest counterexample that the first few seeds shrink to; null when none broke it. */
export async function findCounterexample(
  loaded: Pick<LoadedScenario, 'scenario' | 'file' | 'catalogue'>,
  failing: Failing,
  folders: Folders,
  { pool, isGivenUp }: Pick<TaskContext, 'pool' | 'isGivenUp'>,
): Promise<Finding | null> {
  const { catalogue } = loaded;
  const context = { pool, catalogue, isGivenUp };
  const { exhaust } = loaded.scenario;
  const isWritten = exhaust === undefined && drawsNothing(loaded.scenario, failing.system);
  let best: { seed: number; original: Plan; result: ShrunkSeed } | null = null;
  for (const seed of failing.seeds.slice(0, SEEDS_TRIED)) {
    const original = failing.planOf?.(seed) ?? expand(loaded.scenario, failing.system, seed);
    if (isGivenUp()) break;
    if (isWritten) {
      const result = await unshrunk(original, failing.claim, catalogue, AS_WRITTEN);
      best = { seed, original, result };
      break;
    }
    const title = `shrinking seed ${seed} of ${failing.system} in ${loaded.scenario.name}`;
    const task = { kind: 'shrink', plan: original, claim: failing.claim, title } as const;
    const end = await performTask(task, context);
    if (end.kind === 'lost') {
      failing.onLost?.(`${end.where}: ${end.why}`);
      best ??= { seed, original, result: await unshrunk(original, failing.claim, catalogue) };
      break;
    }
    const result = shrunkBy(end);
    if (result === null) continue;
    failing.onOthers?.(result.others, seed);
    const isBetter = best === null || isSimpler(result.plan, best.result.plan);
    if (isBetter) best = { seed, original, result };
  }
  if (best === null) return null;
  const { seed, original, result } = best;
  const place = { scenario: loaded.scenario.name, scenarioFile: loaded.file, seed };
  const scope = exhaust === undefined ? {} : { exhaust };
  const found = { ...place, ...scope, original, result, claim: failing.claim, catalogue };
  const { systems: all } = loaded.scenario;
  const systems = all.map(({ name }) => name);
  const breaks = all.find(({ name }) => name === failing.system)?.expect.breaks ?? [];
  const isExpected = breaks.includes(failing.claim);
  const finding = await describeShrunk(
    found,
    placeOf(found, systems, { ...folders, number: failing.number ?? 1, isExpected }),
  );
  return finding === null ? null : await withSiblings(finding, loaded);
}

/** A plan as it is, nothing of it left to chance. */
async function unshrunk(
  original: Plan,
  claim: string,
  catalogue: LoadedScenario['catalogue'],
  whyNoBoundary = 'not shrunk: a run did not end',
): Promise<ShrunkSeed> {
  const plan = expectsBreach(await pinAsync(original, catalogue), claim);
  return { plan, boundary: null, whyNoBoundary, others: [] };
}

/** Who wrote a scenario that leaves nothing to draw meant each of its events. */
const AS_WRITTEN = 'told as it is written: the scenario leaves nothing to draw, nor to shrink';

/** The finding with what the same plan does on the systems that must hold. */
async function withSiblings(
  finding: Finding,
  { scenario, catalogue }: Pick<LoadedScenario, 'scenario' | 'catalogue'>,
): Promise<Finding> {
  const siblings = await runSiblings(scenario, finding, catalogue);
  if (siblings.length === 0) return finding;
  const lines = siblings.map((one) => siblingLine(one, finding.trace));
  const [cured] = siblings.flatMap(({ system, fate }) => {
    if (fate.kind !== 'ran' || fate.replay.outcome !== 'fixed') return [];
    return [{ system, plan: fate.plan, trace: fate.replay.trace, evidence: [] }];
  });
  return { ...finding, siblings: lines, ...(cured === undefined ? {} : { cured }) };
}

/** Null where it did not break its claim, or was not judged. */
function shrunkBy(end: TaskEnd): ShrinkResult | null {
  if (end.kind === 'threw') throw new Error(end.error);
  return end.kind === 'shrunk' && end.result.reproduced === true ? end.result : null;
}

interface Numbered {
  readonly number: number;
  readonly isExpected: boolean;
}

function placeOf(
  found: Shrunk,
  systems: readonly string[],
  { output, corpus, hasPage, number, isExpected }: Folders & Numbered,
): FindingPlace {
  const { scenario, scenarioFile, claim, result } = found;
  const { plan } = result;
  const kind = { system: plan.system.name, claim };
  const own = planFileOf(kind, { scenario, systems, output });
  const planFile = number === 1 ? own : own.replace(/\.yaml$/, `-${number}.yaml`);
  const beside = plansFolderOf(scenarioFile);
  const isFound = corpus === null && resolve(folderToKeepIn(scenario)) === resolve(beside);
  const keptIn = isFound ? '' : `${corpus ?? beside}/`;
  const command = shellWords(replayCommand({ plan, planFile, scenarioFile })).join(' ');
  const pageFile = hasPage ? pageFileOf(output, scenario) : '';
  return {
    ...{ planFile, pageFile, keptIn, command, scenarioTyped: scenarioTyped(scenarioFile) },
    ...(isExpected ? { isExpected } : {}),
  };
}

/** What a system came to on its seeds, and beside its siblings. */
interface Counted {
  readonly system: SystemScenario;
  readonly tally: Tally;
  readonly avoided: AvoidedSeeds;
  readonly isWritten: boolean;
  readonly exhausted?: ExhaustedScope;
}

function summarizeSystem(
  { system, tally, avoided, isWritten, exhausted }: Counted,
  judgement: Judgement,
  finding: Finding | null,
): SystemSummary {
  const claims = Object.keys(tally.claims).map((claim) => {
    const { broken, brokenSeeds, exercised, causes = [] } = claimTally(tally, claim);
    const firstSeed = brokenSeeds[0] ?? null;
    const avoidedSeeds = avoidedOn(avoided, system.name, claim);
    const seen = { broken, firstSeed, exercised, avoided: avoidedSeeds };
    const kinds = kindsAmong(causes).map(summarizeKind);
    return [claim, kinds.length === 0 ? seen : { ...seen, kinds }] as const;
  });
  const { seeds, broken, unknown } = tally;
  return {
    ...{ name: system.name, expect: system.expect, met: judgement.met, seeds, broken, unknown },
    claims: Object.fromEntries(claims),
    measured: {
      'holder-overlap': tally.overlap,
      'loss-noticed': tally.losses,
      ...(tally.stampede.computations === 0 ? null : { stampede: tally.stampede }),
    },
    sections: { ...tally.sections, failed: mostFirst(tally.sections.failed) },
    vacuous: judgement.vacuous,
    hints: judgement.hints,
    // The order in which kinds first fired depends on how the seeds were cut into chunks.
    faults: Object.fromEntries(Object.entries(tally.faults).sort(([a], [b]) => (a < b ? -1 : 1))),
    counterexample: finding === null ? null : summarizeFinding(finding),
    ...(isWritten ? { isWritten } : {}),
    ...(exhausted === undefined ? {} : { exhausted }),
  };
}

function summarizeKind({ cause, broken, brokenSeeds }: CauseTally): KindOfFailure {
  return { rule: cause.rule, cause: causeText(cause), broken, firstSeed: brokenSeeds[0] ?? 0 };
}

function summarizeFinding(finding: Finding): CounterexampleSummary {
  const { planFile: file, plan, claim, digest } = finding;
  const { events, originalEvents } = finding.size;
  return {
    ...{ file, claim, clients: plan.clients.length, faults: plan.faults.length },
    ...{ events, originalEvents, chance: plan.chance === null ? 0 : 1, digest },
  };
}
