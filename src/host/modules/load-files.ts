/**
 * Reads scenarios and plans together with their modules. A scenario's modules are below its folder.
 * A plan is beside its scenario, or in a folder `plans` there, and names its modules as the
 * scenario does.
 *
 * A plan and its modules may come from an untrusted source. Therefore modules run only after the
 * plan's text has been validated and the modules compared with the digests in the plan.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { builtIn, type Catalogue, extend, type SystemDefinition } from '../../catalogue.ts';
import { parseFile, type SourceFile } from '../../core/plan/document.ts';
import type { ModuleDigests, Plan } from '../../core/plan/plan.ts';
import { readPlan } from '../../core/plan/plan-text.ts';
import { readUse, whyNoModulePath } from '../../core/plan/used-modules.ts';
import { loadScenario, wordsOf } from '../../load.ts';
import { planWordFindings } from '../../scenario/build-systems.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { Problem, UnplacedProblem } from '../../text/problem.ts';
import { loadCatalogue, type ModuleSource } from './load-catalogue.ts';
import { findModule } from './load-module.ts';
import { differences } from './module-digest.ts';

export type ScenarioFileRead =
  | {
      readonly kind: 'scenario';
      readonly scenario: Scenario;
      readonly warnings: readonly Problem[];
      /** Definitions of the scenario's names, for all code that runs or judges the scenario. */
      readonly catalogue: Catalogue;
    }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

export type PlanFileRead =
  | {
      readonly kind: 'plan';
      readonly plan: Plan;
      /** Definitions of the plan's names, for all code that runs or judges the plan. */
      readonly catalogue: Catalogue;
      /** Paths of modules that have changed since the plan was made. */
      readonly changedModules: readonly string[];
      /** `changedModules` with the changed files, if recorded: `./a.ts (./b.ts is new)`. */
      readonly moduleChanges: readonly string[];
    }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

/** Reads a scenario file and loads its modules. Throws what `readFileSync` throws. */
export function loadScenarioFile(file: string): Promise<ScenarioFileRead> {
  const source = { file, text: readFileSync(file, 'utf8') };
  return readScenarioSource(source, { kind: 'folder', folder: dirname(file) });
}

/**
 * Reads a plan file and loads its modules, in any version, from `folder`. If `folder` is omitted,
 * the modules come from `scenarioFolderOf(file)` and must be the versions that the plan was made
 * with. Throws what `readFileSync` throws.
 */
export function loadPlanFile(file: string, folder?: string): Promise<PlanFileRead> {
  const source = { file, text: readFileSync(file, 'utf8') };
  const modules: ModuleSource = { kind: 'folder', folder: folder ?? scenarioFolderOf(file) };
  if (folder !== undefined) return readPlanSource(source, modules);
  return readPlanSource(source, modules, {
    accepted: {},
    ifChanged: '; name its folder to run it',
  });
}

/** Returns the folder of a plan's scenario and modules. Skips a folder `plans`. */
export function scenarioFolderOf(planFile: string): string {
  const folder = dirname(resolve(planFile));
  return basename(folder) === 'plans' ? dirname(folder) : folder;
}

/** Like `loadScenarioFile`, for a text that may also use the definitions in `use`. */
export async function readScenarioSource(
  source: SourceFile,
  modules: ModuleSource,
  use: readonly SystemDefinition[] = [],
): Promise<ScenarioFileRead> {
  const used = await catalogueFor(source, modules);
  if (used.kind === 'problems') return used;
  const catalogue = extendedBy(use, used.catalogue);
  const read = loadScenario(source.text, source.file, catalogue);
  return read.kind === 'problems' ? read : { ...read, catalogue };
}

interface PlanReading {
  /** The remedy if a module is missing or has changed, as the end of a sentence. */
  readonly ifMissing?: string;
  readonly ifChanged?: string;
  /**
   * Further versions by path that may run, besides those that the plan was made with. If omitted,
   * any version may run, because the user named the folder.
   */
  readonly accepted?: ModuleDigests;
  /** Definitions that the plan may use besides those of its modules. */
  readonly use?: readonly SystemDefinition[];
}

function extendedBy(use: readonly SystemDefinition[], catalogue: Catalogue): Catalogue {
  return use.reduce((known, definition) => extend(known, definition), catalogue);
}

/** Like `loadPlanFile`, for a text. */
export async function readPlanSource(
  source: SourceFile,
  modules: ModuleSource,
  reading: PlanReading = {},
): Promise<PlanFileRead> {
  const read = readPlan(source);
  if (read.kind === 'problems') return read;
  const { plan } = read;
  const changed = modules.kind === 'refused' ? [] : changedIn(plan, modules.folder);
  const changedModules = changed.map(({ path }) => path);
  const refused = changed.flatMap((change) => refusalOf(change, reading));
  if (refused.length > 0) return placed(source, refused);
  const used = await catalogueFor(source, modules, reading.ifMissing);
  if (used.kind === 'problems') return used;
  const catalogue = extendedBy(reading.use ?? [], used.catalogue);
  const unknown = planWordFindings(plan, wordsOf(catalogue));
  if (unknown.length > 0) return placed(source, unknown);
  const moduleChanges = changed.map(inWords);
  return { kind: 'plan', plan, catalogue, changedModules, moduleChanges };
}

interface ChangedModule {
  readonly path: string;
  readonly digest: string;
  readonly differences: readonly string[];
}

function inWords({ path, differences }: ChangedModule): string {
  return differences.length === 0 ? path : `${path} (${differences.join(', ')})`;
}

/** Runs no module. */
function changedIn(plan: Plan, folder: string): readonly ChangedModule[] {
  const changed: ChangedModule[] = [];
  for (const [path, recorded] of Object.entries(plan.use ?? {})) {
    // The loader reports paths that are invalid or missing.
    if (whyNoModulePath(path) !== null) continue;
    const found = findModule(path, folder);
    if (found.kind === 'problem' || found.module.digest === recorded) continue;
    const { digest } = found.module;
    changed.push({ path, digest, differences: differences(recorded, digest) });
  }
  return changed;
}

function refusalOf(
  change: ChangedModule,
  { accepted, ifChanged = '' }: PlanReading,
): readonly UnplacedProblem[] {
  const { path, digest } = change;
  if (accepted === undefined || accepted[path] === digest) return [];
  const text = `${inWords(change)} differs from the version that the plan was made with, so it was not run${ifChanged}`;
  return [{ path: ['use', path], isKey: true, what: text }];
}

function placed(source: SourceFile, findings: readonly UnplacedProblem[]): PlanFileRead {
  const parsed = parseFile(source);
  if (parsed.kind === 'problems') return parsed;
  return { kind: 'problems', problems: parsed.locate(findings) };
}

type Used =
  | { readonly kind: 'used'; readonly catalogue: Catalogue }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

async function catalogueFor(source: SourceFile, modules: ModuleSource, hint = ''): Promise<Used> {
  const use = readUse(source);
  if (use.kind === 'problems') return use;
  if (use.modules.length === 0) return { kind: 'used', catalogue: builtIn };
  const loaded = await loadCatalogue(use.modules, modules);
  if (loaded.kind === 'findings') {
    const places = use.modules.filter(
      (module) => modules.kind === 'folder' && !existsSync(resolve(modules.folder, module.path)),
    );
    const findings = loaded.findings.map((finding) =>
      places.some(({ place }) => place.path === finding.path)
        ? { ...finding, what: finding.what + hint }
        : finding,
    );
    return { kind: 'problems', problems: use.locate(findings) };
  }
  return { kind: 'used', catalogue: loaded.catalogue };
}
