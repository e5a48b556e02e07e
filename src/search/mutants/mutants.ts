/** Every mutant there is, grouped by what it gets wrong. */
import { clientMutants } from './clients.ts';
import { expiryMutants } from './expiry.ts';
import { fenceMutants } from './fences.ts';
import type { Mutant } from './mutant.ts';
import { quorumMutants } from './quorum.ts';
import { releaseMutants } from './release.ts';
import { tokenMutants } from './tokens.ts';

export const mutants: readonly Mutant[] = [
  ...fenceMutants,
  ...tokenMutants,
  ...clientMutants,
  ...releaseMutants,
  ...expiryMutants,
  ...quorumMutants,
];
