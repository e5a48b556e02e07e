/**
 * What every file of a sweep's results says beside them: a checksum, so that whoever reads it
 * later, perhaps on another machine, knows that it is whole and unchanged; and what the results
 * belong to. Results are added up only where that is equal: the same seeds of another scenario, or
 * of another version, are other runs.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import type { ModuleDigests } from '../../core/plan/plan.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { modulesSchema } from './tally.ts';

/** What a sealed text says that it is. */
export interface Form {
  /** `shard`, `journal`, `chunk`. */
  readonly type: string;
  /** Rises when a field changes its meaning or goes. */
  readonly version: number;
}

type SealedRead =
  | { readonly kind: 'content'; readonly content: unknown }
  /** `what` is a clause: `is damaged: …`. */
  | { readonly kind: 'problem'; readonly what: string };

/** One line, without a final line break; `content` is plain data. */
export function seal({ type, version }: Form, content: object): string {
  return JSON.stringify({ type, version, checksum: checksumOf(content), content });
}

/** The content of a sealed text, or why it is not to be relied on. */
export function unseal(text: string, { type, version }: Form): SealedRead {
  const outer = parsed(text);
  if (outer === undefined) return problem('is damaged: it is no whole JSON');
  if (outer === null || typeof outer !== 'object' || !('type' in outer) || outer.type !== type) {
    return problem(`is no ${type} that fencepost wrote`);
  }
  const found = 'version' in outer ? outer.version : undefined;
  if (found !== version) {
    return problem(`has version ${String(found)} of its format; this fencepost reads ${version}`);
  }
  const content = 'content' in outer ? outer.content : undefined;
  const checksum = 'checksum' in outer ? outer.checksum : undefined;
  return checksum === checksumOf(content)
    ? { kind: 'content', content }
    : problem('is damaged: its checksum is not that of what it says');
}

function problem(what: string): SealedRead {
  return { kind: 'problem', what };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `sha256:…` of the content as JSON, as it is written: `JSON.parse` keeps the order of fields. */
function checksumOf(content: unknown): string {
  return `sha256:${bytesToHex(sha256(utf8ToBytes(JSON.stringify(content) ?? '')))}`;
}

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
