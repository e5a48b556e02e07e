/**
 * The mutex of etcd's Go client as a protocol (client/v3/concurrency/mutex.go). Each process keeps
 * one session, which is a lease with a heartbeat (session.go beside it, client/v3/lease.go). The
 * client renews the lease a third of the ttl after each answer. The session is over once etcd
 * reports that the lease does not exist, or once the ttl has passed since the last answer. (In Go,
 * a loop checks this twice a second.)
 *
 * To take a lock, a client creates its own key, bound to its lease. The oldest key of a lock holds
 * the lock. The client waits until all older keys are gone, and then *checks again* that its own
 * key still exists. It releases the lock by deleting its key. The revision at which the key was
 * created is a fencing token: later holders have higher revisions, and no restart lowers the
 * revision.
 *
 * Common mistakes are options here:
 * - `recheck: no` is etcd before 3.4.4 (Jepsen, "etcd 3.4.3", 2020; issue 11456). A client whose
 *   lease ends while it waits is granted a lock that another client holds.
 * - `token: lease` is etcd's own demonstration of fencing (contrib/lock). Lease numbers have no
 *   order, so its storage compares them with `!=`, as the store `fence-equality` does here.
 * - `oldLeader: revokes` is a leader that does not notice its replacement. It revokes leases that
 *   have since been kept alive at the new leader (issue 15247).
 * - `unanswered: kept`: after a lost release, the heartbeat keeps the key for as long as the
 *   process lives. An abandoned attempt that did create the key has the same effect. `orphans`
 *   stops the heartbeat (`Orphan`), so that the key expires.
 * - A lock alone does not stop a late write at a store that checks nothing. The store `fenced`
 *   compares revisions. The store `check-sequencer` represents other keys of the same etcd, where
 *   `If version(own key) > 0 Then put` is one transaction.
 *
 * Read `server.ts`, the state of etcd, first.
 */
import {
  type Answer,
  backOff,
  type CheckToken,
  ClientSession,
  type KeepAlive,
  type LockDefinition,
  type LockDriver,
  type Options,
  optionsFor,
  type PendingCall,
  type Program,
  part,
  questionOf,
  randomOf,
  request,
  type Section,
  type ServerHost,
  type World,
} from '../../servers.ts';
import { type EtcdReply, type EtcdRequest, EtcdServer, US_A_SECOND } from './server.ts';

const NAME = 'lock';

/** Delay before the client opens a new stream for its heartbeat. */
const RETRY_US = 500_000;

const choices = optionsFor(
  {
    recheck: ['yes', 'no'],
    token: ['revision', 'lease', 'none'],
    oldLeader: ['steps-down', 'revokes'],
    unanswered: ['kept', 'orphans'],
  },
  {
    recheck: 'whether a client that waited checks again that its own key exists',
    token: 'number used as fencing token: the revision that created the key, the lease, or none',
    oldLeader:
      'whether a replaced leader steps down, or revokes leases that expired by its own clock',
    unanswered:
      'client behavior if a release or the last attempt gets no answer: ignore it, or stop the heartbeat',
  },
);

type Chosen = ReturnType<typeof choices.read>;

export const etcd: LockDefinition = {
  about: 'etcd’s mutex: a key on a lease with a heartbeat, served in order of revisions',
  source: 'etcd, client/v3/concurrency/mutex.go; Jepsen, etcd 3.4.3 (2020)',
  options: choices.infos,
  takesSeveral: true,
  waitsInLine: true,
  canRenew: false,
  operations: ['lease', 'acquire', 'wait', 'recheck', 'heartbeat', 'release'],
  buildAsked: build,
};

function build(world: World, options: Options): { driverOf: () => LockDriver; check: CheckToken } {
  const chosen = choices.read(options);
  const etcdServer = new EtcdServer(NAME, {
    oldLeader: chosen.oldLeader,
    notifies: chosen.recheck === 'yes' ? 'recheck' : 'wait',
    tokenOf: (key) => tokenOf(chosen.token, key),
  });
  const host = world.addServer({ name: NAME, role: 'lock' }, etcdServer);
  const check: CheckToken = (turn, asked, onChecked) => {
    onChecked(etcdServer.hasKey(asked, host.monotonicUsAt(turn.atUs)), turn.atUs);
  };
  return { driverOf: () => new EtcdDriver(chosen, host), check };
}

function tokenOf(
  token: Chosen['token'],
  key: { readonly lease: number; readonly revision: number },
): number {
  if (token === 'none') return 0;
  return token === 'lease' ? key.lease : key.revision;
}

/** A lock that a section takes, and the labels of the requests for it. */
interface Wanted {
  readonly lock: string;
  readonly take: string;
  /** Prefix of the labels of requests made while the client waits. */
  readonly prefix: string;
  readonly giveBack: string;
}

interface Held {
  readonly wanted: Wanted;
  readonly lease: number;
  readonly ordinal: number;
  readonly token: number;
}

type Asked = Program<PendingCall<EtcdRequest, EtcdReply>>;

class EtcdDriver implements LockDriver {
  private readonly options: Chosen;
  private readonly server: ServerHost<EtcdRequest, EtcdReply>;
  private readonly session: ClientSession;
  private held: readonly Held[] = [];
  /** True if the last attempt may have created a key that no answer reported. */
  private isUnknown = false;

  constructor(options: Chosen, server: ServerHost<EtcdRequest, EtcdReply>) {
    this.options = options;
    this.server = server;
    this.session = new ClientSession(this);
  }

  *open(at: Section): Program<{ readonly id: number; readonly ttlUs: number } | null> {
    const operation = at.nextName('lease');
    // In etcd, the server chooses the id of the lease.
    const id = randomOf(operation, 'id');
    const ttlS = Math.ceil(at.plan.ttlUs / US_A_SECOND);
    const { reply } = yield* request(
      at.self,
      questionOf<EtcdRequest, EtcdReply>(at, operation, {
        verb: 'claim',
        target: this.server,
        request: { kind: 'grant-lease', lease: id, ttlS },
        tries: 1,
        describe: () => ({ kind: 'granted', token: 0 }),
      }),
    );
    const ttlUs = reply === null ? null : ttlUsOf(reply);
    return ttlUs === null ? null : { id, ttlUs };
  }

  heartbeat(session: KeepAlive): Program<void> {
    return session.beat<EtcdRequest, EtcdReply>({
      target: this.server,
      request: { kind: 'keep-alive', lease: session.id },
      ttlUsOf,
      lost: 'etcd has no such lease',
      retryUs: RETRY_US,
    });
  }

  *acquire(at: Section, attempt: number): Program<boolean> {
    const { lock } = at.section;
    const wanted = { lock, take: part('acquire', attempt), prefix: '', giveBack: 'release' };
    const has = yield* this.take(at, wanted);
    if (!has && attempt === at.plan.attempts) this.abandonUnknown();
    return has;
  }

  *also(at: Section, { id, lock }: { id: number; lock: string }): Program<boolean> {
    const take = part('lock', id);
    const wanted = { lock, take, prefix: `${take}-`, giveBack: part('unlock', id) };
    const has = yield* this.take(at, wanted);
    if (!has) this.abandonUnknown();
    return has;
  }

  /** Gives up a key that an unanswered request may have created. */
  private abandonUnknown(): void {
    const { isUnknown } = this;
    this.isUnknown = false;
    if (isUnknown && this.options.unanswered === 'orphans') this.lose('left to its ttl');
  }

  private lose(why: string): void {
    this.session.current?.lose(why);
  }

  private *take(at: Section, wanted: Wanted): Program<boolean> {
    const { lock } = wanted;
    const session = yield* this.session.during(at);
    if (session === null) return false;
    const { id: lease } = session;
    const took = yield* this.ask(at, wanted.take, { kind: 'take', lock, lease });
    this.isUnknown = took.reply === null;
    if (took.reply?.kind === 'no-lease') this.lose('etcd has no such lease');
    if (took.reply?.kind !== 'place') return false;
    const { revision, first } = took.reply;
    const found = first === revision ? took : yield* this.waitFor(at, session, wanted, revision);
    if (found === null) return false;
    const token = tokenOf(this.options.token, { lease, revision });
    this.held = [...this.held, { wanted, lease, ordinal: found.granted, token }];
    if (this.held.length === 1) session.enter(found.granted, token);
    return true;
  }

  /** Returns the answer from which the client knows that it holds the lock, or null. */
  private *waitFor(
    at: Section,
    session: KeepAlive,
    { lock, prefix }: Wanted,
    revision: number,
  ): Program<PendingCall<EtcdRequest, EtcdReply> | null> {
    const { id: lease } = session;
    const label = `${prefix}wait`;
    const wait = { kind: 'wait', lock, lease, revision } as const;
    let waited = yield* this.ask(at, label, wait, { timeoutUs: null });
    while (waited.reply === null && !session.isOver) {
      yield* backOff(at.nextName(`${label}-backoff`), at.plan.backoffUs);
      waited = yield* this.ask(at, label, wait, { timeoutUs: null });
    }
    if (waited.reply === null) return null;
    if (this.options.recheck === 'no') return waited;
    const looked = yield* this.ask(at, `${prefix}recheck`, { kind: 'get', lock, lease });
    if (looked.reply?.kind === 'place') return looked;
    if (looked.reply?.kind === 'no-key') session.lose('its key is gone');
    else {
      const { reply } = yield* this.ask(at, 'withdraw', { kind: 'delete', lock, lease });
      this.isUnknown = reply === null;
    }
    return null;
  }

  *release(at: Section): Program<void> {
    const grants = [...this.held].reverse();
    this.held = [];
    this.session.letGo();
    for (const { wanted, lease, ordinal: under } of grants) {
      const ask = { kind: 'delete', lock: wanted.lock, lease } as const;
      const { reply } = yield* this.ask(at, wanted.giveBack, ask, { under });
      if (reply !== null || this.options.unanswered === 'kept') continue;
      if (this.session.current?.id === lease) this.lose('left to its ttl');
    }
  }

  *settle(at: Section): Program<void> {
    this.held = [];
    this.session.settle(at);
  }

  token(lock: string): number {
    return this.held.find(({ wanted }) => wanted.lock === lock)?.token ?? 0;
  }

  private ask(
    at: Section,
    label: string,
    ask: Extract<EtcdRequest, { lock: string }>,
    {
      timeoutUs = at.plan.lockTimeoutUs,
      under: ordinal = 0,
    }: { readonly timeoutUs?: number | null; readonly under?: number } = {},
  ): Asked {
    return request(
      at.self,
      questionOf<EtcdRequest, EtcdReply>(at, at.nextName(label), {
        verb: ask.kind === 'delete' ? 'release' : 'acquire',
        lock: ask.lock,
        target: this.server,
        request: ask,
        timeoutUs,
        // A take, wait or recheck can be repeated without further effect.
        describe: (reply) => describe(reply, ask.lease, this.options.token),
        under: ordinal,
      }),
    );
  }
}

/** Returns the length of the lease in a reply, or null if there is no lease. */
function ttlUsOf(reply: EtcdReply): number | null {
  return reply.kind === 'lease' && reply.ttlS > 0 ? reply.ttlS * US_A_SECOND : null;
}

function describe(reply: EtcdReply, lease: number, token: Chosen['token']): Answer {
  if (reply.kind === 'deleted') return { kind: 'released' };
  if (reply.kind === 'alone') return { kind: 'granted', token: 0 };
  const isFirst = reply.kind === 'place' && reply.first === reply.revision;
  if (!isFirst) return { kind: 'denied', holder: '' };
  return { kind: 'granted', token: tokenOf(token, { lease, revision: reply.revision }) };
}
