/**
 * djblets' CacheLock as a protocol: the published algorithm, with cures for its flaws as options.
 * The client stores its own value with `add`, extends the key with `touch`, and releases the key
 * with touch, get and delete. No command of a cache compares and deletes, which is why djblets'
 * documentation calls the lock imperfect and lossy.
 *
 * `commands.ts` contains the commands; `cache-lock.ts` is the same lock as a class that does not
 * need the simulator.
 */
import {
  type Answer,
  type ClientPlan,
  GrantRecorder,
  type LockDefinition,
  type LockDriver,
  type Options,
  optionsFor,
  type PendingCall,
  type Program,
  part,
  questionOf,
  request,
  type Section,
  type Self,
  type Server,
  type ServerHost,
  type Turn,
  testLease,
  under,
  type World,
} from '../../servers.ts';
import { Cache, cacheSnapshot } from '../cache/cache.ts';
import {
  acquiredAlready,
  type CacheReply,
  type CacheRequest,
  execute,
  FOR_EVER,
  giveBack,
  notAcquired,
  RELEASES,
  type ReleaseCommand,
  type Remainder,
  refusalsOf,
} from './commands.ts';

const NAME = 'lock';
/** A limit in milliseconds that is a safe integer in microseconds. */
const LONGEST_MS = 1_000_000_000_000;

const choices = optionsFor(
  {
    blocking: ['yes', 'no'],
    timeout: { range: [FOR_EVER, LONGEST_MS], fallback: FOR_EVER },
    timeoutUs: { fallback: 0 },
    countsFrom: ['reply', 'request'],
    extends: ['anyone', 'owner'],
    release: RELEASES,
    expired: ['after', 'at'],
    instance: ['section', 'client'],
  },
  {
    blocking: 'whether a client retries a busy lock with its backoff, or gives up at once',
    timeout:
      'maximum wait for a busy lock in milliseconds; -1: until the client’s attempts are used up',
    timeoutUs: 'timeout in microseconds, as in plans of fencepost 0.1; 0: until the attempts end',
    countsFrom:
      'message from which the holder counts its expiration; a reply may be arbitrarily late',
    extends: 'whether a touch extends any key that exists, or only the holder’s own',
    release:
      'messages of a release: touch, get, delete; add, get, delete; a compare-and-delete; or a delete',
    expired: 'whether a release exactly at the expiry is ignored (at), or only a later one (after)',
    instance:
      'whether each section creates its own lock object, or a client keeps one for all sections',
  },
);

type Chosen = ReturnType<typeof choices.read>;

export const cacheLock: LockDefinition = {
  about: 'a lossy lock on a cache: add, touch, get, delete; the cache may evict it at any time',
  source: 'djblets, djblets.protect.locks.CacheLock, which calls itself imperfect and lossy',
  options: choices.infos,
  // djblets adds up to a quarter of its interval.
  jitter: { numerator: 1, denominator: 4 },
  problem,
  notGuaranteed: ['tokens-unique', 'tokens-increase', 'lease-conservative'],
  build: (world: World, options: Options) => {
    const host = world.addServer({ name: NAME, role: 'lock' }, cacheServer(NAME));
    const settings = { ...choices.read(options), timeoutUs: timeoutUsOf(options) };
    // The probe tests whether the lock can be acquired, not how long a client waits for it.
    const patient = { ...settings, blocking: 'yes', timeoutUs: FOR_EVER } as const;
    return (_client, role) => new CacheLockDriver(role === 'probe' ? patient : settings, host);
  },
};

function problem(
  options: Options,
  clients: readonly Pick<ClientPlan, 'countsLeaseFrom'>[],
): { option: string; what: string } | null {
  const wait = waitProblem(options);
  if (wait !== null) return wait;
  const from = options.word('countsFrom');
  const optionValues = { reply: 'reply', sent: 'request', issued: 'issued' } as const;
  const other = clients.find(
    ({ countsLeaseFrom: start }) => start !== 'sent' && optionValues[start] !== from,
  );
  if (other === undefined) return null;
  const setting = `countsLeaseFrom: ${other.countsLeaseFrom} of its clients`;
  const what = `countsFrom: ${from} contradicts ${setting}`;
  return { option: 'countsFrom', what };
}

/** Returns an invalid or ineffective wait option, or null if there is none. */
function waitProblem(options: Options): { option: string; what: string } | null {
  const { blocking, timeout, timeoutUs } = choices.read(options);
  if (timeout === 0) {
    const what = `a timeout must be greater than 0, or ${FOR_EVER} for no limit; to disable waiting, use blocking: no`;
    return { option: 'timeout', what };
  }
  if (timeoutUs > 0 && timeout !== FOR_EVER) {
    return { option: 'timeoutUs', what: 'timeout is already set' };
  }
  if (blocking === 'yes') return null;
  const option = timeout !== FOR_EVER ? 'timeout' : timeoutUs > 0 ? 'timeoutUs' : null;
  return option && { option, what: `${option} has no effect with blocking: no` };
}

/** Returns the maximum wait for a busy lock in microseconds, or `FOR_EVER`. */
function timeoutUsOf(options: Options): number {
  const { timeout, timeoutUs } = choices.read(options);
  if (timeout !== FOR_EVER) return timeout * 1000;
  return timeoutUs === 0 ? FOR_EVER : timeoutUs;
}

/** The chosen options; `timeoutUs` is set from `timeout` or `timeoutUs`. */
type CacheLockOptions = Chosen;

type Verb = 'acquire' | 'renew' | 'release';
type Sent = PendingCall<CacheRequest, CacheReply>;

/** A lock that was acquired and not released, even if its key is gone. */
interface Held {
  readonly lock: string;
  readonly value: string;
}

const VERBS: Readonly<Record<ReleaseCommand['name'], Verb>> = {
  'release-touch': 'renew',
  'release-add': 'acquire',
  'release-get': 'release',
  release: 'release',
};

const TOPIC = 'cache-lock';

class CacheLockDriver implements LockDriver {
  private readonly options: CacheLockOptions;
  private readonly server: ServerHost<CacheRequest, CacheReply>;
  private readonly held: Map<string, Held> = new Map();
  private readonly dropped: Held[] = [];
  /** Start of the current acquire, by the client's monotonic clock. */
  private sinceUs = 0;

  constructor(options: CacheLockOptions, server: ServerHost<CacheRequest, CacheReply>) {
    this.options = options;
    this.server = server;
  }

  *acquire(at: Section, attempt: number): Program<boolean | 'given up' | 'refused'> {
    const { self, plan, section } = at;
    const { lock: key } = section;
    const { ttlUs } = plan;
    if (attempt === 1 && !this.mayAcquire(at)) return 'refused';
    const value = at.name.text;
    const sentUs = self.monotonicUs();
    const ask = { kind: 'add', key, value, ttlUs } as const;
    const call = yield* this.ask(at, { verb: 'acquire', label: part('acquire', attempt), ask });
    if (call.reply?.kind !== 'done') return this.goesOnWaiting(at) ? false : 'given up';
    this.held.set(key, { lock: key, value });
    this.countOn(at, { sentUs, ttlUs });
    self.enter({ section: at.name, lock: key, ordinal: call.granted, token: 0, end: at.end });
    self.log(TOPIC, `acquired ${key} for ${duration(ttlUs)}`);
    return true;
  }

  /** Returns true if the arguments are valid and this instance does not hold the lock yet. */
  private mayAcquire(at: Section): boolean {
    const { self, plan, section } = at;
    this.sinceUs = self.monotonicUs();
    const { ttlUs: expiration, backoffUs: retry } = plan;
    const { timeoutUs: timeout } = this.options;
    const refusals = refusalsOf({ key: section.lock, expiration, retry, timeout });
    for (const refusal of refusals) self.log(TOPIC, `refused: ${refusal}`);
    const { lock } = section;
    const held = this.held.get(lock);
    if (held === undefined) return refusals.length === 0;
    if (this.options.instance === 'client') {
      self.log(TOPIC, `refused: ${acquiredAlready(lock)}`);
      return false;
    }
    // The previous section lost its lock without releasing it. This section creates a new lock
    // object.
    this.held.delete(lock);
    this.dropped.push(held);
    return refusals.length === 0;
  }

  private goesOnWaiting({ self, section }: Section): boolean {
    const { blocking, timeoutUs } = this.options;
    if (blocking === 'no') return false;
    if (timeoutUs === FOR_EVER || self.monotonicUs() - this.sinceUs < timeoutUs) return true;
    self.log(TOPIC, `timed out waiting for ${section.lock}`);
    return false;
  }

  holds(lock: string): boolean {
    return this.options.instance === 'client' && this.held.has(lock);
  }

  *renew(at: Section, { id, ttlUs }: { id: number; ttlUs: number }): Program<boolean> {
    const { self, section } = at;
    const { lock: key } = section;
    if (!this.mustBeHeld(at, 'extended')) return false;
    const sentUs = self.monotonicUs();
    const onlyIf = this.options.extends === 'owner' ? at.name.text : null;
    const ask = { kind: 'touch', key, ttlUs, onlyIf } as const;
    const call = yield* this.ask(at, { verb: 'renew', label: part('renew', id), ask });
    if (call.reply === null) return true;
    if (call.reply.kind !== 'done') {
      self.log(TOPIC, `${key} fell out of the cache; the lock is no longer valid`);
      // In the published algorithm, the lock still counts as acquired until its expiration.
      return this.options.extends === 'anyone';
    }
    this.countOn(at, { sentUs, ttlUs });
    self.log(TOPIC, `extended ${key} to ${duration(ttlUs)}`);
    // The confirmation may be too late.
    testLease(at);
    return true;
  }

  *release(at: Section): Program<void> {
    const { self, section } = at;
    const { lock } = section;
    const held = this.mustBeHeld(at, 'released');
    if (held === null) return;
    this.held.delete(lock);
    if (this.isOver(at)) {
      self.log(TOPIC, `released ${lock}, which had expired`);
      return;
    }
    const left = yield* this.giveBack(at, held.value);
    if (left === 'gone') self.log(TOPIC, `${lock} fell out of the cache`);
    if (left !== 'unknown') self.log(TOPIC, `released ${lock}`);
    else self.log(TOPIC, `the cache did not answer; ${lock} may still be there`);
  }

  /** Returns the held lock, or logs an error and returns null. */
  private mustBeHeld(
    { self, section: { lock } }: Section,
    deed: 'extended' | 'released',
  ): Held | null {
    const held = this.held.get(lock);
    if (held !== undefined) return held;
    self.log(TOPIC, `refused: ${notAcquired(lock, deed)}`);
    return null;
  }

  /** Returns true if the lock has expired by the client's clock. */
  private isOver({ self, end, plan }: Section): boolean {
    const nowUs = self.monotonicUs();
    const isPast = this.options.expired === 'after' ? nowUs > end.us : nowUs >= end.us;
    const isOver = isPast && plan.leaseEnds !== 'refused';
    self.testLease({ isLive: !isOver, end });
    return isOver;
  }

  private *giveBack(at: Section, value: string): Program<Remainder> {
    const key = at.section.lock;
    const { ttlUs } = at.plan;
    const { release, extends: scope } = this.options;
    const commands = giveBack({ key, value, ttlUs, extends: scope, release });
    // The grant to release; undefined for the section's grant. Adding the key may create a new
    // grant.
    let returned: number | undefined;
    let next = commands.next();
    while (next.done !== true) {
      const { name: label, ask } = next.value;
      const call: Sent = yield* this.ask(at, { verb: VERBS[label], label, ask, under: returned });
      if (call.granted > 0) returned = call.granted;
      next = commands.next(call.reply);
    }
    return next.value;
  }

  /** Logs the locks that were never released. */
  finish(self: Self): void {
    for (const { lock } of [...this.dropped, ...this.held.values()]) {
      self.log(TOPIC, `${lock} was dropped without release`);
    }
  }

  private countOn(at: Section, { sentUs, ttlUs }: { sentUs: number; ttlUs: number }): void {
    const fromUs = this.options.countsFrom === 'reply' ? at.self.monotonicUs() : sentUs;
    at.end = { clock: 'monotonic', us: fromUs + ttlUs };
  }

  private ask(
    at: Section,
    asked: { verb: Verb; label: string; under?: number | undefined; ask: CacheRequest },
  ): Program<Sent> {
    const { verb, label, under: ordinal, ask } = asked;
    const describe = describeCacheReply(ask);
    const question = { verb, target: this.server, request: ask, describe, under: ordinal };
    return request(at.self, questionOf(at, under(at.name, label), question));
  }
}

function duration(us: number): string {
  if (us > 0 && us % 3_600_000_000 === 0) return `${us / 3_600_000_000} h`;
  if (us >= 1_000_000) return `${us / 1_000_000} s`;
  return us >= 1_000 || us === 0 ? `${us / 1_000} ms` : `${us} us`;
}

/** Returns the meaning of a reply to this request for the trace. */
export function describeCacheReply(request: CacheRequest): (reply: CacheReply) => Answer {
  return (reply) => {
    if (reply.kind === 'not-done') return { kind: 'denied', holder: ownerOf(reply.value) };
    if (reply.kind === 'value') return { kind: 'accepted' };
    if (request.kind === 'add') return { kind: 'granted', token: 0 };
    return { kind: request.kind === 'touch' ? 'renewed' : 'released' };
  };
}

/** Returns the client whose section stored this value; '' if there is none. */
export function ownerOf(value: string | null): string {
  return value?.split('/')[0] ?? '';
}

/**
 * The cache as a simulated server. It knows keys and values, not locks and holders. A crash loses
 * all keys, and any key may be evicted at any time.
 */
function cacheServer(name: string): Server<CacheRequest, CacheReply> {
  const cache = new Cache();
  const recorder = new GrantRecorder(name);
  /** Returns the true expiry time of a key, by the cache's clock at its current rate. */
  const endOf = (key: string, turn: Turn): number | null => {
    const end = cache.endOf(key, turn.monotonicUs);
    return end === null ? null : turn.trueTimeOf('monotonic', end);
  };
  const note = (request: CacheRequest, reply: CacheReply, turn: Turn): void => {
    const { key: lock } = request;
    const { client } = turn;
    const isEffective = reply.kind === 'done';
    if (request.kind === 'delete') recorder.release(turn, { lock, client, isEffective });
    if (request.kind === 'get' || request.kind === 'delete') return;
    if (reply.kind === 'not-done' && request.kind === 'add') {
      recorder.deny(turn, { lock, client, holder: ownerOf(reply.value) });
      return;
    }
    const { ttlUs } = request;
    const untilUs = isEffective ? endOf(lock, turn) : null;
    const terms = { lock, client, token: 0, ttlUs, untilUs, isEffective };
    if (request.kind === 'add') recorder.grant(turn, terms);
    else recorder.renew(turn, terms);
  };
  return {
    handle(request, turn) {
      const lifetimeOf = (ttlUs: number): number => turn.lifetimeUs(ttlUs);
      const reply = execute(cache, request, turn.monotonicUs, lifetimeOf);
      note(request, reply, turn);
      return reply;
    },
    restart: () => cache.clear(),
    snapshot: () => recorder.snapshot(cacheSnapshot(cache)),
    evict: (key) => cache.forget(key),
  };
}
