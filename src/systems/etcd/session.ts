/**
 * A session as in etcd's Go client (client/v3/concurrency/session.go, client/v3/lease.go): a lease
 * on which all keys of a process hang, and two programs in the background that keep it.
 *
 * The heartbeat asks for the whole ttl anew a third of it after each answer. The other one watches
 * the end of the lease by the process's own clock, which each answer moves; once that is past, or
 * an answer says that there is no such lease, the session is over (`Done` is closed). What its
 * program makes of that is the program's own affair: one that tests its lease stops, any other goes
 * on without a lock. In Go the watch comes by twice a second; here it comes exactly at the end.
 */
import { mix } from '../../core/kernel/chance.ts';
import { type Name, under } from '../../core/kernel/name.ts';
import type { LeaseEnd } from '../../core/world/client-view.ts';
import {
  type Background,
  inBackground,
  type Program,
  request,
  sleep,
} from '../../core/world/program.ts';
import type { ServerHost } from '../../core/world/server.ts';
import { askServer, leaseEnd, prolongLease } from '../lease.ts';
import type { Section } from '../protocol.ts';
import { part } from '../section-calls.ts';
import type { EtcdReply, EtcdRequest } from './server.ts';

export type EtcdHost = ServerHost<EtcdRequest, EtcdReply>;

const US_A_SECOND = 1_000_000;

/** How long the client waits before it opens a new stream for its heartbeat. */
const RETRY_US = 500_000;

/** What the requests of one client are called: numbered anew in each section. */
export class Names {
  private section = '';
  private readonly counts: Map<string, number> = new Map();

  /** `alice/2/heartbeat`, then `alice/2/heartbeat-2`, … */
  next(at: Section, label: string): Name {
    if (this.section !== at.name.text) this.counts.clear();
    this.section = at.name.text;
    const count = (this.counts.get(label) ?? 0) + 1;
    this.counts.set(label, count);
    return under(at.name, part(label, count));
  }
}

export class Session {
  readonly lease: number;
  isOver = false;
  /** The section that its process is in: what it does in the background is named by that. */
  at: Section;
  /** Whether the locks of that section hang on it now. */
  holds = false;
  /** When the request left that its lease was last prolonged by, by both clocks of the process. */
  private sentUs = 0;
  private issuedAtUs = 0;
  private ttlUs = 0;
  private end: LeaseEnd = { clock: 'monotonic', us: 0 };
  private readonly server: EtcdHost;
  private readonly names: Names;
  private programs: readonly Background[] = [];

  private constructor(at: Section, lease: number, parts: { server: EtcdHost; names: Names }) {
    this.at = at;
    this.lease = lease;
    this.server = parts.server;
    this.names = parts.names;
  }

  /** Null where no answer came: the lease may be there, and ends by itself. */
  static *open(at: Section, parts: { server: EtcdHost; names: Names }): Program<Session | null> {
    const operation = parts.names.next(at, 'lease');
    const session = new Session(at, leaseIdOf(operation), parts);
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
    session.prolong({ sentUs, issuedAtUs, ttlUs: reply.ttlS * US_A_SECOND });
    const heartbeat = yield* inBackground(session.beat());
    const watch = yield* inBackground(session.watch());
    session.programs = [heartbeat, watch];
    return session;
  }

  /** What is known of the lease: sent when, by both clocks, and for how long. */
  get term(): Parameters<typeof leaseEnd>[1] {
    return { sentUs: this.sentUs, issuedAtUs: this.issuedAtUs, ttlUs: this.ttlUs };
  }

  private prolong({ sentUs, issuedAtUs, ttlUs }: Parameters<typeof leaseEnd>[1]): void {
    this.sentUs = sentUs;
    this.issuedAtUs = issuedAtUs;
    this.ttlUs = ttlUs;
    this.end = leaseEnd(this.at, this.term);
    if (this.holds) prolongLease(this.at, this.term);
  }

  private *beat(): Program<void> {
    let waitUs = Math.floor(this.ttlUs / 3);
    for (;;) {
      yield* sleep(this.names.next(this.at, 'beat'), waitUs);
      const { self, section } = this.at;
      const [sentUs, issuedAtUs] = [self.monotonicUs(), self.wallUs()];
      const { reply } = yield* request<EtcdRequest, EtcdReply>(self, {
        operation: this.names.next(this.at, 'heartbeat'),
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
        this.prolong({ sentUs, issuedAtUs, ttlUs: reply.ttlS * US_A_SECOND });
      }
      waitUs = reply === null ? RETRY_US : Math.floor(this.ttlUs / 3);
    }
  }

  private *watch(): Program<void> {
    for (;;) {
      const { clock, us } = this.end;
      const { self } = this.at;
      const leftUs = us - (clock === 'wall' ? self.wallUs() : self.monotonicUs());
      if (leftUs <= 0) return this.lose('no heartbeat was answered in time');
      yield* sleep(this.names.next(this.at, 'watch'), leftUs);
    }
  }

  /** The client ends it (`Close`): no heartbeat comes any more, and its lease is revoked. */
  *close(): Program<void> {
    this.lose('closed by its client');
    yield* askServer(this.at, this.names.next(this.at, 'close'), {
      verb: 'release',
      target: this.server,
      request: { kind: 'revoke', lease: this.lease },
      describe: () => ({ kind: 'released' }),
      under: 0,
    });
  }

  /** The session is over, and its client knows. */
  lose(why: string): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const program of this.programs) program.stop();
    const { at } = this;
    at.self.log('session', `over: ${why}`);
    if (!this.holds || !at.plan.checksLease) return;
    at.end = { clock: 'monotonic', us: 0 };
    at.self.leave();
  }
}

const HIGH_BITS = 20;

/** The number of a lease, which etcd draws: of 52 bits from 1, and in no order. */
function leaseIdOf(operation: Name): number {
  const high = mix(under(operation, 'id').hash) >>> (32 - HIGH_BITS);
  return high * 0x1_0000_0000 + mix(operation.hash) + 1;
}
