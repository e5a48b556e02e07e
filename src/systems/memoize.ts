/**
 * A value that is computed once and then found in a store: read, and on a miss take the lock, read
 * again, compute, store, release. Without the second look, and without the lock, all who miss at
 * once compute at once: a stampede. After djblets' `cache_memoize` and `cache_memoize_iter`.
 */
import { under } from '../kernel/name.ts';
import type { Work } from '../plan/plan.ts';
import { mark, type Program, sleep } from '../world/program.ts';
import { underLock } from './scope.ts';
import { part, type Section } from './section-calls.ts';
import { look, read, write } from './work.ts';

type Memoize = Extract<Work, { kind: 'memoize' }>;

/** What a store holds where nothing was stored. */
const MISSING = 0;

/** Does the whole section, whose only step this is. */
export function* memoize(at: Section, work: Memoize): Program<void> {
  const { lock } = at.section;
  if (at.driver.holds?.(lock) === true) {
    at.self.log('memoize', `refused: the lock on ${lock} is held already`);
    return;
  }
  // Nobody announces a token, or has one, for a look without the lock.
  const found = yield* look(at, { ...work, label: 'read' });
  if (!isMiss(found)) return;
  yield* underLock(at, () => computeOnce(at, work));
}

/** Refused, or without an answer, a look has brought no value, before the lock as under it. */
function isMiss(found: number | null): boolean {
  return found === null || found === MISSING;
}

/** Under the lock: whoever held it before may have stored the value in the meantime. */
function* computeOnce(at: Section, work: Memoize): Program<void> {
  const found = yield* read(at, { ...work, label: 'read', again: 1 });
  if (!isMiss(found)) return;
  yield* mark(at.name, 'computing');
  const isComputed = yield* compute(at, work);
  yield* mark(at.name, 'computed');
  if (isComputed) yield* write(at, { ...work, label: 'write', ...PLAIN });
}

const PLAIN = { adds: null, awaits: true } as const;

/** In one piece, which is the value; or in several, each stored under a key of its own. */
function* compute(at: Section, work: Memoize): Program<boolean> {
  const { id, key, forUs, pieces } = work;
  for (let piece = 1; piece <= pieces; piece += 1) {
    yield* sleep(under(at.name, part(part('compute', piece), id)), forUs);
    if (pieces === 1) continue;
    const stored = { ...work, key: `${key}/${piece}`, label: part('write-piece', piece) };
    if (!(yield* write(at, { ...stored, ...PLAIN }))) return false;
  }
  return true;
}
