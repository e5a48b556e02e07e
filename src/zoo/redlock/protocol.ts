/**
 * Redlock as a protocol, as specified (redis.io, "Distributed Locks with Redis", "The Redlock
 * Algorithm"). Options remove each of its precautions. A client notes the time and sends every node
 * the same random value, with a timeout that is short compared to the ttl. It has the lock if a
 * majority accepts within the ttl. Otherwise it unlocks every node, including those that seemed to
 * refuse, and tries again after a random delay. M. Kleppmann, "How to do distributed locking"
 * (2016), explains the problems behind most of the options.
 *
 * The lock is valid for `MIN_VALIDITY = TTL - (T2 - T1) - CLOCK_DRIFT`. The drift margin of the
 * reference implementation redlock-rb is one hundredth of the ttl plus 2 ms. For example, a lock
 * with a ttl of 10 s that took 300 ms to acquire is valid for 10,000 - 300 - 102 = 9,598 ms.
 */
import {
  answerOf,
  type ClientPlan,
  GrantRecorder,
  type LeaseEnd,
  type LockDefinition,
  type LockDriver,
  leaseEnd,
  type Name,
  type Options,
  optionsFor,
  type PendingCall,
  type Program,
  part,
  questionOf,
  randomOf,
  request,
  type Section,
  type Self,
  type ServerHost,
  send,
  testLease,
  under,
  type World,
} from '../../servers.ts';
import { nodeOptions } from '../redis/protocol.ts';
import {
  describeRedisReply,
  type Kept,
  type LockKey,
  type LockNodeReply,
  type LockNodeRequest,
  type RedisRecorder,
  RedisServer,
} from '../redis/server.ts';

const DEFAULT_MARGINS = { driftFactorPpm: 10_000, driftMarginUs: 2_000 };

const choices = optionsFor(
  {
    nodes: { range: [1, 100], fallback: 5 },
    asks: ['together', 'in-turn'],
    quorum: ['majority', 'half'],
    validity: ['checked', 'unchecked'],
    drift: ['counted', 'ignored'],
    driftFactorPpm: { fallback: DEFAULT_MARGINS.driftFactorPpm },
    driftMarginUs: { fallback: DEFAULT_MARGINS.driftMarginUs },
    elapsed: ['monotonic', 'wall'],
    partial: ['released', 'kept'],
    restart: ['delayed', 'at-once'],
  },
  {
    nodes: 'number of Redis nodes, from 1 to 100: lock-1, lock-2, …',
    asks: 'whether all nodes are asked at once, as redis.io advises, or one after another',
    quorum: 'number of nodes required: ⌊n/2⌋ + 1, or ⌊n/2⌋',
    validity: 'whether answers still count once the ttl is used up (in npm redlock 5, they do)',
    drift: 'whether the client subtracts the drift margin from its lease',
    driftFactorPpm: 'variable part of the drift margin, in parts per million of the ttl',
    driftMarginUs: 'constant part of the drift margin, in microseconds',
    elapsed: 'client clock that measures the time of the requests, and the lease',
    partial: 'whether a failed attempt unlocks every node, or leaves its keys to expire',
    restart: 'whether a node that lost its keys stays out of service for the longest ttl in use',
  },
);

type Chosen = ReturnType<typeof choices.read>;

export const redlock: LockDefinition = {
  about: 'Redlock as specified: a majority of independent Redis nodes, within the validity time',
  source: 'redis.io, Distributed Locks with Redis: The Redlock Algorithm',
  options: [...choices.infos, ...nodeOptions.infos],
  servers: nodeNames,
  // The page calls for "a random delay" without a bound; here the wait is up to twice the backoff.
  jitter: { numerator: 1, denominator: 1 },
  problem,
  notGuaranteed: ['tokens-unique', 'tokens-increase'],
  build,
};

function problem(options: Options): { option: string; what: string } | null {
  const chosen = choices.read(options);
  const margins = ['driftFactorPpm', 'driftMarginUs'] as const;
  const option = margins.find((name) => chosen[name] !== DEFAULT_MARGINS[name]);
  if (option === undefined || chosen.drift !== 'ignored') return null;
  return { option, what: `${option} has no effect with drift: ignored` };
}

function nodeNames(options: Options): readonly string[] {
  return Array.from({ length: options.whole('nodes') }, (_, index) => `lock-${index + 1}`);
}

function build(world: World, options: Options): (client: ClientPlan) => LockDriver {
  const nodeKeys = new NodeKeys();
  const chosen = choices.read(options);
  const { restart, driftFactorPpm: factorPpm, driftMarginUs: constantUs } = chosen;
  const { persistence, expiry } = nodeOptions.read(options);
  const parts = { persistence, expiry, restart };
  const nodes = nodeNames(options).map((name) => {
    const server = new RedisServer(parts, nodeRecorder(name, nodeKeys));
    return world.addServer({ name, role: 'lock' }, server);
  });
  const half = Math.max(1, Math.floor(nodes.length / 2));
  const quorum = chosen.quorum === 'half' ? half : majorityOf(nodes.length);
  const margin = chosen.drift === 'ignored' ? null : { factorPpm, constantUs };
  const { asks, validity, partial, elapsed } = chosen;
  const settings = { nodes, quorum, asks, validity, partial, margin, elapsed };
  return () => new RedlockDriver(settings, nodeKeys);
}

type Node = ServerHost<LockNodeRequest, LockNodeReply>;
type NodeCall = PendingCall<LockNodeRequest, LockNodeReply>;

interface RedlockSettings extends Pick<Chosen, 'asks' | 'validity' | 'partial' | 'elapsed'> {
  readonly nodes: readonly Node[];
  readonly quorum: number;
  /** Null if drift is ignored. */
  readonly margin: DriftMargin | null;
}

interface Held {
  readonly value: number;
  readonly ordinal: number;
}

/** One round of requests: its start by each clock, and its calls. */
interface Round {
  readonly sentUs: number;
  readonly sentWallUs: number;
  readonly calls: readonly NodeCall[];
  /** The first call. The lease starts when this call is sent. */
  readonly since: NodeCall;
}

class RedlockDriver implements LockDriver {
  private readonly settings: RedlockSettings;
  private readonly nodeKeys: NodeKeys;
  private readonly held: Map<string, Held> = new Map();

  constructor(settings: RedlockSettings, nodeKeys: NodeKeys) {
    this.settings = settings;
    this.nodeKeys = nodeKeys;
  }

  *acquire(at: Section, attempt: number): Program<boolean> {
    const { self, plan, section } = at;
    const { lock } = section;
    const name = under(at.name, part('acquire', attempt));
    const { ttlUs } = plan;
    const value = randomOf(name, 'value');
    const ask = { kind: 'set', key: lock, value, ttlUs } as const;
    const round = yield* this.round(at, { verb: 'acquire', name, ask });
    if (!this.isEnough(at, round, ttlUs)) {
      const undo = under(at.name, part('undo', attempt));
      if (this.settings.partial === 'released') yield* this.unlock(at, undo, value);
      return false;
    }
    const ordinal = self.quorum.grant(this.termOf(at, round, { value, ttlUs }));
    this.held.set(lock, { value, ordinal });
    self.enter({ section: at.name, lock, ordinal, token: 0, end: at.end });
    return true;
  }

  /** "Extending the lock", with a script that extends the keys still held. */
  *renew(at: Section, { id, ttlUs }: { id: number; ttlUs: number }): Program<boolean> {
    const { self, section } = at;
    const { lock } = section;
    const held = this.held.get(lock);
    if (held === undefined) return false;
    const name = under(at.name, part('renew', id));
    const ask = { kind: 'expire', key: lock, ifValue: held.value, ttlUs } as const;
    const round = yield* this.round(at, { verb: 'renew', name, ask });
    const { nodes, quorum } = this.settings;
    if (!this.isEnough(at, round, ttlUs)) return countOf(round, 'nil') <= nodes.length - quorum;
    const { value, ordinal } = held;
    const term = this.termOf(at, round, { value, ttlUs });
    self.quorum.renew(Object.assign(term, { ordinal }));
    testLease(at);
    return true;
  }

  /** Starts the lease that enough nodes granted, and returns its terms for the observer. */
  private termOf(
    at: Section,
    round: Round,
    { value, ttlUs }: { readonly value: number; readonly ttlUs: number },
  ): Parameters<Self['quorum']['grant']>[0] {
    at.end = this.endOf(at, round, ttlUs);
    const heldUntilUs = this.nodeKeys.endUs(value, this.settings.quorum);
    const { lock } = at.section;
    return { lock, token: 0, ttlUs, since: round.since, end: at.end, heldUntilUs };
  }

  *release(at: Section): Program<void> {
    const { lock } = at.section;
    const held = this.held.get(lock);
    if (held === undefined) return;
    this.held.delete(lock);
    at.self.quorum.release({ lock, ordinal: held.ordinal });
    yield* this.unlock(at, under(at.name, 'release'), held.value);
  }

  /** "Releasing the lock": on every node, whether or not it seemed to grant the lock. */
  private *unlock(at: Section, name: Name, value: number): Program<void> {
    const ask = { kind: 'delete', key: at.section.lock, ifValue: value } as const;
    yield* this.round(at, { verb: 'release', name, ask });
  }

  private *round(
    at: Section,
    asked: { verb: 'acquire' | 'renew' | 'release'; name: Name; ask: LockNodeRequest },
  ): Program<Round> {
    const [sentUs, sentWallUs] = [at.self.monotonicUs(), at.self.wallUs()];
    const calls: NodeCall[] = [];
    for (const [index, node] of this.settings.nodes.entries()) {
      const { verb, name, ask } = asked;
      const setting = questionOf(at, index === 0 ? name : under(name, node.name), {
        verb,
        target: node,
        request: ask,
        describe: describeRedisReply(ask, 0),
        // A second SET NX would be denied because of the first.
        tries: ask.kind === 'set' ? 1 : at.plan.tries,
      });
      const isTogether = this.settings.asks === 'together';
      calls.push(yield* isTogether ? send(at.self, setting) : request(at.self, setting));
    }
    for (const call of calls) yield* answerOf(call);
    const [since] = calls;
    if (since === undefined) throw new Error('Redlock has at least one node');
    return { sentUs, sentWallUs, calls, since };
  }

  private isEnough(at: Section, round: Round, ttlUs: number): boolean {
    const { quorum, validity, elapsed } = this.settings;
    if (countOf(round, 'done') < quorum) return false;
    if (validity === 'unchecked') return true;
    const { self } = at;
    const elapsedUs =
      elapsed === 'wall' ? self.wallUs() - round.sentWallUs : self.monotonicUs() - round.sentUs;
    return validityUs({ ttlUs, elapsedUs, marginUs: this.marginUs(ttlUs) }) > 0;
  }

  private endOf(at: Section, { sentUs, sentWallUs }: Round, ttlUs: number): LeaseEnd {
    const validUs = ttlUs - this.marginUs(ttlUs);
    if (this.settings.elapsed === 'wall') return { clock: 'wall', us: sentWallUs + validUs };
    return leaseEnd(at, { sentUs, issuedAtUs: sentWallUs, ttlUs: validUs });
  }

  private marginUs(ttlUs: number): number {
    const { margin } = this.settings;
    return margin === null ? 0 : marginUs(ttlUs, margin);
  }
}

function countOf({ calls }: Round, kind: LockNodeReply['kind']): number {
  return calls.filter(({ reply }) => reply?.kind === kind).length;
}

/** Returns ⌊n/2⌋ + 1: any two majorities share a node. */
export function majorityOf(nodes: number): number {
  return Math.floor(nodes / 2) + 1;
}

/** `factorPpm` of the ttl, plus `constantUs`. */
interface DriftMargin {
  readonly factorPpm: number;
  readonly constantUs: number;
}

/** Returns the time to subtract from a lock's validity for clock drift, rounded up. */
export function marginUs(ttlUs: number, { factorPpm, constantUs }: DriftMargin): number {
  return Math.ceil((ttlUs * factorPpm) / 1_000_000) + constantUs;
}

/** Returns the remaining validity after all answers. At 0 or less, they came too late. */
export function validityUs(lease: {
  readonly ttlUs: number;
  readonly elapsedUs: number;
  readonly marginUs: number;
}): number {
  return lease.ttlUs - lease.elapsedUs - lease.marginUs;
}

/**
 * The true state of all nodes, for the observer only. A lock ends when fewer than a quorum of nodes
 * hold its key. A node holds a key until the key expires, or until the node may grant a lost key
 * again.
 */
class NodeKeys {
  /** By random value, then by node: the true time at which the node stops holding the key. */
  private readonly ends: Map<number, Map<string, number>> = new Map();

  /** Records that the node, or a replica of it, keeps a value until `untilUs`. */
  note(node: string, { value, untilUs }: Kept): void {
    const ends = this.ends.get(value) ?? new Map<string, number>();
    this.ends.set(value, ends.set(node, untilUs));
  }

  forget(node: string, { value }: Pick<LockKey, 'value'>): void {
    const ends = this.ends.get(value);
    ends?.delete(node);
    if (ends?.size === 0) this.ends.delete(value);
  }

  /**
   * Records that the node lost the value at true time `atUs`. Has no effect if the value had
   * expired.
   */
  lose(node: string, value: number, atUs: number): void {
    const ends = this.ends.get(value);
    const endUs = ends?.get(node);
    if (endUs !== undefined) ends?.set(node, Math.min(endUs, atUs));
  }

  /** Returns the true time until which a quorum holds the value, or 0 if none ever did. */
  endUs(value: number, quorum: number): number {
    const ends = [...(this.ends.get(value)?.values() ?? [])].sort((a, b) => b - a);
    return ends[quorum - 1] ?? 0;
  }
}

/** Records the denials and the keys of one node. A node alone makes no grant. */
function nodeRecorder(process: string, nodeKeys: NodeKeys): RedisRecorder {
  const recorder = new GrantRecorder(process);
  const holders = new Map<string, string>();
  /** By lock: the last key that the node stored, which may have expired. */
  const kept = new Map<string, Kept>();
  const note = (lock: string, entry: Kept): void => {
    kept.set(lock, entry);
    nodeKeys.note(process, entry);
  };
  return {
    taken: (turn, lock, entry) => {
      holders.set(lock, turn.client);
      note(lock, entry);
    },
    denied: (turn, lock) =>
      recorder.deny(turn, { lock, client: turn.client, holder: holders.get(lock) ?? '' }),
    prolonged: (_turn, lock, entry) => {
      if (entry !== null) note(lock, entry);
    },
    deleted: (_turn, lock, entry) => {
      if (entry === null) return;
      kept.delete(lock);
      nodeKeys.forget(process, entry);
    },
    lost: (key, atUs) => {
      for (const [lock, { value }] of [...kept]) {
        if (key !== null && lock !== key) continue;
        kept.delete(lock);
        nodeKeys.lose(process, value, atUs);
      }
    },
    // A replica that takes over holds only the keys that it received in time.
    snapshot: () => {
      const sent = [...kept];
      return () => {
        for (const { value } of kept.values()) nodeKeys.forget(process, { value });
        kept.clear();
        for (const [lock, entry] of sent) note(lock, entry);
      };
    },
  };
}
