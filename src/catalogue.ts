/**
 * What systems may be made of and judged by: locks, stores, claims and models by name. A catalogue
 * is a plain value that is handed to whatever looks a name up; the built-in one is the default, and
 * `extend` adds what people define themselves.
 */
import type { Checker, ClaimAbout } from './check/claim.ts';
import { builtInClaims, claims } from './check/claims.ts';
import { type ModelDefinition, storeModels } from './check/store-models.ts';
import { ownParts } from './parts.ts';
import type { Protocol } from './systems/protocol.ts';
import type { StoreKind } from './systems/store/store-kinds.ts';

/** What `defineSystem` returns: definitions with their defaults filled in. */
export interface SystemDefinition {
  /** Tells it from whatever else a module may export. */
  readonly kind: 'fencepost-system';
  /** The version of this form. */
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
  /** As the scenario or the plan names it: `./my-lock.mjs`. */
  readonly path: string;
  /** `sha256:…` of its file and of those that it reaches, with the versions of packages. */
  readonly digest: string;
  /** Where its file is. */
  readonly url: string;
}

export interface Catalogue extends Omit<SystemDefinition, 'kind' | 'version'> {
  /** The modules that were loaded into it, in the order in which they were named. */
  readonly modules: readonly LoadedModule[];
  /** Whether all that is not built in comes from modules, so that worker threads can load it. */
  readonly isLoadable: boolean;
}

/** All that `fencepost list` prints. */
export const builtIn: Catalogue = {
  ...ownParts,
  claims,
  aboutClaims: builtInClaims,
  models: storeModels,
  modules: [],
  isLoadable: true,
};

/**
 * A catalogue with the words of a definition as well; `module` is where it was loaded from. Throws
 * an error that names the word where one means something already.
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

/** Which word of a definition means something in the catalogue already; null for none. */
export function whyClash(catalogue: Catalogue, definition: SystemDefinition): string | null {
  for (const kind of ['locks', 'stores', 'models', 'claims'] as const) {
    for (const name of definition[kind].keys()) {
      if (!catalogue[kind].has(name)) continue;
      const owner = builtIn[kind].has(name) ? 'one of fencepost' : 'one that is defined already';
      return `the ${NOUNS[kind]} "${name}" has the name of ${owner}; call it something else`;
    }
  }
  return null;
}
