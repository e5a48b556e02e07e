/**
 * Defines user systems: named locks, stores, claims and models. Fields are validated here, since
 * the caller may be plain JavaScript.
 */
import { builtIn, type SystemDefinition, whyClash } from './catalogue.ts';
import { type ClaimDefinition, customClaim } from './check/custom-claim.ts';
import { linearizableTo } from './check/linearizable.ts';
import type { ModelDefinition } from './check/store-models.ts';
import { protocolOf } from './systems/define-lock.ts';
import type { LockDefinition } from './systems/protocol.ts';
import { type StoreDefinition, storeKindOf } from './systems/store/store-kinds.ts';
import { suggest } from './text/problem.ts';

/** The parts of a definition, keyed by the names that scenarios use. */
export interface Definitions {
  /** Lock protocols: their servers, and the driver through which a client uses the lock. */
  readonly locks?: Readonly<Record<string, LockDefinition>>;
  /** Stores, which locks protect. */
  readonly stores?: Readonly<Record<string, StoreDefinition>>;
  /** Properties that a system may guarantee. */
  readonly claims?: Readonly<Record<string, ClaimDefinition>>;
  /** Sequential specifications. Each adds a claim `linearizable(<name>)`. */
  readonly models?: Readonly<Record<string, ModelDefinition>>;
}

/** Letters, digits and `. _ -`, so that names are valid in file names and points. */
const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,79}$/u;

/**
 * Validates definitions and fills in their defaults. Make the result a module's default export and
 * name the module in a scenario (`use: ./my-lock.mjs`), or pass the result to `loadScenario` as
 * `use`. Throws an error that names the invalid field or the built-in name.
 *
 * @example
 * export default defineSystem({
 *   locks: {
 *     'my-lock': {
 *       about: 'no lock at all',
 *       lock: 'none',
 *       section: async (section) => {
 *         const guard = section.guard();
 *         await guard.work();
 *         guard.leave();
 *       },
 *     },
 *   },
 * });
 */
export function defineSystem(definitions: Definitions): SystemDefinition {
  const value: unknown = definitions;
  if (typeof value !== 'object' || value === null) refuse('defineSystem', 'takes an object');
  const known = ['locks', 'stores', 'claims', 'models'];
  for (const field of Object.keys(definitions)) {
    if (!known.includes(field)) refuse(field, `is unknown; known: ${known.join(', ')}`);
  }
  const models = entriesOf('models', definitions.models);
  for (const [name, model] of models) checkModel(`models.${name}`, model);
  const claims = [
    ...entriesOf('claims', definitions.claims).map(([name, claim]) => customClaim(name, claim)),
    ...models.map(([name, { about }]) => linearizableTo(name, { about, source: '' })),
  ];
  const definition: SystemDefinition = {
    kind: 'fencepost-system',
    version: 1,
    locks: new Map(
      entriesOf('locks', definitions.locks).map(([name, lock]) => {
        checkLock(`locks.${name}`, lock);
        return [name, protocolOf(name, lock)];
      }),
    ),
    stores: new Map(
      entriesOf('stores', definitions.stores).map(([name, store]) => [
        name,
        storeKindOf(name, store),
      ]),
    ),
    claims: new Map(claims.map(({ name, judge }) => [name, judge])),
    aboutClaims: new Map(
      claims.map(({ name, about, source, hazard }) => [name, { about, source, hazard }]),
    ),
    models: new Map(models),
  };
  const clash = whyClash(builtIn, definition);
  if (clash !== null) throw new Error(clash);
  return definition;
}

function entriesOf<V>(
  field: string,
  definitions: Readonly<Record<string, V>> = {},
): readonly [string, V][] {
  const value: unknown = definitions;
  if (typeof value !== 'object' || value === null) refuse(field, 'is not an object');
  const entries = Object.entries(definitions);
  for (const [name, entry] of entries) {
    if (!NAME.test(name))
      refuse(field, `has the invalid name ${JSON.stringify(name)}: ${NAME_ABOUT}`);
    if (typeof entry !== 'object' || entry === null) refuse(`${field}.${name}`, 'is not an object');
  }
  return entries;
}

const NAME_ABOUT = 'a name may contain only letters, digits, ".", "_" and "-"';

const LOCK_FIELDS: Readonly<Record<keyof LockDefinition, true>> = {
  about: true,
  source: true,
  options: true,
  problem: true,
  lock: true,
  servers: true,
  canRenew: true,
  takesSeveral: true,
  waitsInLine: true,
  takesMessages: true,
  jitter: true,
  notGuaranteed: true,
  operations: true,
  section: true,
  build: true,
  buildAsked: true,
  buildAsync: true,
};

function checkLock(where: string, lock: LockDefinition): void {
  for (const field of Object.keys(lock)) {
    if (Object.hasOwn(LOCK_FIELDS, field)) continue;
    refuse(where, `has an unknown field "${field}"${suggest(field, Object.keys(LOCK_FIELDS))}`);
  }
  const { operations } = lock;
  const isNamed = Array.isArray(operations) && operations.every((name) => typeof name === 'string');
  if (operations !== undefined && !isNamed) refuse(`${where}.operations`, 'is not a list of names');
}

function checkModel(where: string, { about, calls, model }: ModelDefinition): void {
  if (typeof about !== 'string') refuse(`${where}.about`, 'is not a string');
  if (!['register', 'fenced', 'counter'].includes(calls)) {
    refuse(`${where}.calls`, 'must be register, fenced or counter');
  }
  const value: unknown = model;
  const isModel = typeof value === 'object' && value !== null && 'init' in value;
  if (!isModel || typeof model.step !== 'function') {
    refuse(`${where}.model`, 'has no `init` or no `step`');
  }
}

function refuse(where: string, problem: string): never {
  throw new Error(`${where} ${problem}`);
}
