/**
 * The lock of Apache Curator on ZooKeeper as a protocol (`LockInternals`, after the recipe in
 * zookeeper.apache.org, "Recipes and Solutions"). A client creates an ephemeral sequential child of
 * the lock and lists all children. If its own child is the lowest, the client has the lock.
 * Otherwise it watches the child before its own, and lists the children again when that child is
 * gone. It releases the lock by deleting its child. A heartbeat keeps the session alive; the child
 * exists only as long as the session.
 *
 * Common mistakes are options here:
 * - `token: sequence`: the number in the child's name looks like a fencing token. However, the
 *   parent's counter wraps at 2³¹, and restarts if the parent is a container that was empty for a
 *   while. The child's `czxid` increases across the entire ensemble and never restarts.
 * - `protection: any`: after a create whose answer was lost, the client looks for a child with its
 *   chosen name. A server that lags may still show a child of the client's *previous* session; the
 *   client then counts on a child that is gone. `session` checks the child's session
 *   (`ProtectedMode` of Curator). Once its tries are used up, such a client deletes the child in
 *   the background (`FindAndDeleteProtectedNodeInBackground`). `none` creates another child, which
 *   waits behind the client's first child.
 * - `release: once`: after an unanswered delete, the heartbeat keeps the child for as long as the
 *   process lives. `guaranteed` tries again in the background, as Curator's `deleteOurPath` does.
 * - After a pause that outlasts the session, the program continues where it was. A store that
 *   compares czxids then refuses its writes.
 *
 * Read `server.ts`, the state of ZooKeeper, first.
 */
import {
  type Answer,
  backOff,
  ClientSession,
  inBackground,
  type KeepAlive,
  type LockDefinition,
  type LockDriver,
  type Options,
  optionsFor,
  type PendingCall,
  type Program,
  questionOf,
  request,
  type Section,
  type ServerHost,
  sleep,
  type World,
} from '../../servers.ts';
import { type LockChild, type ZkReply, type ZkRequest, ZkServer } from './server.ts';

const NAME = 'lock';
const US_A_MS = 1000;

const choices = optionsFor(
  {
    token: ['czxid', 'sequence', 'none'],
    parent: ['persistent', 'container'],
    protection: ['session', 'any', 'none'],
    release: ['guaranteed', 'once'],
    tickTime: { range: [1, 60_000], fallback: 2000 },
    followerLag: { range: [0, 60_000], fallback: 0 },
  },
  {
    token: 'number of the child used as fencing token: its czxid, its sequence, or none',
    parent: 'whether the parent is persistent, or a container that is deleted when empty',
    protection: 'child that a client considers its own if a create gets no answer',
    release: 'whether an unanswered delete is retried in the background',
    tickTime:
      'tick of the leader, in milliseconds: a session lasts 2 to 20 ticks, and ends at a tick',
    followerLag: 'milliseconds by which a server that answers reads may lag',
  },
);

type Chosen = ReturnType<typeof choices.read>;

export const zookeeper: LockDefinition = {
  about: 'Curator’s lock on ZooKeeper: ephemeral sequential children, the lowest holds the lock',
  source: 'zookeeper.apache.org, Recipes and Solutions: Locks; Apache Curator, LockInternals',
  options: choices.infos,
  waitsInLine: true,
  canRenew: false,
  operations: ['session', 'acquire', 'children', 'watch', 'heartbeat', 'release'],
  build,
};

function build(world: World, options: Options): () => LockDriver {
  const chosen = choices.read(options);
  const serving = {
    tickUs: chosen.tickTime * US_A_MS,
    lagUs: chosen.followerLag * US_A_MS,
    isContainer: chosen.parent === 'container',
    tokenOf: (child: LockChild) => tokenOf(chosen, child),
  };
  const host = world.addServer({ name: NAME, role: 'lock' }, new ZkServer(NAME, serving));
  return () => new CuratorDriver(chosen, host);
}

function tokenOf({ token }: Pick<Chosen, 'token'>, { czxid, sequence }: LockChild): number {
  if (token === 'none') return 0;
  return token === 'czxid' ? czxid : sequence;
}

type Host = ServerHost<ZkRequest, ZkReply>;
type Asked = Program<PendingCall<ZkRequest, ZkReply>>;
type Verb = 'acquire' | 'release';

/** The child by which a client holds its lock, and the grant number; 0 if there is no grant. */
interface Held {
  readonly child: LockChild;
  readonly ordinal: number;
}

class CuratorDriver implements LockDriver {
  private readonly options: Chosen;
  private readonly server: Host;
  private readonly session: ClientSession;
  /** The name in an unanswered create. */
  private unanswered: string | null = null;
  private held: Held | null = null;

  constructor(options: Chosen, server: Host) {
    this.options = options;
    this.server = server;
    this.session = new ClientSession(this);
  }

  *acquire(at: Section, attempt: number): Program<boolean> {
    if (attempt === 1) this.unanswered = null;
    const session = yield* this.session.during(at);
    if (session === null) return false;
    const child = yield* this.child(at, session);
    if (child !== null) return yield* this.stand(at, session, child);
    const { unanswered } = this;
    if (unanswered !== null && this.isProtected() && attempt === at.plan.attempts) {
      yield* inBackground(this.deleteFound(session, at.section.lock, unanswered));
    }
    return false;
  }

  private isProtected(): boolean {
    return this.options.protection === 'session';
  }

  /**
   * Returns the client's child, created if necessary. Returns null if a child may already exist.
   */
  private *child(at: Section, session: KeepAlive): Program<LockChild | null> {
    const found = yield* this.find(at, session);
    if (found !== null) return found;
    const isUnknown = this.unanswered !== null && this.isProtected();
    return isUnknown ? null : yield* this.create(at, session);
  }

  /** Finds and deletes the child of an unanswered create. Tries until a reply comes. */
  private *deleteFound(session: KeepAlive, lock: string, named: string): Program<void> {
    const { id } = session;
    while (!session.isOver) {
      const { at } = session;
      yield* sleep(at.nextName('find-backoff'), at.plan.backoffUs);
      const ask = { kind: 'children', session: id, lock, own: 0 } as const;
      const { reply } = yield* this.ask(at, 'acquire', 'find', ask);
      if (reply?.kind !== 'children') continue;
      const child = reply.children.find((each) => each.named === named && each.session === id);
      if (child !== undefined) yield* this.deleteAtLast(session, { child, ordinal: 0 });
      return;
    }
  }

  *open(at: Section): Program<{ readonly id: number; readonly ttlUs: number } | null> {
    const ask = { kind: 'connect', timeoutUs: at.plan.ttlUs } as const;
    const { reply } = yield* this.ask(at, 'acquire', 'session', ask);
    return reply?.kind === 'session' ? { id: reply.session, ttlUs: reply.timeoutUs } : null;
  }

  heartbeat(session: KeepAlive): Program<void> {
    return session.beat<ZkRequest, ZkReply>({
      target: this.server,
      request: { kind: 'ping', session: session.id },
      ttlUsOf: ({ kind }) => (kind === 'alive' ? session.term.ttlUs : null),
      lost: 'ZooKeeper has no such session',
    });
  }

  /** Returns the child of an earlier create whose answer was lost, or null if none is found. */
  private *find(at: Section, session: KeepAlive): Program<LockChild | null> {
    const { unanswered } = this;
    const { protection } = this.options;
    if (unanswered === null || protection === 'none') return null;
    const { id } = session;
    const ask = { kind: 'children', session: id, lock: at.section.lock, own: 0 } as const;
    const { reply } = yield* this.ask(at, 'acquire', 'find', ask);
    if (reply?.kind === 'expired') session.lose('ZooKeeper has no such session');
    if (reply?.kind !== 'children') return null;
    this.unanswered = null;
    const found = reply.children.find(({ named }) => named === unanswered);
    const isOwner = found !== undefined && (protection === 'any' || found.session === id);
    return isOwner ? found : null;
  }

  private *create(at: Section, session: KeepAlive): Program<LockChild | null> {
    const named = `${at.name.text}#${session.id}`;
    const ask = { kind: 'create', session: session.id, lock: at.section.lock, named } as const;
    const { reply } = yield* this.ask(at, 'acquire', 'acquire', ask);
    if (reply === null) this.unanswered = named;
    if (reply?.kind === 'expired') session.lose('ZooKeeper has no such session');
    return reply?.kind === 'created' ? reply.child : null;
  }

  /** Waits until the child is the lowest. Returns false if the child or the session is gone. */
  private *stand(at: Section, session: KeepAlive, child: LockChild): Program<boolean> {
    const { lock } = at.section;
    while (!session.isOver) {
      const ask = { kind: 'children', session: session.id, lock, own: child.czxid } as const;
      const { reply, granted: ordinal } = yield* this.ask(at, 'acquire', 'children', ask);
      if (reply?.kind === 'expired') session.lose('ZooKeeper has no such session');
      if (reply?.kind !== 'children') {
        yield* backOff(at.nextName('children-backoff'), at.plan.backoffUs);
        continue;
      }
      const place = reply.children.findIndex(({ czxid }) => czxid === child.czxid);
      if (place < 0) return false;
      const before = reply.children[place - 1];
      if (before === undefined) {
        this.held = { child, ordinal };
        session.enter(ordinal, tokenOf(this.options, child));
        return true;
      }
      const watch = { kind: 'watch', session: session.id, czxid: before.czxid } as const;
      yield* this.ask(at, 'acquire', 'watch', watch, { timeoutUs: null });
    }
    return false;
  }

  *release(at: Section): Program<void> {
    const { held } = this;
    const { current } = this.session;
    this.held = null;
    this.session.letGo();
    if (held === null || current === null) return;
    if (yield* this.delete(at, current, held)) return;
    if (this.options.release === 'guaranteed') {
      yield* inBackground(this.deleteAtLast(current, held));
    }
  }

  private *deleteAtLast(session: KeepAlive, held: Held): Program<void> {
    let isDone = false;
    while (!isDone && !session.isOver) {
      yield* sleep(session.at.nextName('release-backoff'), session.at.plan.backoffUs);
      isDone = yield* this.delete(session.at, session, held);
    }
  }

  /** Deletes the client's child. Returns whether the delete was answered. */
  private *delete(
    at: Section,
    { id: session }: KeepAlive,
    { child, ordinal: under }: Held,
  ): Program<boolean> {
    const { lock, czxid } = child;
    const ask = { kind: 'delete', session, lock, czxid } as const;
    const { reply } = yield* this.ask(at, 'release', 'release', ask, { under });
    return reply !== null;
  }

  *settle(at: Section): Program<void> {
    this.held = null;
    this.session.settle(at);
  }

  token(): number {
    return this.held === null ? 0 : tokenOf(this.options, this.held.child);
  }

  private ask(
    at: Section,
    verb: Verb,
    label: string,
    ask: ZkRequest,
    {
      under = 0,
      timeoutUs = at.plan.lockTimeoutUs,
    }: { readonly under?: number; readonly timeoutUs?: number | null } = {},
  ): Asked {
    const { options } = this;
    const describe = (reply: ZkReply): Answer => answerTo(ask, reply, options);
    const target = this.server;
    const question = { verb, target, request: ask, tries: 1, timeoutUs, under, describe };
    return request(at.self, questionOf(at, at.nextName(label), question));
  }
}

function answerTo(ask: ZkRequest, reply: ZkReply, options: Pick<Chosen, 'token'>): Answer {
  if (reply.kind === 'expired') return { kind: 'denied', holder: '' };
  if (ask.kind === 'delete') return { kind: 'released' };
  if (reply.kind !== 'children' || ask.kind !== 'children') return { kind: 'current' };
  const [first] = reply.children;
  if (first?.czxid !== ask.own) return { kind: 'denied', holder: '' };
  return { kind: 'granted', token: tokenOf(options, first) };
}
