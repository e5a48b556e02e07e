/**
 * What a result of a sweep belongs to. Results are added up only where all of this is equal: the
 * same seeds of another scenario, or of another version, are other runs.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import type { ModuleDigests } from '../../core/plan/plan.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { modulesSchema } from './tally-schema.ts';

export interface Origin {
  /** The version of fencepost. */
  readonly fencepost: string;
  /** The name of the scenario. */
  readonly scenario: string;
  /** `sha256:…` of the scenario as it was understood: comments and layout do not count. */
  readonly digest: string;
  /** The modules that the scenario uses, with their digests. */
  readonly modules: ModuleDigests;
}

export const originSchema: z.ZodType<Origin> = z.strictObject({
  fencepost: z.string(),
  scenario: z.string(),
  digest: z.string(),
  modules: modulesSchema,
});

/** Where the results of a scenario come from that this version of fencepost examines. */
export function originOf(scenario: Scenario, fencepost: string): Origin {
  const { use = {}, ...words } = scenario;
  const digest = `sha256:${bytesToHex(sha256(utf8ToBytes(JSON.stringify(words))))}`;
  return { fencepost, scenario: scenario.name, digest, modules: use };
}

/** What differs first, a clause: `is of fencepost 0.1.0, not 0.2.0`; null where nothing does. */
export function whyForeign(theirs: Origin, ours: Origin): string | null {
  if (theirs.fencepost !== ours.fencepost) {
    return `is of fencepost ${theirs.fencepost}, not ${ours.fencepost}`;
  }
  if (theirs.scenario !== ours.scenario) {
    return `is of the scenario ${theirs.scenario}, not ${ours.scenario}`;
  }
  if (theirs.digest !== ours.digest) return `is of another version of ${ours.scenario}`;
  const paths = [...new Set([...Object.keys(theirs.modules), ...Object.keys(ours.modules)])];
  const other = paths.find((path) => theirs.modules[path] !== ours.modules[path]);
  return other === undefined ? null : `is of another version of ${other}`;
}
