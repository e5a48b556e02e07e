/**
 * The pessimistic lock as a protocol, and its client. The client releases the locks of its section
 * in reverse order. If a further lock is denied, the client releases all its locks, waits, and
 * takes them again in a new *round*. The server is in `lock-server.ts`.
 *
 * The other folders of `zoo` are organized like this one. `etcd/protocol.ts` and
 * `zookeeper/protocol.ts` keep a session alive during the work, `redlock/protocol.ts` calls several
 * servers at once, and `worker-lease/protocol.ts` gets its steps from a queue.
 */
import {
  backOff,
  type LockDefinition,
  type LockDriver,
  type Name,
  optionsFor,
  type PendingCall,
  type Program,
  part,
  questionOf,
  request,
  type Section,
  type ServerHost,
  under,
} from '../../servers.ts';
import type { PessimisticReply, PessimisticRequest } from './lock-server.ts';
import { describePessimisticReply, PessimisticServer } from './lock-server.ts';

const NAME = 'lock';

const choices = optionsFor(
  { onDeadlock: ['wait', 'abort'] },
  {
    onDeadlock:
      'whether a request that closes a cycle waits forever (visible only with lockTimeout: never), or is denied and retried',
  },
);

export const pessimistic: LockDefinition = {
  about: 'held until released, no ttl; clients wait in a queue, and deadlocks are detected',
  source: 'Gray and Reuter, Transaction Processing, chapters 7 and 8',
  options: choices.infos,
  takesSeveral: true,
  waitsInLine: true,
  canRenew: false,
  build: (world, options) => {
    const server = new PessimisticServer(NAME, choices.read(options));
    const host = world.addServer({ name: NAME, role: 'lock' }, server);
    return (client) => new PessimisticDriver(client.name, host);
  },
};

type Host = ServerHost<PessimisticRequest, PessimisticReply>;

/** A lock that the section wants, and the labels of its acquire and release. */
interface LockRequest {
  readonly lock: string;
  readonly take: string;
  readonly giveBack: string;
}

interface Holding extends LockRequest {
  readonly ordinal: number;
  readonly token: number;
  /** The request that acquired the lock. */
  readonly request: string;
}

/** End of a lease that never ends: a hundred years. */
const NEVER_US = 3_155_760_000_000_000;

class PessimisticDriver implements LockDriver {
  private readonly client: string;
  private readonly server: Host;
  /** The locks of the current section: its own lock first, then further locks. */
  private requests: readonly LockRequest[] = [];
  private holdings: readonly Holding[] = [];
  private round = 1;

  constructor(client: string, server: Host) {
    this.client = client;
    this.server = server;
  }

  *acquire(at: Section, attempt: number): Program<boolean> {
    if (!at.plan.releases) {
      // Without a ttl, `releases: false` would keep the lock forever.
      at.self.log('pessimistic', `${at.section.lock} is not taken, as it would not be given back`);
      return false;
    }
    const request = { lock: at.section.lock, take: part('acquire', attempt), giveBack: 'release' };
    this.requests = [request];
    this.holdings = [];
    this.round = 1;
    return yield* this.take(at, request);
  }

  *also(at: Section, step: { readonly id: number; readonly lock: string }): Program<boolean> {
    const { lock, id } = step;
    const request = { lock, take: part('lock', id), giveBack: part('unlock', id) };
    this.requests = [...this.requests, request];
    let isTaken = yield* this.take(at, request);
    while (!isTaken) {
      at.self.leave();
      yield* this.giveAllBack(at);
      if (this.round >= at.plan.attempts) return false;
      yield* backOff(under(at.name, `backoff-round-${this.round}`), at.plan.backoffUs);
      this.round += 1;
      isTaken = yield* this.takeAll(at);
    }
    return true;
  }

  *release(at: Section): Program<void> {
    yield* this.giveAllBack(at);
    this.requests = [];
  }

  token(lock: string): number {
    return this.holdings.find((holding) => holding.lock === lock)?.token ?? 0;
  }

  private *takeAll(at: Section): Program<boolean> {
    for (const request of this.requests) {
      if (!(yield* this.take(at, request))) return false;
    }
    return true;
  }

  private *take(at: Section, request: LockRequest): Program<boolean> {
    const { lock } = request;
    const operation = this.nameOf(at, request.take);
    const sinceUs = at.self.monotonicUs();
    const { client } = this;
    const ask = { kind: 'acquire', lock, client, request: operation.text, sinceUs } as const;
    const call = yield* this.ask(at, operation, ask);
    if (call.state === 'unknown') yield* this.giveUp(at, operation, lock);
    if (call.reply?.kind !== 'granted') return false;
    const { token } = call.reply;
    const ordinal = call.granted;
    const { take, giveBack } = request;
    const holding = { lock, take, giveBack, ordinal, token, request: operation.text };
    this.holdings = [...this.holdings, holding];
    if (this.holdings.length > 1) return true;
    at.end = { clock: 'monotonic', us: NEVER_US };
    at.self.enter({ section: at.name, lock, ordinal, token, end: at.end });
    return true;
  }

  /** Leaves the queue, or releases a lock whose grant was not received. */
  private *giveUp(at: Section, acquire: Name, lock: string): Program<void> {
    const operation = under(at.name, `${acquire.text.split('/').at(-1) ?? ''}-cancel`);
    const { client } = this;
    const ask = { kind: 'release', lock, client, request: acquire.text } as const;
    yield* this.ask(at, operation, ask);
  }

  private *giveAllBack(at: Section): Program<void> {
    const holdings = [...this.holdings].reverse();
    this.holdings = [];
    for (const { lock, giveBack, request: named, ordinal, token } of holdings) {
      const operation = this.nameOf(at, giveBack);
      const ask = { kind: 'release', lock, client: this.client, request: named } as const;
      yield* this.ask(at, operation, ask, { token, ordinal });
    }
  }

  /** Returns `alice/1/lock` in the first round, then `alice/1/lock-round-2`. */
  private nameOf(at: Section, label: string): Name {
    return under(at.name, this.round === 1 ? label : `${label}-round-${this.round}`);
  }

  private ask(
    at: Section,
    operation: Name,
    ask: PessimisticRequest,
    { token, ordinal }: Pick<Holding, 'token' | 'ordinal'> = { token: 0, ordinal: 0 },
  ): Program<PendingCall<PessimisticRequest, PessimisticReply>> {
    const { kind: verb, lock } = ask;
    const { server: target } = this;
    const describe = describePessimisticReply;
    const question = { verb, lock, token, target, request: ask, describe, under: ordinal };
    return request(at.self, questionOf(at, operation, question));
  }
}
