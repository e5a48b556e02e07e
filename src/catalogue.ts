/**
 * Locks, stores, claims and models by name. A catalogue is a plain value, passed to every function
 * that looks up a name. The built-in catalogue is the default; `extend` adds user definitions.
 */
import type { Checker, ClaimAbout } from './check/claim.ts';
import { builtInClaims, claims } from './check/claims.ts';
import { type ModelDefinition, storeModels } from './check/store-models.ts';
import { builtInParts } from './parts.ts';
import type { Protocol } from './systems/protocol.ts';
import type { StoreKind } from './systems/store/store-kinds.ts';

/** The result of `defineSystem`: definitions with their defaults filled in. */
export interface SystemDefinition {
  /** Distinguishes a definition from other exports of a module. */
  readonly kind: 'fencepost-system';
  /** The version of this format. */
  readonly version: 1;
  /** @internal */
  readonly locks: ReadonlyMap<string, Protocol>;
  /** @internal */
  readonly stores: ReadonlyMap<string, StoreKind>;
  /** @internal */
  readonly claims: ReadonlyMap<string, Checker>;
  /** @internal */
  readonly aboutClaims: ReadonlyMap<string, ClaimAbout>;
  /** @internal */
  readonly models: ReadonlyMap<string, ModelDefinition>;
}

/** A module that definitions were loaded from. */
export interface LoadedModule {
  /** Its path in the scenario or plan: `./my-lock.mjs`. */
  readonly path: string;
  /** `sha256:…` of its file, the files that it imports, and the versions of packages. */
  readonly digest: string;
  /** The URL of its file. */
  readonly url: string;
}

export interface Catalogue extends Omit<SystemDefinition, 'kind' | 'version'> {
  /** The loaded modules, in the order in which they were named. */
  readonly modules: readonly LoadedModule[];
  /** True if all user definitions come from modules, so that worker threads can load them. */
  readonly isLoadable: boolean;
}

/** The locks, stores, claims and models that `fencepost list` prints. */
export const builtIn: Catalogue = {
  ...builtInParts,
  claims,
  aboutClaims: builtInClaims,
  models: storeModels,
  modules: [],
  isLoadable: true,
};

/**
 * Adds a definition to a catalogue. `module` is null if the definition comes from no module. Throws
 * if a name is already taken.
 */
export function extend(
  catalogue: Catalogue,
  definition: SystemDefinition,
  module: LoadedModule | null = null,
): Catalogue {
  const clash = whyClash(catalogue, definition);
  if (clash !== null) throw new Error(clash);
  return {
    locks: new Map([...catalogue.locks, ...definition.locks]),
    stores: new Map([...catalogue.stores, ...definition.stores]),
    claims: new Map([...catalogue.claims, ...definition.claims]),
    aboutClaims: new Map([...catalogue.aboutClaims, ...definition.aboutClaims]),
    models: new Map([...catalogue.models, ...definition.models]),
    modules: module === null ? catalogue.modules : [...catalogue.modules, module],
    isLoadable: catalogue.isLoadable && module !== null,
  };
}

const NOUNS = { locks: 'lock', stores: 'store', models: 'model', claims: 'claim' } as const;

/** Returns why a name in the definition is already taken, or null if none is. */
export function whyClash(catalogue: Catalogue, definition: SystemDefinition): string | null {
  for (const kind of ['locks', 'stores', 'models', 'claims'] as const) {
    for (const name of definition[kind].keys()) {
      if (!catalogue[kind].has(name)) continue;
      const owner = builtIn[kind].has(name) ? `a built-in ${NOUNS[kind]}` : 'another definition';
      return `the ${NOUNS[kind]} "${name}" has the name of ${owner}; rename it`;
    }
  }
  return null;
}
