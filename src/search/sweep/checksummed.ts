/**
 * Wraps each file of sweep results with a checksum and an origin. The checksum lets a reader verify
 * that the file is complete and unchanged. Results are merged only if their origins are equal: the
 * same seeds of another scenario or version are different runs.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import type { ModuleDigests } from '../../core/plan/plan.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { modulesSchema } from './counts.ts';

/** The type and version of a checksummed text. */
export interface Form {
  /** `shard`, `journal` or `chunk`. */
  readonly type: string;
  /** Incremented if a field changes its meaning or is removed. */
  readonly version: number;
}

type ChecksummedRead =
  | { readonly kind: 'content'; readonly content: unknown }
  /** `what` is a clause: `is damaged: …`. */
  | { readonly kind: 'problem'; readonly what: string };

/** Returns one line without a final line break. `content` must be plain data. */
export function seal({ type, version }: Form, content: object): string {
  return JSON.stringify({ type, version, checksum: checksumOf(content), content });
}

/** Returns the content of a checksummed text, or the reason why it cannot be trusted. */
export function unseal(text: string, { type, version }: Form): ChecksummedRead {
  const outer = parsed(text);
  if (outer === undefined) return problem('is damaged: incomplete JSON');
  if (outer === null || typeof outer !== 'object' || !('type' in outer) || outer.type !== type) {
    return problem(`is not a ${type} written by fencepost`);
  }
  const found = 'version' in outer ? outer.version : undefined;
  if (found !== version) {
    return problem(`has format version ${String(found)}; this fencepost reads ${version}`);
  }
  const content = 'content' in outer ? outer.content : undefined;
  const checksum = 'checksum' in outer ? outer.checksum : undefined;
  return checksum === checksumOf(content)
    ? { kind: 'content', content }
    : problem('is damaged: checksum mismatch');
}

function problem(what: string): ChecksummedRead {
  return { kind: 'problem', what };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `JSON.parse` preserves the order of fields, so the checksum of parsed content is the same. */
function checksumOf(content: unknown): string {
  return `sha256:${bytesToHex(sha256(utf8ToBytes(JSON.stringify(content) ?? '')))}`;
}

export interface Origin {
  readonly fencepost: string;
  readonly scenario: string;
  /** `sha256:…` of the parsed scenario. Comments and layout do not matter. */
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

/** Returns the origin of results from this version of fencepost. */
export function originOf(scenario: Scenario, fencepost: string): Origin {
  const { use = {}, ...words } = scenario;
  const digest = `sha256:${bytesToHex(sha256(utf8ToBytes(JSON.stringify(words))))}`;
  return { fencepost, scenario: scenario.name, digest, modules: use };
}

/**
 * Returns the first difference as a clause, such as `is from fencepost 0.1.0, not 0.2.0`, or null.
 */
export function mismatchReason(theirs: Origin, ours: Origin): string | null {
  if (theirs.fencepost !== ours.fencepost) {
    return `is from fencepost ${theirs.fencepost}, not ${ours.fencepost}`;
  }
  if (theirs.scenario !== ours.scenario) {
    return `is for the scenario ${theirs.scenario}, not ${ours.scenario}`;
  }
  if (theirs.digest !== ours.digest) return `is for another version of ${ours.scenario}`;
  const paths = [...new Set([...Object.keys(theirs.modules), ...Object.keys(ours.modules)])];
  const other = paths.find((path) => theirs.modules[path] !== ours.modules[path]);
  return other === undefined ? null : `is for another version of ${other}`;
}
