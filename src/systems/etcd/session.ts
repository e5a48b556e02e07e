/**
 * A session as in etcd's Go client (client/v3/concurrency/session.go, client/v3/lease.go): a lease
 * on which all keys of a process hang. The heartbeat asks for the whole ttl anew a third of it
 * after each answer; the session is over (`Done` is closed) once etcd says that there is no such
 * lease, or the ttl has passed since the last answer. In Go the watch on that comes by twice a
 * second; here it comes exactly at the end.
 */
import { mix } from '../../core/kernel/chance.ts';
import { type Name, under } from '../../core/kernel/name.ts';
import { type Program, request, sleep } from '../../core/world/program.ts';
import type { ServerHost } from '../../core/world/server.ts';
import { KeepAlive, type Names } from '../keep-alive.ts';
import { askServer } from '../lease.ts';
import type { Section } from '../protocol.ts';
import type { EtcdReply, EtcdRequest } from './server.ts';

export type EtcdHost = ServerHost<EtcdRequest, EtcdReply>;

const US_A_SECOND = 1_000_000;

/** How long the client waits before it opens a new stream for its heartbeat. */
const RETRY_US = 500_000;

export class EtcdSession {
  readonly lease: number;
  readonly keeping: KeepAlive;
  private readonly server: EtcdHost;

  private constructor(at: Section, lease: number, parts: { server: EtcdHost; names: Names }) {
    this.lease = lease;
    this.server = parts.server;
    this.keeping = new KeepAlive(at, parts.names);
  }

  /** Null where no answer came: the lease may be there, and ends by itself. */
  static *open(
    at: Section,
    parts: { server: EtcdHost; names: Names },
  ): Program<EtcdSession | null> {
    const operation = parts.names.next(at, 'lease');
    const session = new EtcdSession(at, leaseIdOf(operation), parts);
    const [sentUs, issuedAtUs] = [at.self.monotonicUs(), at.self.wallUs()];
    const ttlS = Math.ceil(at.plan.ttlUs / US_A_SECOND);
    const { reply } = yield* askServer(at, operation, {
      verb: 'claim',
      target: parts.server,
      request: { kind: 'grant-lease', lease: session.lease, ttlS },
      tries: 1,
      describe: () => ({ kind: 'granted', token: 0 }),
    });
    if (reply?.kind !== 'lease' || reply.ttlS === 0) return null;
    const term = { sentUs, issuedAtUs, ttlUs: reply.ttlS * US_A_SECOND };
    yield* session.keeping.begin(term, session.beat());
    return session;
  }

  get isOver(): boolean {
    return this.keeping.isOver;
  }

  lose(why: string): void {
    this.keeping.lose(why);
  }

  private *beat(): Program<void> {
    const { keeping } = this;
    const { names } = keeping;
    let waitUs = Math.floor(keeping.term.ttlUs / 3);
    for (;;) {
      yield* sleep(names.next(keeping.at, 'beat'), waitUs);
      const { self, section } = keeping.at;
      const [sentUs, issuedAtUs] = [self.monotonicUs(), self.wallUs()];
      const { reply } = yield* request<EtcdRequest, EtcdReply>(self, {
        operation: names.next(keeping.at, 'heartbeat'),
        call: { verb: 'renew', lock: section.lock, token: 0 },
        target: this.server,
        request: { kind: 'keep-alive', lease: this.lease },
        timeoutUs: null,
        tries: 1,
        describe: (answer) =>
          answer.kind === 'lease' && answer.ttlS > 0
            ? { kind: 'renewed' }
            : { kind: 'denied', holder: '' },
      });
      if (reply?.kind === 'lease' && reply.ttlS === 0) return this.lose('etcd has no such lease');
      if (reply?.kind === 'lease') {
        keeping.prolong({ sentUs, issuedAtUs, ttlUs: reply.ttlS * US_A_SECOND });
      }
      waitUs = reply === null ? RETRY_US : Math.floor(keeping.term.ttlUs / 3);
    }
  }
}

const HIGH_BITS = 20;

/** The number of a lease, which etcd draws: of 52 bits from 1, and in no order. */
function leaseIdOf(operation: Name): number {
  const high = mix(under(operation, 'id').hash) >>> (32 - HIGH_BITS);
  return high * 0x1_0000_0000 + mix(operation.hash) + 1;
}
