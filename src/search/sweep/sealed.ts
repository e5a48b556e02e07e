/**
 * JSON that carries its own checksum, so that whoever reads it later, perhaps on another machine,
 * knows that it is whole and unchanged.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** What a sealed text says that it is. */
export interface Form {
  /** `shard`, `journal`, `chunk`. */
  readonly type: string;
  /** Rises when a field changes its meaning or goes. */
  readonly version: number;
}

export type SealedRead =
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
