/**
 * The program of every client: think, take the lock, work under its grant, release. The protocol's
 * driver takes and releases the lock.
 *
 * A section whose only step is a `memoize` computes a value once for all clients. The section
 * reads; on a miss, it takes the lock, reads again, computes, stores and releases. Without the
 * second read, or without the lock, all clients that miss at once compute at once: a stampede. The
 * rules are from djblets' `cache_memoize` and `cache_memoize_iter`:
 * - A client that cannot get the lock in time reads again and then computes *without* a grant or a
 *   token, since its caller wants the value. With `withoutLock: gives-up`, it gives up instead.
 * - The lock is extended after each stored piece, so a lease need only outlast one piece.
 * - The lease is not tested before the value is stored, regardless of `checksLease`: if two clients
 *   computed the value, either result will do.
 */
import { nameOf, under } from '../core/kernel/name.ts';
import type { ClientPlan, Work } from '../core/plan/plan.ts';
import { answerOf, backOff, mark, type Program, type Self, sleep } from '../core/world/program.ts';
import type { LockDriver, Section, Servers } from './protocol.ts';
import { namesUnder, part } from './section-calls.ts';
import { doWork, look, placeOf, read, write } from './work.ts';

/** The program of a client: its sections in sequence, starting at index `from`. */
export function* sections(
  self: Self,
  from: number,
  { plan, role, servers }: { plan: ClientPlan; role: 'client' | 'probe'; servers: Servers },
): Program<void> {
  const driver = servers.driverOf(plan, role);
  const root = nameOf(plan.name);
  for (const section of plan.sections.slice(from)) {
    const name = under(root, String(section.id));
    self.beginSection(name);
    const at: Section = {
      self,
      plan,
      section,
      name,
      nextName: namesUnder(name),
      driver,
      servers,
      unanswered: [],
      opened: new Set(),
      versions: servers.requirements.hasVersions ? new Map() : null,
      end: { clock: 'monotonic', us: 0 },
      token: 0,
    };
    yield* sleep(under(name, 'think'), section.thinkUs);
    const [only] = section.work;
    if (only?.kind === 'memoize') yield* memoize(at, only);
    else yield* underLock(at, () => doAll(at));
    self.endSection(name);
  }
  driver.finish?.(self);
}

/** Returns false at the first step that is refused. */
export function* doAll(at: Section): Program<boolean> {
  for (const work of at.section.work) {
    const goesOn = yield* doWork(at, work);
    if (!goesOn) return false;
  }
  return true;
}

/** Runs `body` under the section's lock, or `without` if the lock cannot be acquired in time. */
function* underLock(
  at: Section,
  body: () => Program<unknown>,
  without: (() => Program<void>) | null = null,
): Program<void> {
  const taken = yield* takeLock(at);
  if (taken === 'not-had' && without !== null) yield* without();
  if (taken !== 'held') return;
  const isComplete = (yield* body()) !== false;
  if (at.unanswered.length > 0) yield* awaitAnswers(at);
  if (at.driver.worked !== undefined) yield* at.driver.worked(at, isComplete);
  at.self.leave();
  if (at.plan.releases) yield* at.driver.release(at);
  if (at.driver.settle !== undefined) yield* at.driver.settle(at);
}

export function* awaitAnswers(at: Section): Program<void> {
  for (const call of at.unanswered) yield* answerOf(call);
}

/** `not-had`: the attempts failed; `refused`: the lock must not even be requested. */
type Taken = 'held' | 'not-had' | 'refused';

function* takeLock(at: Section): Program<Taken> {
  for (let attempt = 1; attempt <= at.plan.attempts; attempt += 1) {
    if (attempt > 1)
      yield* backOff(under(at.name, part('backoff', attempt - 1)), at.plan.backoffUs);
    const answer = yield* at.driver.acquire(at, attempt);
    if (answer === true) return 'held';
    if (answer === 'refused') return answer;
    if (answer === 'given up') return 'not-had';
  }
  return 'not-had';
}

type Memoize = Extract<Work, { kind: 'memoize' }>;

/** The value of a key that was never stored. */
const MISSING = 0;

function* memoize(at: Section, work: Memoize): Program<void> {
  const { lock } = at.section;
  if (at.driver.holds?.(lock) === true) {
    at.self.log('memoize', `refused: the lock on ${lock} is held already`);
    return;
  }
  // The same section, for accesses without the lock.
  const alone: Section = Object.assign({}, at, { driver: NO_LOCK, token: 0 });
  const found = yield* look(alone, placeOf(work, 'read'));
  if (!isMiss(found)) return;
  const without = work.withoutLock === 'gives-up' ? null : () => computeWithout(alone, work);
  yield* underLock(at, () => computeOnce(at, work, read), without);
}

const NO_LOCK: LockDriver = {
  *acquire() {
    return false;
  },
  *release() {},
};

/** A refused or unanswered read counts as a miss. */
function isMiss(found: number | null): boolean {
  return found === null || found === MISSING;
}

function* computeWithout(alone: Section, work: Memoize): Program<void> {
  const { lock } = alone.section;
  alone.self.log('memoize', `goes on without the lock on ${lock}`);
  yield* computeOnce(alone, work, look);
}

/** Does nothing if an earlier holder of the lock has already stored the value. */
function* computeOnce(at: Section, work: Memoize, readAgain: typeof read): Program<void> {
  const { id, store, key } = work;
  const found = yield* readAgain(at, { id, label: 'read', store, key, again: 1 });
  if (!isMiss(found)) return;
  yield* mark(at.name, 'computing');
  const isComputed = yield* compute(at, work);
  yield* mark(at.name, 'computed');
  if (isComputed) yield* write(at, placeOf(work, 'write'), stored(work));
}

function stored({ value }: Memoize): Parameters<typeof write>[2] {
  return { value, adds: null, awaits: true, testsLease: false };
}

/**
 * Computes the value in one or several pieces. Each of several pieces is stored under its own key,
 * and then the lock is extended.
 */
function* compute(at: Section, work: Memoize): Program<boolean> {
  const { id, store, key, forUs, pieces } = work;
  const { ttlUs } = at.plan;
  for (let piece = 1; piece <= pieces; piece += 1) {
    yield* sleep(under(at.name, part(part('compute', piece), id)), forUs);
    if (pieces === 1) continue;
    const place = { id, label: part('write-piece', piece), store, key: `${key}/${piece}` };
    if (!(yield* write(at, place, stored(work)))) return false;
    // The remaining work is the same whether or not the lock was extended.
    if (at.driver.renew !== undefined) yield* at.driver.renew(at, { id: piece, ttlUs });
  }
  return true;
}
