/**
 * Extends the built-in catalogue with modules that a file names or that another thread has found.
 */
import { builtIn, type Catalogue, extend, type LoadedModule, whyClash } from '../../catalogue.ts';
import type { ModuleDigests } from '../../core/plan/plan.ts';
import type { NamedModule } from '../../core/plan/used-modules.ts';
import type { UnplacedProblem } from '../../text/problem.ts';
import { findModule, importModule, loadModule } from './load-module.ts';

/** The folder that modules are loaded from, or the reason why none may be loaded. */
export type ModuleSource =
  | {
      readonly kind: 'folder';
      readonly folder: string;
      /** Required digests by path, checked before any module runs. By default, any version runs. */
      readonly digests?: ModuleDigests;
    }
  | { readonly kind: 'refused'; readonly why: string };

export type CatalogueRead =
  | { readonly kind: 'catalogue'; readonly catalogue: Catalogue }
  | { readonly kind: 'findings'; readonly findings: readonly UnplacedProblem[] };

/** Loads the modules in order and returns the catalogue, or the problems of all modules. */
export async function loadCatalogue(
  modules: readonly NamedModule[],
  source: ModuleSource,
): Promise<CatalogueRead> {
  const findings: UnplacedProblem[] = [...otherVersions(modules, source)];
  if (findings.length > 0) return { kind: 'findings', findings };
  let catalogue = builtIn;
  for (const { path, place } of modules) {
    if (source.kind === 'refused') {
      findings.push({ ...place, what: `${path} is not loaded: ${source.why}` });
      continue;
    }
    const read = await loadModule(path, source.folder);
    const problem = read.kind === 'problem' ? read.what : whyClash(catalogue, read.definition);
    if (problem !== null) findings.push({ ...place, what: problem });
    else if (read.kind === 'module') catalogue = extend(catalogue, read.definition, read.module);
  }
  return findings.length > 0 ? { kind: 'findings', findings } : { kind: 'catalogue', catalogue };
}

/** Runs no module. */
function otherVersions(
  modules: readonly NamedModule[],
  source: ModuleSource,
): readonly UnplacedProblem[] {
  if (source.kind === 'refused' || source.digests === undefined) return [];
  const findings: UnplacedProblem[] = [];
  for (const { path, place } of modules) {
    const found = findModule(path, source.folder);
    if (found.kind === 'problem') findings.push({ ...place, what: found.what });
    else if (found.module.digest !== source.digests[path]) {
      findings.push({ ...place, what: `${path} is not the required version` });
    }
  }
  return findings;
}

/** Loads modules that another thread has found, and returns this thread's catalogue. */
export async function loadAgain(modules: readonly LoadedModule[]): Promise<Catalogue> {
  let catalogue = builtIn;
  for (const module of modules) {
    const read = await importModule(module);
    if (read.kind === 'problem') throw new Error(read.what);
    catalogue = extend(catalogue, read.definition, read.module);
  }
  return catalogue;
}
