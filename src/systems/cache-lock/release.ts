/**
 * How a CacheLock gives its key back, as one list of commands for the simulator and for the class
 * that needs none. Since no command of a cache compares and deletes, there are four ways:
 *
 * - `published`: touch the key, so that it lives until it is deleted; get it; delete it if the
 *   value is one's own. Between get and delete the key may expire and be another's, and the touch
 *   prolongs whatever key is there.
 * - `add-again`, which djblets' author thought of in the review: add the key once more with the
 *   same value, get it, delete it if the value is one's own. Nothing of another's is prolonged. But
 *   nothing of one's own is either, so that there is less time between get and delete; and where
 *   the key had expired, the lock is taken once more on the way out.
 * - `delete`: delete whatever is there.
 * - `compare-and-delete`: what a cache would need to have, in one command.
 */
import type { CacheReply, CacheRequest } from './commands.ts';

export const RELEASES = ['published', 'add-again', 'compare-and-delete', 'delete'] as const;

export type ReleaseRule = (typeof RELEASES)[number];

/** The lock to be given back, with the value that its holder put there. */
export interface Returned {
  readonly key: string;
  readonly value: string;
  /** For how long a touch, or an add, keeps the key. */
  readonly ttlUs: number;
  /** Whether a touch prolongs whatever key is there, or only one with this value. */
  readonly extends: 'anyone' | 'owner';
  readonly release: ReleaseRule;
}

/** What is known of the key that it gives back: `gone` is also another's. */
export type Remainder = 'own' | 'gone' | 'unknown';

/** One command, and what the simulator calls it. */
export interface ReleaseCommand {
  readonly name: 'release-touch' | 'release-add' | 'release-get' | 'release';
  readonly ask: CacheRequest;
}

/** Yields commands, and is given the answer to each; null where none came. */
export type Release = Generator<ReleaseCommand, Remainder, CacheReply | null>;

export function* giveBack(lock: Returned): Release {
  const { key, value, release } = lock;
  if (release === 'published' || release === 'add-again') {
    const found = yield* lookAt(lock);
    if (found !== 'own') return found;
  }
  const onlyIf = release === 'compare-and-delete' ? value : null;
  const reply = yield { name: 'release', ask: { kind: 'delete', key, onlyIf } };
  if (reply === null) return 'unknown';
  return reply.kind === 'done' ? 'own' : 'gone';
}

/** Sees to it that there is a key, and reads whose it is. */
function* lookAt({ key, value, ttlUs, release, extends: whose }: Returned): Release {
  if (release === 'add-again') {
    // Whether it was added or was there: what counts is whose it is.
    const added = yield { name: 'release-add', ask: { kind: 'add', key, value, ttlUs } };
    if (added === null) return 'unknown';
  } else {
    const onlyIf = whose === 'owner' ? value : null;
    const touched = yield { name: 'release-touch', ask: { kind: 'touch', key, ttlUs, onlyIf } };
    if (touched === null) return 'unknown';
    if (touched.kind !== 'done') return 'gone';
  }
  const reply = yield { name: 'release-get', ask: { kind: 'get', key } };
  if (reply === null) return 'unknown';
  return reply.kind === 'value' && reply.value === value ? 'own' : 'gone';
}
