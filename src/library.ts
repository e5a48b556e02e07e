/**
 * The functions of `fencepost` for programs: load a scenario, expand a seed to a plan, run it,
 * judge the run, shrink and explain a failure. All are asynchronous, so that they accept every kind
 * of system. They run the system's code on the caller's thread without a watchdog, so a call never
 * returns if that code loops forever. The command line and `checkScenario` have a watchdog.
 */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Catalogue, SystemDefinition } from './catalogue.ts';
import type { Causation } from './check/causation.ts';
import type { Explanation, Verdict } from './check/verdict.ts';
import type { Trace } from './core/history/trace.ts';
import type { SourceFile } from './core/plan/document.ts';
import { faultFields } from './core/plan/fault-text.ts';
import { shown } from './core/plan/fields.ts';
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
import { errorText } from './text/error-text.ts';
import { type Problem, renderProblem, suggest } from './text/problem.ts';

/** Thrown if a file, or an argument of a function, is invalid. */
export class InvalidInput extends Error {
  override readonly name = 'InvalidInput';
  /** The problems in a file and their places, in file order. The message has a line for each. */
  readonly problems: readonly Problem[];

  /** @internal */
  constructor(problems: readonly Problem[] | string) {
    super(typeof problems === 'string' ? problems : problems.map(renderProblem).join('\n'));
    this.problems = typeof problems === 'string' ? [] : problems;
  }
}

/** A loaded scenario, with the modules that it uses. */
export class Scenario {
  readonly name: string;
  /** The names of the scenario's systems, in file order. */
  readonly systems: readonly string[];
  /** Probable mistakes that do not make the scenario invalid. */
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

/** The complete input of one run. `loadPlan` can read its text, `String(plan)`. */
export class Plan {
  /** The name of the system that the plan runs. */
  readonly system: string;
  /** The claim that the plan is expected to break, or null if the plan was not kept for a claim. */
  readonly claim: string | null;
  /**
   * The faults, as in the plan's text:
   * `{ pause: { process: 'bob', before: 'bob/1/write', for: '20ms' } }`.
   */
  readonly faults: readonly Readonly<Record<string, unknown>>[];
  /** Modules that have changed since the plan was made, and their changes. */
  readonly moduleChanges: readonly string[];
  /** @internal */
  readonly data: PlanData;
  /** @internal */
  readonly catalogue: Catalogue;
  /**
   * The boundary that the shrinker found.
   *
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

  /** Returns the plan as YAML. */
  toString(): string {
    return renderPlan(this.data);
  }
}

/**
 * Loads a scenario and the modules that it uses, which must be in or below its folder. Rejects with
 * `InvalidInput` if the scenario is invalid. Rejects with an error that names the conflict if a
 * name in `use` is already defined.
 *
 * @param source A path, or the text of a file together with the path that it would have.
 * @param options `use`: definitions that the scenario may use in addition to those of its modules.
 * @example
 * const scenario = await loadScenario('node_modules/fencepost/fixtures/zombie-writer.yaml');
 * console.log(scenario.systems); // [ 'unfenced', 'fenced', … ]
 */
export async function loadScenario(
  source: string | { readonly file: string; readonly text: string },
  { use = [] }: { readonly use?: SystemDefinition | readonly SystemDefinition[] } = {},
): Promise<Scenario> {
  const file = sourceOf(source);
  const modules = { kind: 'folder', folder: dirname(file.file) } as const;
  const read = await readScenarioSource(file, modules, definitionsIn(use));
  if (read.kind === 'problems') throw new InvalidInput(read.problems);
  return new Scenario(read.scenario, read.catalogue, read.warnings);
}

/**
 * Loads a plan and the modules that it uses. The modules are in the plan's folder or, if that
 * folder is called `plans`, in its parent. They must be unchanged since the plan was made, unless
 * `modules` names their folder. Rejects as `loadScenario` does.
 *
 * @param source A path, or the text of a file together with the path that it would have.
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
  const reading = { ...known, use: definitionsIn(use) };
  const read = await readPlanSource(file, { kind: 'folder', folder }, reading);
  if (read.kind === 'problems') throw new InvalidInput(read.problems);
  return new Plan(read.plan, read.catalogue, { moduleChanges: read.moduleChanges });
}

/** Throws `InvalidInput` if the file cannot be read or `source` has neither form. */
function sourceOf(source: string | SourceFile): SourceFile {
  const argument: unknown = source;
  if (typeof source === 'string') {
    try {
      return { file: source, text: readFileSync(source, 'utf8') };
    } catch (error) {
      const hint = source.includes('\n') ? '; for the text of a file give { file, text }' : '';
      const [first = ''] = source.split('\n');
      throw new InvalidInput(`${first}: ${readFailure(error)}${hint}`);
    }
  }
  const isObject = typeof argument === 'object' && argument !== null;
  if (isObject && typeof source.file === 'string' && typeof source.text === 'string') return source;
  throw new InvalidInput(`expected a path, or { file, text }, not ${described(argument)}`);
}

function readFailure(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT' || code === 'ENAMETOOLONG') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a folder';
  return errorText(error);
}

/** Throws `InvalidInput` if a definition is not from `defineSystem`. */
function definitionsIn(
  use: SystemDefinition | readonly SystemDefinition[],
): readonly SystemDefinition[] {
  const isList = (
    value: SystemDefinition | readonly SystemDefinition[],
  ): value is readonly SystemDefinition[] => Array.isArray(value);
  const list = isList(use) ? use : [use];
  for (const definition of list) {
    const value: unknown = definition;
    const isMade = typeof value === 'object' && value !== null && 'kind' in value;
    if (isMade && value.kind === 'fencepost-system') continue;
    throw new InvalidInput(
      `use: expected a definition returned by defineSystem, not ${described(value)}`,
    );
  }
  return list;
}

function described(argument: unknown): string {
  if (argument instanceof Promise) return 'a promise: await it first';
  return shown(argument);
}

/**
 * Returns the plan of one seed, an integer from 0. Rejects with `InvalidInput` if the system is
 * unknown or the seed is invalid.
 */
export async function expand(scenario: Scenario, system: string, seed: number): Promise<Plan> {
  if (!(scenario instanceof Scenario)) {
    throw new InvalidInput(`expand: expected a scenario, not ${described(scenario)}`);
  }
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
 * Runs a plan. The same plan gives the same trace. An error thrown by the system's code ends the
 * run and is recorded in the trace's `ending`.
 *
 * @example
 * const scenario = await loadScenario('node_modules/fencepost/fixtures/zombie-writer.yaml');
 * const trace = await run(await expand(scenario, 'unfenced', 0));
 * console.log(trace.events.filter(({ kind }) => kind === 'grant').length, trace.ending);
 */
export async function run(plan: Plan): Promise<Trace> {
  requirePlan('run', plan);
  await prepare([plan.data.system], plan.catalogue);
  return (await examineAsync(plan.data, [], plan.catalogue)).trace;
}

/**
 * Judges the trace of a plan. Returns a verdict for each of `claims`, in the same order. The
 * default is each claim that is judged on every run. Rejects with `InvalidInput` if a claim is
 * unknown.
 *
 * @example
 * const [verdict] = await judge(plan, await run(plan), ['grant-order']);
 * if (verdict?.kind === 'invalid') console.log(verdict.rule);
 */
export async function judge(
  plan: Plan,
  trace: Trace,
  claims?: readonly string[],
): Promise<readonly Verdict[]> {
  requirePlan('judge', plan);
  const argument: unknown = trace;
  if (typeof argument !== 'object' || argument === null || !Array.isArray(trace.events)) {
    throw new InvalidInput(`judge: expected a trace, not ${described(argument)}`);
  }
  const names = claims ?? claimsJudged([], plan.catalogue);
  if (!Array.isArray(names)) {
    throw new InvalidInput(`judge: expected a list of claims, not ${described(names)}`);
  }
  for (const claim of names) requireClaim(plan, claim);
  return judgeRun(plan.data, trace, names, plan.catalogue).verdicts;
}

/** The result of shrinking a plan. */
export interface ShrinkResult {
  /** The simplest plan found that breaks the claim by the same cause. */
  readonly plan: Plan;
  /** True if no pass can simplify the plan further, or false if the search ended early. */
  readonly isMinimal: boolean;
  /** Number of plans run. */
  readonly runs: number;
  /**
   * A value of one number in the plan with which the claim breaks, and a neighboring value with
   * which the claim holds. Null if no such pair was found.
   */
  readonly boundary: {
    /** The name of the number: `pause of alice`. */
    readonly what: string;
    readonly breaksAtUs: number;
    readonly holdsAtUs: number;
  } | null;
  /** Simpler plans that also break the claim, each by a different cause. */
  readonly others: readonly { readonly cause: string; readonly plan: Plan }[];
}

/**
 * Shrinks a plan that breaks a claim to the few events that matter. Rejects with `InvalidInput` if
 * the plan does not break the claim, or the claim is unknown.
 *
 * @param options `maxRuns`: maximum number of plans to run, by default 1000. `signal`: an
 * `AbortSignal`; once it is aborted, the result is the best plan so far.
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
  requirePlan('shrink', plan);
  requireClaim(plan, claim);
  if (maxRuns !== undefined && !(Number.isSafeInteger(maxRuns) && maxRuns > 0)) {
    throw new InvalidInput(`maxRuns: expected a whole number of at least 1, not ${shown(maxRuns)}`);
  }
  const { catalogue } = plan;
  await prepare([plan.data.system], catalogue);
  const { reproduced, isMinimal, runs, boundary, ...found } = await shrinkFailureAsync(
    plan.data,
    claim,
    {
      catalogue,
      shouldStop: () => signal?.aborted === true,
      yieldToEventLoop: yieldToEventLoop,
      ...(maxRuns === undefined ? {} : { maxRuns }),
    },
  );
  if (reproduced === false) throw new InvalidInput(`the plan does not break ${claim}`);
  const others = found.others.map(({ cause, plan: other }) => {
    return { cause, plan: new Plan(other, catalogue) };
  });
  // A plan that was never run may not break the claim, so its text must not name the claim.
  const smallest = reproduced === null ? plan : new Plan(found.plan, catalogue, { boundary });
  return { plan: smallest, isMinimal, runs, boundary: sidesOf(boundary), others };
}

function sidesOf(boundary: Boundary | null): ShrinkResult['boundary'] {
  if (boundary === null) return null;
  const { what, breaksAtUs, holdsAtUs } = boundary;
  return { what, breaksAtUs, holdsAtUs };
}

/** The result of replaying a plan that was kept because it broke a claim. */
export interface Replay {
  readonly claim: string;
  /**
   * `reproduced`: the claim breaks; `fixed`: its hazard arose and the claim held; `diverged`: a
   * name in the plan has no match in the run; `inert`: everything matched, but the hazard did not
   * arise.
   */
  readonly outcome: 'reproduced' | 'fixed' | 'diverged' | 'inert';
  /** The first name in the plan without a match in the run, or null if all names matched. */
  readonly divergedAt: string | null;
  /** Digest of the trace's events, `sha256:…`. Equal for equal plans on every machine. */
  readonly digest: string;
  readonly trace: Trace;
  readonly verdict: Verdict;
}

/**
 * Runs a plan and reports whether it still breaks `claim`. The default is the claim that the plan
 * was kept for, or else `grant-order`. Rejects with `InvalidInput` if the claim is unknown.
 *
 * @example
 * const kept = 'node_modules/fencepost/fixtures/plans/zombie-writer-unfenced-grant-order.yaml';
 * const plan = await loadPlan(kept);
 * console.log((await replay(plan)).outcome); // reproduced
 */
export async function replay(plan: Plan, claim?: string): Promise<Replay> {
  requirePlan('replay', plan);
  if (claim !== undefined) requireClaim(plan, claim);
  await prepare([plan.data.system], plan.catalogue);
  const { cause: _, ...result } = await replayData(plan.data, claim, plan.catalogue);
  return result;
}

/**
 * Explains why a plan breaks a claim, as the command line does. Compares the run of the plan with
 * runs that differ in one thing. Resolves to null if the plan does not break the claim. Names a
 * cure only if the claim held with the cure on the same plan. Rejects with `InvalidInput` if the
 * claim is unknown.
 *
 * @example
 * const explained = await explain(plan, 'grant-order');
 * console.log(explained?.explanation.headline); // Stale write accepted by `unfenced`
 */
export async function explain(
  plan: Plan,
  claim: string,
): Promise<{ readonly explanation: Explanation; readonly causation: Causation } | null> {
  requirePlan('explain', plan);
  requireClaim(plan, claim);
  const { catalogue, boundary } = plan;
  await prepare([plan.data.system], catalogue);
  return await explainPlan(plan.data, claim, { catalogue, boundary });
}

function requirePlan(caller: string, plan: Plan): void {
  if (plan instanceof Plan) return;
  throw new InvalidInput(`${caller}: expected a plan, not ${described(plan)}`);
}

function requireClaim({ catalogue }: Plan, claim: string): void {
  if (catalogue.claims.has(claim)) return;
  const known = [...catalogue.claims.keys()];
  throw new InvalidInput(`unknown claim ${JSON.stringify(claim)}${suggest(claim, known)}`);
}
