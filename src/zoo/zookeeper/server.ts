/**
 * ZooKeeper as far as locks use it (zookeeper.apache.org, "Programmer's Guide", "Internals"): the
 * ephemeral sequential children of one node per lock, and sessions. One server represents the
 * ensemble: no crash loses acknowledged changes.
 * - Every change has the next `zxid` of the entire ensemble; a child keeps the `zxid` of its
 *   creation (`czxid`). Its *sequence* comes from the parent's counter, which restarts when the
 *   parent is removed. A container node is removed if it is empty at a check, once a minute.
 * - A session that sends nothing for its timeout ends at the leader's next tick, and its children
 *   are removed (`SessionTrackerImpl`, `ExpiryQueue.roundToNextInterval`). A timeout is at least
 *   two ticks and at most twenty. A new leader restarts every session with its full timeout.
 * - The client's server answers its reads and may lag. A session that has not written yet may
 *   therefore see the children of an ended session.
 *
 * Simpler than ZooKeeper: a session that has timed out ends before the next request is handled. A
 * container is removed once it has been empty for a whole minute.
 */
import { type Boot, LATER, OrderedKeyRecorder, type Server, type Turn } from '../../servers.ts';

/** A child of a lock. */
export type LockChild = {
  readonly lock: string;
  readonly czxid: number;
  /** Counted from 1. ZooKeeper counts from 0 and writes 0000000000. */
  readonly sequence: number;
  readonly session: number;
  /** The name that the client chose to find the child again; in Curator, `_c_<guid>-`. */
  readonly named: string;
};

export type ZkRequest =
  | { readonly kind: 'connect'; readonly timeoutUs: number }
  | { readonly kind: 'ping'; readonly session: number }
  | {
      readonly kind: 'create';
      readonly session: number;
      readonly lock: string;
      readonly named: string;
    }
  /** `own`: for the observer, the `czxid` of the client's own child; 0 if there is none. */
  | {
      readonly kind: 'children';
      readonly session: number;
      readonly lock: string;
      readonly own: number;
    }
  /** A watch on a child, answered once the child is gone. */
  | { readonly kind: 'watch'; readonly session: number; readonly czxid: number }
  | {
      readonly kind: 'delete';
      readonly session: number;
      readonly lock: string;
      readonly czxid: number;
    };

export type ZkReply =
  | { readonly kind: 'session'; readonly session: number; readonly timeoutUs: number }
  | { readonly kind: 'alive' }
  /** The session is over. */
  | { readonly kind: 'expired' }
  | { readonly kind: 'created'; readonly child: LockChild }
  /** In sequence order. */
  | { readonly kind: 'children'; readonly children: readonly LockChild[] }
  | { readonly kind: 'gone' };

interface ZkSession {
  readonly timeoutUs: number;
  /** End of the session, by the leader's monotonic clock. */
  readonly endUs: number;
  readonly isOver: boolean;
  readonly hasWritten: boolean;
  /** For the observer: the owner, and when its last message was sent. */
  readonly client: string;
  readonly sentAtUs: number;
}

export interface ZkServing {
  readonly tickUs: number;
  /** Maximum lag of the server that answers a read. */
  readonly lagUs: number;
  /** True if a lock's parent node is removed when it is empty. */
  readonly isContainer: boolean;
  readonly tokenOf: (child: LockChild) => number;
}

const CONTAINER_CHECK_US = 60_000_000;

type ZkTurn = Turn<ZkReply>;
type Ask<K extends ZkRequest['kind']> = Extract<ZkRequest, { kind: K }>;

export class ZkServer implements Server<ZkRequest, ZkReply> {
  private readonly serving: ZkServing;
  private readonly recorder: OrderedKeyRecorder<LockChild>;
  private zxid = 0;
  private readonly sessions: Map<number, ZkSession> = new Map();
  private children: readonly LockChild[] = [];
  /** Children that were removed, with the time of removal, for reads that lag. */
  private gone: readonly { readonly child: LockChild; readonly atUs: number }[] = [];
  /** By lock: the parent's counter, and since when the parent has been empty; null: not empty. */
  private readonly parents: Map<string, { count: number; emptyUs: number | null }> = new Map();
  /** Locks whose parent was removed. */
  private readonly lostParents: Set<string> = new Set();
  private watches: readonly { readonly request: Ask<'watch'>; readonly turn: ZkTurn }[] = [];

  constructor(name: string, serving: ZkServing) {
    this.serving = serving;
    this.recorder = new OrderedKeyRecorder(name, {
      numberOf: ({ czxid }) => czxid,
      termsOf: (child, boot) => this.termsOf(child, boot),
    });
  }

  handle(request: ZkRequest, turn: ZkTurn): ZkReply | typeof LATER {
    this.expire(turn.monotonicUs);
    const reply = this.act(request, turn);
    this.answerWatches();
    return reply;
  }

  private act(request: ZkRequest, turn: ZkTurn): ZkReply | typeof LATER {
    if (request.kind === 'connect') return this.connect(request, turn);
    if (!this.touch(request.session, turn)) return { kind: 'expired' };
    switch (request.kind) {
      case 'ping':
        return { kind: 'alive' };
      case 'create':
        return { kind: 'created', child: this.create(request, turn) };
      case 'children':
        return { kind: 'children', children: this.list(request, turn) };
      case 'watch':
        this.watches = [...this.watches, { request, turn }];
        return LATER;
      case 'delete':
        return this.delete(request, turn);
    }
  }

  private connect({ timeoutUs: wantedUs }: Ask<'connect'>, turn: ZkTurn): ZkReply {
    const { tickUs } = this.serving;
    const timeoutUs = Math.min(Math.max(wantedUs, 2 * tickUs), 20 * tickUs);
    this.zxid += 1;
    const { client, sentAtUs, monotonicUs } = turn;
    const endUs = this.endAfter(monotonicUs, turn.lifetimeUs(timeoutUs));
    const opened = { timeoutUs, endUs, isOver: false, hasWritten: false, client, sentAtUs };
    this.sessions.set(this.zxid, opened);
    return { kind: 'session', session: this.zxid, timeoutUs };
  }

  /** Returns the time of the leader's first tick after the timeout. */
  private endAfter(nowUs: number, timeoutUs: number): number {
    const { tickUs } = this.serving;
    return (Math.floor((nowUs + timeoutUs) / tickUs) + 1) * tickUs;
  }

  /** Extends a session: every request keeps it alive. Returns false if the session is over. */
  private touch(id: number, turn: ZkTurn): boolean {
    const session = this.sessions.get(id);
    if (session === undefined || session.isOver) return false;
    this.prolong(id, turn, turn.sentAtUs, turn.message);
    return true;
  }

  private prolong(id: number, boot: Boot, sentAtUs: number, message: string): void {
    const session = this.sessions.get(id);
    if (session === undefined || session.isOver) return;
    const { timeoutUs, hasWritten, client } = session;
    const endUs = this.endAfter(boot.monotonicUs, boot.lifetimeUs(timeoutUs));
    this.sessions.set(id, { timeoutUs, endUs, isOver: false, hasWritten, client, sentAtUs });
    const children = this.children.filter((child) => child.session === id);
    this.recorder.prolongAll(boot, children, message);
  }

  private expire(nowUs: number): void {
    for (const [id, session] of this.sessions) {
      if (session.isOver || session.endUs > nowUs) continue;
      const { timeoutUs, endUs, hasWritten, client, sentAtUs } = session;
      this.sessions.set(id, { timeoutUs, endUs, isOver: true, hasWritten, client, sentAtUs });
      this.remove((child) => child.session === id, nowUs);
    }
    for (const [lock, { emptyUs }] of this.parents) {
      const isLongEmpty = emptyUs !== null && nowUs - emptyUs >= CONTAINER_CHECK_US;
      if (!this.serving.isContainer || !isLongEmpty) continue;
      this.parents.delete(lock);
      this.lostParents.add(lock);
    }
  }

  private create({ session: id, lock, named }: Ask<'create'>, turn: ZkTurn): LockChild {
    this.zxid += 1;
    const parent = this.parents.get(lock) ?? { count: 0, emptyUs: null };
    if (this.lostParents.delete(lock)) {
      const why = `the parent of ${lock} had been empty for a minute, and went with its sequence`;
      this.recorder.explain(turn, why);
    }
    parent.count += 1;
    parent.emptyUs = null;
    this.parents.set(lock, parent);
    const child = { lock, czxid: this.zxid, sequence: parent.count, session: id, named };
    const [first] = this.childrenOf(lock);
    this.children = [...this.children, child];
    this.noteWritten(id);
    if (first !== undefined) {
      this.recorder.wait(turn, child, this.sessions.get(first.session)?.client ?? '');
    }
    return child;
  }

  private noteWritten(id: number): void {
    const session = this.sessions.get(id);
    if (session === undefined) return;
    const { timeoutUs, endUs, isOver, client, sentAtUs } = session;
    this.sessions.set(id, { timeoutUs, endUs, isOver, hasWritten: true, client, sentAtUs });
  }

  private list(
    { session, lock, own: created }: Ask<'children'>,
    turn: ZkTurn,
  ): readonly LockChild[] {
    const { lagUs } = this.serving;
    const isBehind = this.sessions.get(session)?.hasWritten !== true;
    const stale = this.gone.filter(
      ({ child, atUs }) => isBehind && child.lock === lock && turn.monotonicUs - atUs < lagUs,
    );
    const seen = [...this.childrenOf(lock), ...stale.map(({ child }) => child)];
    seen.sort((a, b) => a.sequence - b.sequence || a.czxid - b.czxid);
    const [first] = seen;
    if (first !== undefined && first.czxid === created) this.recorder.give(turn, first);
    return seen;
  }

  private childrenOf(lock: string): readonly LockChild[] {
    return this.children.filter((child) => child.lock === lock);
  }

  private delete({ lock, czxid }: Ask<'delete'>, turn: ZkTurn): ZkReply {
    const child = this.children.find((candidate) => candidate.czxid === czxid) ?? null;
    this.remove((candidate) => candidate === child, turn.monotonicUs);
    this.recorder.giveBack(turn, lock, child);
    return { kind: 'gone' };
  }

  private remove(isMeant: (child: LockChild) => boolean, nowUs: number): void {
    const gone = this.children.filter(isMeant);
    if (gone.length === 0) return;
    this.zxid += 1;
    this.children = this.children.filter((child) => !isMeant(child));
    this.gone = [...this.gone, ...gone.map((child) => ({ child, atUs: nowUs }))];
    for (const { lock } of gone) {
      const parent = this.parents.get(lock);
      if (parent !== undefined && this.childrenOf(lock).length === 0) parent.emptyUs = nowUs;
    }
  }

  private answerWatches(): void {
    const isThere = ({ czxid }: Ask<'watch'>): boolean =>
      this.children.some((child) => child.czxid === czxid);
    const over = this.watches.filter(({ request }) => !isThere(request));
    this.watches = this.watches.filter(({ request }) => isThere(request));
    for (const { turn } of over) turn.answer({ kind: 'gone' });
  }

  /** Returns the terms of a child's grant, or the last terms if its session has ended. */
  private termsOf(child: LockChild, boot: Boot) {
    const { lock } = child;
    const session = this.sessions.get(child.session);
    const { client = '', timeoutUs: ttlUs = 0, endUs = 0, sentAtUs = 0 } = session ?? {};
    const untilUs = boot.trueTimeOf('monotonic', endUs);
    return { lock, client, token: this.serving.tokenOf(child), ttlUs, untilUs, sentAtUs };
  }

  /** Watches are lost with their connections. A new leader restarts every session. */
  restart(boot: Boot): void {
    this.watches = [];
    for (const id of this.sessions.keys()) this.prolong(id, boot, boot.atUs, '');
  }

  snapshot(): () => void {
    return () => {};
  }
}
