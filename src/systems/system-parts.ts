/** The locks and stores that systems are put together of, by the names that plans give them. */
import type { Protocol } from './protocol.ts';
import { protocols } from './protocols.ts';
import { type StoreKind, storeKinds } from './store/store-kinds.ts';

export interface SystemParts {
  readonly locks: ReadonlyMap<string, Protocol>;
  readonly stores: ReadonlyMap<string, StoreKind>;
}

/** Those of fencepost itself. */
export const ownParts: SystemParts = { locks: protocols, stores: storeKinds };
