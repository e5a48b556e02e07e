/**
 * The functions of `fencepost`, for programs: load a scenario, expand a seed to a plan, run it,
 * judge the run, shrink and explain what breaks. All are asynchronous, whatever the system is made
 * of. They run the system's code on the caller's thread, and nothing ends a loop in it: the command
 * line and `checkScenario` watch it.
 */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Catalogue, SystemDefinition } from './catalogue.ts';
import type { Causation } from './check/causation.ts';
import type { Explanation, Verdict } from './check/verdict.ts';
import type { Trace } from './core/history/trace.ts';
import type { SourceFile } from './core/plan/document.ts';
import { faultFields } from './core/plan/fault-text.ts';
import type { Plan as PlanData } from './core/plan/plan.ts';
import { renderPlan } from './core/plan/plan-text.ts';
import type { Boundary } from './core/shrink/boundary.ts';
import { judgeRun } from './harness.ts';
import { yieldToEventLoop } from './host/async/ambient.ts';
import { examineAsync, shrinkFailureAsync } from './host/async/run-async.ts';
import { readPlanSource, readScenarioSource, scenarioFolderOf } from './host/modules/load-files.ts';
import { expand as expandData } from './scenario/expand.ts';
import type { Scenario as ScenarioData } from './scenario/scenario.ts';
import { replay as replayData } from './search/corpus/replay.ts';
import { explainPlan } from './search/evidence/explain-plan.ts';
import { claimsJudged } from './search/sweep/examiner.ts';
import { prepare } from './systems/store/store-kinds.ts';
import { type Problem, renderProblem, suggest } from './text/problem.ts';

/** A file, or a name or a plan given to a function, cannot be used. */
export class InvalidInput extends Error {
  override readonly name = 'InvalidInput';
  /** What is wrong with a file and where, in its order: a line each in the message. */
  readonly problems: readonly Problem[];

  /** @internal */
  constructor(problems: readonly Problem[] | string) {
    super(typeof problems === 'string' ? problems : problems.map(renderProblem).join('\n'));
    this.problems = typeof problems === 'string' ? [] : problems;
  }
}

/** A scenario that was loaded, with the modules that it uses. */
export class Scenario {
  readonly name: string;
  /** The names of its systems, in the order of the file. */
  readonly systems: readonly string[];
  /** What is probably a mistake, but does not keep it from being used. */
  readonly warnings: readonly Problem[];
  /** @internal */
  readonly data: ScenarioData;
  /** @internal */
  readonly catalogue: Catalogue;

  /** @internal */
  constructor(data: ScenarioData, catalogue: Catalogue, warnings: readonly Problem[]) {
    this.name = data.name;
    this.systems = data.systems.map(({ name }) => name);
    this.warnings = warnings;
    this.data = data;
    this.catalogue = catalogue;
  }
}

/** The complete input of one run. Its text, `String(plan)`, is what `loadPlan` reads. */
export class Plan {
  /** The system that it is about, as the scenario calls it. */
  readonly system: string;
  /** The claim that it is expected to break; null where it was not kept for one. */
  readonly claim: string | null;
  /** As in its text: `{ pause: { process: 'bob', before: 'bob/1/write', for: '20ms' } }`. */
  readonly faults: readonly Readonly<Record<string, unknown>>[];
  /** Modules that differ from those that it was made with, and in what. */
  readonly moduleChanges: readonly string[];
  /** @internal */
  readonly data: PlanData;
  /** @internal */
  readonly catalogue: Catalogue;
  /**
   * What the shrinker found beside it.
   * @internal
   */
  readonly boundary: Boundary | null;

  /** @internal */
  constructor(
    data: PlanData,
    catalogue: Catalogue,
    {
      moduleChanges = [],
      boundary = null,
    }: { readonly moduleChanges?: readonly string[]; readonly boundary?: Boundary | null } = {},
  ) {
    this.system = data.system.name;
    this.claim = data.expect?.claim ?? null;
    this.faults = data.faults.map(faultFields);
    this.moduleChanges = moduleChanges;
    this.data = data;
    this.catalogue = catalogue;
    this.boundary = boundary;
  }

  /** The plan as YAML. */
  toString(): string {
    return renderPlan(this.data);
  }
}

/**
 * Loads a scenario and the modules that it uses, which lie in or below its folder. Rejects with
 * `InvalidInput`, and with the error of the file system where the file cannot be read.
 *
 * @param source A path, or the text of a file with the path at which it would stand.
 * @param options `use`: definitions whose names the scenario may use, beside those of its modules.
 *
 * @example
 * const scenario = await loadScenario('fixtures/zombie-writer.yaml');
 * console.log(scenario.systems); // [ 'unfenced', 'fenced', … ]
 */
export async function loadScenario(
  source: string | { readonly file: string; readonly text: string },
  { use = [] }: { readonly use?: SystemDefinition | readonly SystemDefinition[] } = {},
): Promise<Scenario> {
  const file = sourceOf(source);
  const modules = { kind: 'folder', folder: dirname(file.file) } as const;
  const read = await readScenarioSource(file, modules, listOf(use));
  if (read.kind === 'problems') throw new InvalidInput(read.problems);
  return new Scenario(read.scenario, read.catalogue, read.warnings);
}

/**
 * Loads a plan and the modules that it uses: those of its folder, or of the one above if that is
 * called `plans`. They have to be those that the plan was made with, unless `modules` names their
 * folder. Rejects as `loadScenario` does.
 *
 * @param source A path, or the text of a file with the path at which it would stand.
 */
export async function loadPlan(
  source: string | { readonly file: string; readonly text: string },
  options: {
    readonly modules?: string;
    readonly use?: SystemDefinition | readonly SystemDefinition[];
  } = {},
): Promise<Plan> {
  const { modules, use = [] } = options;
  const file = sourceOf(source);
  const folder = modules ?? scenarioFolderOf(file.file);
  const known =
    modules === undefined ? { accepted: {}, ifChanged: '; name its folder to run it' } : {};
  const reading = { ...known, use: listOf(use) };
  const read = await readPlanSource(file, { kind: 'folder', folder }, reading);
  if (read.kind === 'problems') throw new InvalidInput(read.problems);
  return new Plan(read.plan, read.catalogue, { moduleChanges: read.moduleChanges });
}

function sourceOf(source: string | SourceFile): SourceFile {
  if (typeof source !== 'string') return source;
  return { file: source, text: readFileSync(source, 'utf8') };
}

function listOf<T extends object>(given: T | readonly T[]): readonly T[] {
  const isList = (value: T | readonly T[]): value is readonly T[] => Array.isArray(value);
  return isList(given) ? given : [given];
}

/**
 * The plan of one seed, a whole number from 0. Rejects with `InvalidInput` where the scenario has
 * no such system.
 */
export async function expand(scenario: Scenario, system: string, seed: number): Promise<Plan> {
  const { name, systems } = scenario;
  if (!systems.includes(system)) {
    throw new InvalidInput(
      `${name} has no system ${JSON.stringify(system)}${suggest(system, systems)}`,
    );
  }
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new InvalidInput(`a seed is a whole number from 0, not ${seed}`);
  }
  return new Plan(expandData(scenario.data, system, seed), scenario.catalogue);
}

/**
 * Runs a plan. The same plan gives the same trace. What the system's code throws ends the run, and
 * stands in the trace's `ending`.
 *
 * @example
 * const scenario = await loadScenario('fixtures/zombie-writer.yaml');
 * const trace = await run(await expand(scenario, 'unfenced', 0));
 * console.log(trace.events.filter(({ kind }) => kind === 'grant').length, trace.ending);
 */
export async function run(plan: Plan): Promise<Trace> {
  await prepare([plan.data.system], plan.catalogue);
  return (await examineAsync(plan.data, [], plan.catalogue)).trace;
}

/**
 * Judges the trace of a plan: a verdict for each of `claims`, in their order, or for each claim
 * that is judged on every run. Rejects with `InvalidInput` where a claim is unknown.
 *
 * @example
 * const [verdict] = await judge(plan, await run(plan), ['grant-order']);
 * if (verdict?.kind === 'invalid') console.log(verdict.rule);
 */
export async function judge(
  plan: Plan,
  trace: Trace,
  claims: readonly string[] = claimsJudged([], plan.catalogue),
): Promise<readonly Verdict[]> {
  for (const claim of claims) requireClaim(plan, claim);
  return judgeRun(plan.data, trace, claims, plan.catalogue).verdicts;
}

/** A plan that was made smaller. */
export interface ShrinkResult {
  /** The simplest plan found that breaks the claim by the same cause. */
  readonly plan: Plan;
  /** Whether no pass can make it any simpler; false where the search ended before. */
  readonly isMinimal: boolean;
  /** How many plans were run. */
  readonly runs: number;
  /** How much is just enough: one number of the plan, on both sides of its boundary. */
  readonly boundary: {
    /** The number: `pause of alice`. */
    readonly what: string;
    readonly breaksAtUs: number;
    readonly holdsAtUs: number;
  } | null;
  /** Simpler plans that break the claim too, each by another cause. */
  readonly others: readonly { readonly cause: string; readonly plan: Plan }[];
}

/**
 * Shrinks a plan that breaks a claim to the few events that matter. Rejects with `InvalidInput`
 * where the plan does not break it, or the claim is unknown.
 *
 * @param options `maxRuns`: how many plans may be run, 1000 if absent; `signal`: an `AbortSignal`;
 * once it is aborted, the best plan so far is the result.
 *
 * @example
 * const { plan: smallest } = await shrink(plan, 'grant-order');
 * console.log(String(smallest));
 */
export async function shrink(
  plan: Plan,
  claim: string,
  {
    maxRuns,
    signal,
  }: { readonly maxRuns?: number; readonly signal?: { readonly aborted: boolean } } = {},
): Promise<ShrinkResult> {
  requireClaim(plan, claim);
  const { catalogue } = plan;
  await prepare([plan.data.system], catalogue);
  const { reproduced, isMinimal, runs, boundary, ...found } = await shrinkFailureAsync(
    plan.data,
    claim,
    {
      catalogue,
      shouldStop: () => signal?.aborted === true,
      breathe: yieldToEventLoop,
      ...(maxRuns === undefined ? {} : { maxRuns }),
    },
  );
  if (reproduced === false) throw new InvalidInput(`the plan does not break ${claim}`);
  const others = found.others.map(({ cause, plan: other }) => {
    return { cause, plan: new Plan(other, catalogue) };
  });
  const smallest = new Plan(found.plan, catalogue, { boundary });
  return { plan: smallest, isMinimal, runs, boundary, others };
}

/** What became of a plan that was kept because it broke a claim. */
export interface Replay {
  readonly claim: string;
  /**
   * `reproduced`: the claim breaks; `fixed`: its hazard arose and it held; `diverged`: a name in
   * the plan found no match in the run; `inert`: everything matched, but the hazard does not arise.
   */
  readonly outcome: 'reproduced' | 'fixed' | 'diverged' | 'inert';
  /** The first name in the plan that found no match; null when all did. */
  readonly divergedAt: string | null;
  /** `sha256:…` over the events of the trace: the same for the same plan on every machine. */
  readonly digest: string;
  readonly trace: Trace;
  readonly verdict: Verdict;
}

/**
 * Runs a plan and says whether it still breaks `claim`: by default the one that it was kept for, or
 * `grant-order`. Rejects with `InvalidInput` where the claim is unknown.
 *
 * @example
 * const plan = await loadPlan('fixtures/plans/zombie-writer-unfenced-grant-order.yaml');
 * console.log((await replay(plan)).outcome); // reproduced
 */
export async function replay(plan: Plan, claim?: string): Promise<Replay> {
  if (claim !== undefined) requireClaim(plan, claim);
  await prepare([plan.data.system], plan.catalogue);
  const { cause: _, ...result } = await replayData(plan.data, claim, plan.catalogue);
  return result;
}

/**
 * Explains why a plan breaks a claim, in the words of the command line, by runs that differ from it
 * in one thing; null where it does not break the claim. A cure is named only where it held on the
 * same plan. Rejects with `InvalidInput` where the claim is unknown.
 *
 * @example
 * const explained = await explain(plan, 'grant-order');
 * console.log(explained?.explanation.headline); // Stale write accepted by `unfenced`
 */
export async function explain(
  plan: Plan,
  claim: string,
): Promise<{ readonly explanation: Explanation; readonly causation: Causation } | null> {
  requireClaim(plan, claim);
  const { catalogue, boundary } = plan;
  await prepare([plan.data.system], catalogue);
  return await explainPlan(plan.data, claim, { catalogue, boundary });
}

function requireClaim({ catalogue }: Plan, claim: string): void {
  if (catalogue.claims.has(claim)) return;
  const known = [...catalogue.claims.keys()];
  throw new InvalidInput(`unknown claim ${JSON.stringify(claim)}${suggest(claim, known)}`);
}
