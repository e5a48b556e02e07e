/**
 * Reads scenarios and plans together with the modules that they use. A scenario's modules lie below
 * its folder. A plan names them as its scenario does; it lies beside it, or in `plans` beside it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { builtIn, type Catalogue } from '../../catalogue.ts';
import { parseFile, type SourceFile } from '../../core/plan/document.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { readPlan } from '../../core/plan/plan-text.ts';
import { type NamedModule, readUse } from '../../core/plan/used-modules.ts';
import { digestsOf, loadScenario, wordsOf } from '../../load.ts';
import { planWordFindings } from '../../scenario/build-systems.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import type { Problem } from '../../text/problem.ts';
import { loadCatalogue, type ModuleSource } from './load-catalogue.ts';

export type ScenarioFileRead =
  | {
      readonly kind: 'scenario';
      readonly scenario: Scenario;
      readonly warnings: readonly Problem[];
      /** What the scenario's words mean: hand it to whatever runs or judges it. */
      readonly catalogue: Catalogue;
    }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

export type PlanFileRead =
  | {
      readonly kind: 'plan';
      readonly plan: Plan;
      /** What the plan's words mean: hand it to whatever runs or judges it. */
      readonly catalogue: Catalogue;
      /** Modules, by path, whose files are no longer as they were when the plan was made. */
      readonly changedModules: readonly string[];
    }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

/** Reads a scenario file and loads its modules. Throws what `readFileSync` throws. */
export function loadScenarioFile(file: string): Promise<ScenarioFileRead> {
  const source = { file, text: readFileSync(file, 'utf8') };
  return readScenarioSource(source, { kind: 'folder', folder: dirname(file) });
}

/**
 * Reads a plan file and loads its modules, by default from the folder of its scenario: its own, or
 * the one above `plans`. Throws what `readFileSync` throws.
 */
export function loadPlanFile(
  file: string,
  folder: string = scenarioFolderOf(file),
): Promise<PlanFileRead> {
  return readPlanSource({ file, text: readFileSync(file, 'utf8') }, { kind: 'folder', folder });
}

/** Where the scenario of a plan lies, and with it the plan's modules. */
export function scenarioFolderOf(planFile: string): string {
  const folder = dirname(resolve(planFile));
  return basename(folder) === 'plans' ? dirname(folder) : folder;
}

/** The same for the text of a scenario. */
export async function readScenarioSource(
  source: SourceFile,
  modules: ModuleSource,
): Promise<ScenarioFileRead> {
  const used = await catalogueFor(source, modules);
  if (used.kind === 'problems') return used;
  const { catalogue } = used;
  const read = loadScenario(source.text, source.file, catalogue);
  return read.kind === 'problems' ? read : { ...read, catalogue };
}

/** The same for the text of a plan; `hint` says what helps where a module is missing, or ''. */
export async function readPlanSource(
  source: SourceFile,
  modules: ModuleSource,
  hint = '',
): Promise<PlanFileRead> {
  const used = await catalogueFor(source, modules, hint);
  if (used.kind === 'problems') return used;
  const { catalogue } = used;
  const read = readPlan(source);
  if (read.kind === 'problems') return read;
  const unknown = planWordFindings(read.plan, wordsOf(catalogue));
  if (unknown.length > 0) {
    const parsed = parseFile(source);
    return parsed.kind === 'problems'
      ? parsed
      : { kind: 'problems', problems: parsed.locate(unknown) };
  }
  const now = digestsOf(catalogue.modules);
  const recorded = Object.entries(read.plan.use ?? {});
  const changedModules = recorded.flatMap(([path, digest]) => (now[path] === digest ? [] : [path]));
  return { kind: 'plan', plan: read.plan, catalogue, changedModules };
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
    const places = use.modules.filter((module) => isMissing(module, modules));
    const findings = loaded.findings.map((finding) =>
      places.some(({ place }) => place.path === finding.path)
        ? { ...finding, what: finding.what + hint }
        : finding,
    );
    return { kind: 'problems', problems: use.locate(findings) };
  }
  return { kind: 'used', catalogue: loaded.catalogue };
}

function isMissing({ path }: NamedModule, modules: ModuleSource): boolean {
  return modules.kind === 'folder' && !existsSync(resolve(modules.folder, path));
}
