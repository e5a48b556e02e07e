/** A store as people define one of their own, and the kind of store that it becomes. */
import type { CheckToken } from '../protocol.ts';
import type { Manners } from './request.ts';
import type { AnyStoreServer, StoreKind } from './store-kinds.ts';

/** What a lock guards. All but `about` and `build` has a default. */
export interface StoreDefinition {
  /** One line on what it is. */
  readonly about: string;
  /** Where its rule is written down. */
  readonly source?: string;
  /** Claims that it does not promise, even where nothing goes wrong. */
  readonly unpromised?: readonly string[];
  /** What clients must do for it, each false by default. */
  readonly manners?: Partial<Manners>;
  /** The model that `linearizable` means for it, by its name; without one, the claim is unknown. */
  readonly model?: string;
  /** Whether it is meant to remember the highest token. Default false. */
  readonly isFenced?: boolean;
  /** Whether it asks the lock about tokens: `build` is then told how. Default false. */
  readonly asksLock?: boolean;
  /**
   * Makes the server called `name` for one run. It tells the observer of each access, and of what
   * is left after a restart, with a `StoreWitness`; without that no claim about the data is tested.
   * A `StoreServer` with a rule of its own does so itself.
   */
  readonly build: (name: string, check: CheckToken | null) => AnyStoreServer;
}

/** Throws an error that names the field where one is missing or wrong. */
export function storeKindOf(name: string, definition: StoreDefinition): StoreKind {
  const { about, source = '', unpromised = [], manners = {}, build } = definition;
  const { model = null, isFenced = false, asksLock = false } = definition;
  if (typeof about !== 'string') throw new Error(`stores.${name}.about is no text`);
  if (typeof build !== 'function') throw new Error(`stores.${name}.build is no function`);
  const { needsOpen = false, comparesItself = false } = manners;
  const { hasVersions = false, addsItself = false } = manners;
  return {
    ...{ about, source, unpromised, model, isFenced, asksLock, build },
    manners: { needsOpen, comparesItself, hasVersions, addsItself },
    needsSql: false,
  };
}
