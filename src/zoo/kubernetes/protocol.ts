/**
 * Leader election with a Lease object of Kubernetes, as in client-go
 * (k8s.io/client-go/tools/leaderelection/leaderelection.go). Each section is one term of
 * leadership.
 *
 * A candidate reads the record. Whenever the record has changed, the candidate notes the time *by
 * its own clock*. It takes over a record that has not changed for `LeaseDuration`, with an update
 * that names the version it read. The leader updates its record every `RetryPeriod`, and stops
 * leading if the updates have failed for `RenewDeadline`. Clocks may therefore be off by any
 * amount, but their rates may differ by at most LeaseDuration / (RetryPeriod + RenewDeadline). A
 * scenario's `ttl` is the LeaseDuration; the other two are given in percent of the ttl. The
 * defaults match 15 s, 10 s and 2 s.
 *
 * The package itself "does not guarantee that only one client is acting as a leader (a.k.a.
 * fencing)". Its failure modes are options here, or settings of clients:
 * - A leader that was paused continues its callbacks, which go on writing. The record's
 *   `leaseTransitions` could fence these writes, but client-go does not send it (`token:
 *   transitions` does).
 * - `release: observed`: with `ReleaseOnCancel`, the client reads the object's version again, but
 *   checks its *old* copy of the record to see if it leads. A former leader therefore clears the
 *   record of its successor. `checked` checks the record that was just read; `none` lets the record
 *   expire.
 * - `duration: truncated`: the record contains whole seconds, rounded down. Other clients then
 *   consider a lease over after 1 s while its holder counts on 1.5 s. `rounded-up` is safe.
 * - `countsLeaseFrom: reply`, as in client-go: after a late answer, the lease is already old.
 */
import {
  type Answer,
  type ClientPlan,
  enterLock,
  KeepAlive,
  type LockDefinition,
  type LockDriver,
  optionsFor,
  type PendingCall,
  type Program,
  questionOf,
  request,
  type Section,
  type ServerHost,
  sleep,
} from '../../servers.ts';
import { ApiServer, type ElectionRecord, type LeaseReply, type LeaseRequest } from './server.ts';

const NAME = 'lock';
const US_A_SECOND = 1_000_000;

const choices = optionsFor(
  {
    release: ['observed', 'checked', 'none'],
    duration: ['truncated', 'rounded-up'],
    token: ['none', 'transitions'],
    renewDeadline: { range: [1, 100], fallback: 67 },
    retryPeriod: { range: [1, 100], fallback: 13 },
  },
  {
    release:
      'record that a resigning leader checks: its old copy, or the one just read; none: no release',
    duration: 'whether the record truncates a lease to whole seconds, or rounds it up',
    token: 'whether leaseTransitions is sent as a fencing token',
    renewDeadline: 'time for which a leader tries to renew, in percent of the ttl',
    retryPeriod: 'time between two attempts, in percent of the ttl',
  },
);

type Chosen = ReturnType<typeof choices.read>;

export const kubernetes: LockDefinition = {
  about: 'leader election of client-go: a Lease object, timed by each observer’s own clock',
  source: 'kubernetes/client-go, tools/leaderelection/leaderelection.go',
  options: choices.infos,
  canRenew: false,
  jitter: { numerator: 6, denominator: 5 },
  notGuaranteed: ['tokens-unique', 'tokens-increase', 'no-revival'],
  operations: ['get', 'acquire', 'heartbeat', 'release-get', 'release'],
  problem: (options, clients) => problemOf(choices.read(options), clients),
  build: (world, options) => {
    const chosen = choices.read(options);
    const server = new ApiServer(NAME, (record) => tokenOf(chosen, record));
    const host = world.addServer({ name: NAME, role: 'lock' }, server);
    return () => new Elector(chosen, host);
  },
};

function problemOf(
  { duration, renewDeadline, retryPeriod }: Chosen,
  clients: readonly Pick<ClientPlan, 'ttlUs'>[],
): { option: string; what: string } | null {
  const tooShort = clients.find(({ ttlUs }) => duration === 'truncated' && ttlUs < US_A_SECOND);
  if (tooShort !== undefined) {
    const problem = 'a ttl of less than 1s is 0 in the record, which Kubernetes refuses';
    return { option: 'duration', what: `${problem}: use a longer ttl, or duration: rounded-up` };
  }
  if (renewDeadline + retryPeriod < 100) return null;
  const what = 'renewDeadline and retryPeriod together must be less than 100 percent of the ttl';
  return { option: 'renewDeadline', what };
}

function tokenOf({ token }: Pick<Chosen, 'token'>, { transitions }: ElectionRecord): number {
  return token === 'none' ? 0 : transitions;
}

/**
 * The last record that a client saw. `atUs`: the time of first seeing it, by the client's clock.
 */
interface Observed {
  readonly record: ElectionRecord;
  readonly version: number;
  readonly atUs: number;
}

type Host = ServerHost<LeaseRequest, LeaseReply>;
type Asked = Program<PendingCall<LeaseRequest, LeaseReply>>;

class Elector implements LockDriver {
  private readonly options: Chosen;
  private readonly server: Host;
  /** By lock. */
  private readonly observed: Map<string, Observed> = new Map();
  private identity = '';
  private lastToken = 0;
  private leading: KeepAlive | null = null;

  constructor(options: Chosen, server: Host) {
    this.options = options;
    this.server = server;
  }

  /** `tryAcquireOrRenew` of a client that does not lead. */
  *acquire(at: Section): Program<boolean> {
    // Like a pod's name, the identity changes with each restart.
    if (this.identity === '') this.identity = `${at.self.name}#${at.section.id}`;
    const found = yield* this.get(at, 'get', 0);
    if (found === null) return false;
    const { holder } = found.record;
    const isOver = at.self.monotonicUs() >= found.atUs + found.record.seconds * US_A_SECOND;
    if (holder !== '' && holder !== this.identity && !isOver) return false;
    const [sentUs, issuedAtUs] = [at.self.monotonicUs(), at.self.wallUs()];
    const call = yield* this.put(at, 'acquire', { record: this.recordAfter(at, found), under: 0 });
    if (call.reply?.kind !== 'lease') return false;
    this.observe(at, call.reply);
    const term = { sentUs, issuedAtUs, ttlUs: this.countedUs(at) };
    yield* this.lead(at, term);
    this.lastToken = tokenOf(this.options, call.reply.record);
    const ask = { ordinal: call.granted, sentUs, sentWallUs: issuedAtUs };
    enterLock(at, ask, { ttlUs: term.ttlUs, token: this.lastToken });
    return true;
  }

  /** Returns how long a leader relies on its last confirmed update. */
  private countedUs({ plan: { ttlUs } }: Section): number {
    const { renewDeadline, retryPeriod } = this.options;
    return Math.floor((ttlUs * (renewDeadline + retryPeriod)) / 100);
  }

  private recordAfter(at: Section, { record, version }: Observed): ElectionRecord {
    const isHolder = record.holder === this.identity;
    const transitions = isHolder || version === 0 ? record.transitions : record.transitions + 1;
    const seconds = at.plan.ttlUs / US_A_SECOND;
    const integer =
      this.options.duration === 'truncated' ? Math.floor(seconds) : Math.ceil(seconds);
    // client-go starts at 0, but to a store, 0 means that there is no token.
    return { holder: this.identity, seconds: integer, transitions: Math.max(1, transitions) };
  }

  private *lead(at: Section, term: KeepAlive['term']): Program<void> {
    const leading = new KeepAlive(at);
    this.leading = leading;
    leading.holds = true;
    yield* leading.begin(term, this.beat(leading));
  }

  /** Updates the leader's record every RetryPeriod, whether or not the last update succeeded. */
  private *beat(leading: KeepAlive): Program<void> {
    const { at } = leading;
    const retryUs = Math.floor((at.plan.ttlUs * this.options.retryPeriod) / 100);
    for (;;) {
      yield* sleep(at.nextName('beat'), retryUs);
      const known = this.observed.get(at.section.lock);
      if (known?.record.holder !== this.identity) continue; // until the deadline
      const [sentUs, issuedAtUs] = [at.self.monotonicUs(), at.self.wallUs()];
      const { record } = known;
      const { reply } = yield* this.put(at, 'heartbeat', { record });
      if (reply?.kind === 'lease') {
        this.observe(at, reply);
        leading.prolong({ sentUs, issuedAtUs, ttlUs: this.countedUs(at) });
      } else yield* this.get(at, 'heartbeat-get');
    }
  }

  *release(at: Section): Program<void> {
    const { leading } = this;
    this.leading = null;
    if (leading !== null) leading.holds = false;
    leading?.lose('given up');
    if (this.options.release === 'none') return;
    const before = this.observed.get(at.section.lock);
    const found = yield* this.get(at, 'release-get');
    const judged = this.options.release === 'observed' ? before : found;
    if (judged?.record.holder !== this.identity || found === null) return;
    const { transitions } = judged.record;
    const call = yield* this.put(at, 'release', {
      record: { holder: '', seconds: 1, transitions },
    });
    if (call.reply?.kind === 'lease') this.observe(at, call.reply);
  }

  /** A leader that does not release stops its heartbeat, and its record expires. */
  *settle(): Program<void> {
    if (this.leading !== null) this.leading.holds = false;
    this.leading?.lose('left to its ttl');
    this.leading = null;
  }

  token(): number {
    return this.lastToken;
  }

  /** Reads the record. The lease of a changed record counts from now. */
  private *get(at: Section, label: string, under?: number): Program<Observed | null> {
    const ask = { kind: 'get', lock: at.section.lock } as const;
    const { reply } = yield* this.ask(at, label, ask, under);
    return reply?.kind === 'lease' ? this.observe(at, reply) : null;
  }

  private observe(
    { self, section: { lock } }: Section,
    { record, version }: Pick<Observed, 'record' | 'version'>,
  ): Observed {
    const known = this.observed.get(lock);
    if (known?.version === version) return known;
    const observed = { record, version, atUs: self.monotonicUs() };
    this.observed.set(lock, observed);
    return observed;
  }

  private put(
    at: Section,
    label: string,
    { record, under }: { readonly record: ElectionRecord; readonly under?: number },
  ): Asked {
    const { lock } = at.section;
    const version = this.observed.get(lock)?.version ?? 0;
    const countedUs = this.countedUs(at);
    return this.ask(at, label, { kind: 'put', lock, record, version, countedUs }, under);
  }

  private ask(at: Section, label: string, ask: LeaseRequest, under?: number): Asked {
    const operation = at.nextName(label);
    const verb = label.startsWith('release') ? 'release' : under === 0 ? 'acquire' : 'renew';
    const describe = (reply: LeaseReply): Answer => answerTo(verb, ask, reply, this.options);
    const question = {
      verb,
      target: this.server,
      request: ask,
      tries: 1,
      describe,
      under,
    } as const;
    return request(at.self, questionOf(at, operation, question));
  }
}

function answerTo(
  verb: 'acquire' | 'renew' | 'release',
  ask: LeaseRequest,
  reply: LeaseReply,
  options: Pick<Chosen, 'token'>,
): Answer {
  if (reply.kind !== 'lease') return { kind: 'denied', holder: '' };
  if (ask.kind === 'get') return { kind: 'value', value: reply.version };
  if (verb === 'acquire') return { kind: 'granted', token: tokenOf(options, reply.record) };
  return { kind: verb === 'renew' ? 'renewed' : 'released' };
}
