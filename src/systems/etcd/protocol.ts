/**
 * The mutex of etcd's Go client as a protocol (client/v3/concurrency/mutex.go): each process keeps
 * one session, which is a lease with a heartbeat. To take a lock it puts a key of its own that
 * hangs on its lease; the keys of a lock are served in the order in which they were made, so it
 * waits until all older ones are gone, and then *looks again* whether its own is still there. It
 * gives the lock back by deleting its key. The revision at which the key was made is a fencing
 * token: later holders have higher ones, and no restart brings a lower one.
 *
 * What people get wrong is an option here:
 * - `recheck: no` is etcd before 3.4.4 (Jepsen, "etcd 3.4.3", 2020; issue 11456): whoever waits in
 *   line while its lease ends is told that the lock is its own, as somebody else has it.
 * - `token: lease` is etcd's own demonstration of fencing (contrib/lock): a lease's number is in no
 *   order, so that its storage compares by `!=`, which is the store `fence-equality` here.
 * - `oldLeader: revokes` is a leader that is replaced without noticing, and goes on to revoke
 *   leases that were since kept alive at the new one (issue 15247).
 * - `unanswered: kept`: a release that is lost leaves the key to the session, whose heartbeat keeps
 *   it for as long as the process lives; so does a try to take the lock that is given up without an
 *   answer, which may have made the key (`Lock` deletes it only where it waited in line). `orphans`
 *   stops the heartbeat (`Orphan`), so that the ttl counts.
 * - A lock alone keeps no late write away from a store that asks nothing. Two stores do: `fenced`,
 *   which compares revisions, and `check-sequencer`, which stands for other keys of the same etcd:
 *   `If version(own key) > 0 Then put` is one transaction, so its check costs no time.
 *
 * Read `server.ts` first (what etcd holds), then `session.ts` (the lease and its heartbeat).
 */
import type { Answer } from '../../core/history/trace.ts';
import type { Name } from '../../core/kernel/name.ts';
import type { PendingCall } from '../../core/world/calls.ts';
import { backOff, type Program } from '../../core/world/program.ts';
import type { World } from '../../core/world/world.ts';
import { Names } from '../keep-alive.ts';
import { askServer, enterLock } from '../lease.ts';
import {
  type CheckToken,
  type Chosen,
  chosenFrom,
  type DriverOf,
  type LockDriver,
  type Options,
  optionsFor,
  type Protocol,
  type Section,
} from '../protocol.ts';
import { part } from '../section-calls.ts';
import { type EtcdReply, type EtcdRequest, EtcdServer, type EtcdServing } from './server.ts';
import { type EtcdHost, EtcdSession } from './session.ts';

const NAME = 'lock';

const choices = {
  recheck: ['yes', 'no'],
  token: ['revision', 'lease', 'none'],
  oldLeader: ['steps-down', 'revokes'],
  unanswered: ['kept', 'orphans'],
} as const;

export const etcd: Protocol = {
  about: 'etcd’s mutex: a key on a lease that a heartbeat keeps, served in the order of revisions',
  source: 'etcd, client/v3/concurrency/mutex.go; Jepsen, etcd 3.4.3 (2020)',
  options: optionsFor(choices, {
    recheck: 'whether a client that waited looks again whether its own key is still there',
    token: 'which number is the fencing token: the revision that made the key, the lease, or none',
    oldLeader: 'what a leader that was replaced does about leases that it had counted down',
    unanswered:
      'what a client does about a release, or a last try, without an answer: nothing, or stops its heartbeat',
  }),
  servers: () => [NAME],
  takesSeveral: true,
  waitsInLine: true,
  canRenew: false,
  unpromised: [],
  operations: ['lease', 'acquire', 'wait', 'recheck', 'heartbeat', 'release'],
  build: (world, given) => build(world, given).driverOf,
  buildAsked: build,
};

function build(world: World, given: Options): { driverOf: DriverOf; check: CheckToken } {
  const chosen = chosenFrom(given, choices);
  const serving: EtcdServing = {
    oldLeader: chosen.oldLeader,
    tells: chosen.recheck === 'yes' ? 'recheck' : 'wait',
    tokenOf: ({ lease, revision }) => tokenOf(chosen.token, { lease, revision }),
  };
  const etcdServer = new EtcdServer(NAME, serving);
  const host = world.addServer({ name: NAME, role: 'lock' }, etcdServer);
  const check: CheckToken = (turn, asked, told) => {
    const nowUs = host.process.clock.monotonicUs(turn.atUs);
    told(etcdServer.hasKey(asked, nowUs), turn.atUs);
  };
  return { driverOf: () => new EtcdDriver(chosen, host), check };
}

function tokenOf(
  token: Chosen<typeof choices>['token'],
  key: { readonly lease: number; readonly revision: number },
): number {
  if (token === 'none') return 0;
  return token === 'lease' ? key.lease : key.revision;
}

/** A lock of the present section, as its client knows it. */
interface Held {
  readonly lock: string;
  readonly lease: number;
  readonly ordinal: number;
  readonly token: number;
  /** What its release is called. */
  readonly giveBack: string;
}

/** What the requests for one lock are called. */
interface Labels {
  readonly take: string;
  readonly wait: string;
  readonly recheck: string;
  readonly giveBack: string;
}

class EtcdDriver implements LockDriver {
  private readonly options: Chosen<typeof choices>;
  private readonly server: EtcdHost;
  private readonly names: Names = new Names();
  private current: EtcdSession | null = null;
  private held: readonly Held[] = [];
  /** Whether the last try for a lock may have left a key that no answer told of. */
  private isUnknown = false;

  constructor(options: Chosen<typeof choices>, server: EtcdHost) {
    this.options = options;
    this.server = server;
  }

  *acquire(at: Section, attempt: number): Program<boolean> {
    const take = part('acquire', attempt);
    const labels: Labels = { take, wait: 'wait', recheck: 'recheck', giveBack: 'release' };
    const has = yield* this.take(at, at.section.lock, labels);
    if (!has && attempt === at.plan.attempts) this.abandonUnknown();
    return has;
  }

  *also(at: Section, { id, lock }: { id: number; lock: string }): Program<boolean> {
    const take = part('lock', id);
    const [wait, recheck] = [`${take}-wait`, `${take}-recheck`];
    const labels: Labels = { take, wait, recheck, giveBack: part('unlock', id) };
    const has = yield* this.take(at, lock, labels);
    if (!has) this.abandonUnknown();
    return has;
  }

  /** Gives up a key that may be there: a request of which nobody answered may have made it. */
  private abandonUnknown(): void {
    const { isUnknown } = this;
    this.isUnknown = false;
    if (isUnknown && this.options.unanswered === 'orphans') this.current?.lose('left to its ttl');
  }

  /** A session over which the lock is asked for; a new one where there is none any more. */
  private *session(at: Section): Program<EtcdSession | null> {
    if (this.current !== null) this.current.keeping.at = at;
    if (this.current === null || this.current.isOver) {
      const { server, names } = this;
      this.current = yield* EtcdSession.open(at, { server, names });
    }
    return this.current;
  }

  private *take(at: Section, lock: string, labels: Labels): Program<boolean> {
    const session = yield* this.session(at);
    if (session === null) return false;
    const { lease } = session;
    const take = { kind: 'take', lock, lease } as const;
    const took = yield* this.ask(at, this.names.next(at, labels.take), take);
    this.isUnknown = took.reply === null;
    if (took.reply?.kind === 'no-lease') session.lose('etcd has no such lease');
    if (took.reply?.kind !== 'place') return false;
    const { revision, first } = took.reply;
    let told = took;
    if (first !== revision) {
      const waited = yield* this.waitFor(at, session, { lock, revision, labels });
      if (waited === null) return false;
      told = waited;
    }
    const token = tokenOf(this.options.token, { lease, revision });
    const { granted: ordinal } = told;
    this.held = [...this.held, { lock, lease, ordinal, token, giveBack: labels.giveBack }];
    if (this.held.length > 1) return true;
    session.keeping.holds = true;
    const { sentUs, issuedAtUs: sentWallUs, ttlUs } = session.keeping.term;
    enterLock(at, { ordinal, sentUs, sentWallUs }, { ttlUs, token });
    return true;
  }

  /** The answer by which the client knows that the lock is its own; null where it is not. */
  private *waitFor(
    at: Section,
    session: EtcdSession,
    place: { readonly lock: string; readonly revision: number; readonly labels: Labels },
  ): Program<PendingCall<EtcdRequest, EtcdReply> | null> {
    const { lock, revision, labels } = place;
    const { lease } = session;
    const wait = { kind: 'wait', lock, lease, revision } as const;
    let waited = yield* this.ask(at, this.names.next(at, labels.wait), wait, null);
    while (waited.reply === null && !session.isOver) {
      yield* backOff(this.names.next(at, `${labels.wait}-backoff`), at.plan.backoffUs);
      waited = yield* this.ask(at, this.names.next(at, labels.wait), wait, null);
    }
    if (waited.reply === null || this.options.recheck === 'no') {
      return waited.reply === null ? null : waited;
    }
    const get = { kind: 'get', lock, lease } as const;
    const looked = yield* this.ask(at, this.names.next(at, labels.recheck), get);
    if (looked.reply?.kind === 'place') return looked;
    if (looked.reply?.kind === 'no-key') session.lose('its key is gone');
    else {
      const withdraw = { kind: 'delete', lock, lease } as const;
      const { reply } = yield* this.ask(at, this.names.next(at, 'withdraw'), withdraw);
      this.isUnknown = reply === null;
    }
    return null;
  }

  *release(at: Section): Program<void> {
    const given = [...this.held].reverse();
    this.held = [];
    if (this.current !== null) this.current.keeping.holds = false;
    for (const { lock, lease, ordinal, giveBack } of given) {
      const ask = { kind: 'delete', lock, lease } as const;
      const operation = this.names.next(at, giveBack);
      const { reply } = yield* this.ask(at, operation, ask, at.plan.lockTimeoutUs, ordinal);
      if (reply !== null || this.options.unanswered === 'kept') continue;
      if (this.current?.lease === lease) this.current.lose('left to its ttl');
    }
  }

  /** What it does not give back it leaves to the end of its lease, so it keeps that no longer. */
  *settle(at: Section): Program<void> {
    this.held = [];
    if (this.current === null) return;
    this.current.keeping.holds = false;
    if (!at.plan.releases) this.current.lose('left to its ttl');
  }

  token(lock: string): number {
    return this.held.find((held) => held.lock === lock)?.token ?? 0;
  }

  private ask(
    at: Section,
    operation: Name,
    ask: Extract<EtcdRequest, { lock: string }>,
    timeoutUs: number | null = at.plan.lockTimeoutUs,
    ordinal = 0,
  ): Program<PendingCall<EtcdRequest, EtcdReply>> {
    const request: EtcdRequest = ask;
    const question = {
      verb: ask.kind === 'delete' ? ('release' as const) : ('acquire' as const),
      lock: ask.lock,
      target: this.server,
      request,
      timeoutUs,
      // To take, wait and look once more does nothing that was not done by the first try.
      describe: (reply: EtcdReply) => describe(reply, ask.lease, this.options.token),
      under: ordinal,
    };
    return askServer(at, operation, question);
  }
}

/** What the trace says of an answer. */
function describe(reply: EtcdReply, lease: number, token: Chosen<typeof choices>['token']): Answer {
  switch (reply.kind) {
    case 'place':
      if (reply.first !== reply.revision) return { kind: 'denied', holder: '' };
      return { kind: 'granted', token: tokenOf(token, { lease, revision: reply.revision }) };
    case 'alone':
      return { kind: 'granted', token: 0 };
    case 'deleted':
      return { kind: 'released' };
    default:
      return { kind: 'denied', holder: '' };
  }
}
