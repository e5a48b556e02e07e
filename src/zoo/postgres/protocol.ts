/**
 * PostgreSQL's advisory locks as a protocol, and their client. Like migration tools, the client
 * calls `pg_try_advisory_lock` until that returns true, works, and unlocks. The server is in
 * `server.ts`.
 *
 * Failure modes and their cures are options here:
 * - `pooler: transaction` with `level: session`: two clients hold the lock at once, or the lock is
 *   held forever. The cure is `level: transaction`: a transaction keeps its backend.
 * - `peerDeath: half-open`: a holder that vanished keeps the lock for hours. The cure is a shorter
 *   `keepaliveMs`, the total of `tcp_keepalives_idle` and the probes after it.
 * - After `idleTimeoutMs`, a lost connection, a crash of the server or a failover, the lock is
 *   free, but its holder keeps working. Only writes can reveal this. `token: sequence` takes
 *   `nextval('fence')` in the locking statement, for a store that compares tokens. Writing in the
 *   session that holds the lock has the same effect, since the session ends with the lock.
 * - `unanswered: kept`: after an unanswered request, the client may lock twice, but unlocks once.
 *   The cure is `unlocks-all` (`pg_advisory_unlock_all`).
 */
import {
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
  type ServerHost,
  under,
} from '../../servers.ts';
import {
  describePostgresReply,
  type PostgresReply,
  type PostgresRequest,
  PostgresServer,
} from './server.ts';

const NAME = 'lock';

const BACKENDS = 2;
/** Linux's defaults: 7,200 s, then nine probes 75 s apart. */
const KEEPALIVE_MS = 7_875_000;

const choices = optionsFor(
  {
    level: ['session', 'transaction'],
    pooler: ['none', 'transaction'],
    backends: { range: [1, 100], fallback: BACKENDS },
    peerDeath: ['closes', 'half-open'],
    keepaliveMs: { fallback: KEEPALIVE_MS },
    idleTimeoutMs: { fallback: 0 },
    token: ['none', 'sequence'],
    unanswered: ['unlocks-all', 'kept'],
  },
  {
    level: 'whether the lock belongs to the session, until it is unlocked, or to the transaction',
    pooler: 'whether a pooler in transaction mode runs each transaction on any of its connections',
    backends: 'number of connections of that pooler, from 1 to 100',
    peerDeath: 'whether the server detects that a connection ended, or keeps it half open',
    keepaliveMs: 'milliseconds of silence until the server detects a dead half-open connection',
    idleTimeoutMs: 'idle milliseconds after which the server ends a session; 0: never',
    token: 'whether the locking statement also takes a token from a sequence',
    unanswered: 'client behavior if a lock request gets no answer: unlock all, or do nothing',
  },
);

type Chosen = ReturnType<typeof choices.read>;

export const postgres: LockDefinition = {
  about: 'PostgreSQL’s advisory lock, per session or per transaction; no ttl, no token',
  source: 'PostgreSQL documentation, 13.3.5, Advisory Locks; PgBouncer, pooling modes',
  options: choices.infos,
  canRenew: false,
  problem,
  notGuaranteed: ['tokens-unique', 'tokens-increase'],
  build: (world, options) => {
    const chosen = choices.read(options);
    const server = world.addServer({ name: NAME, role: 'lock' }, new PostgresServer(NAME, chosen));
    return () => new PostgresDriver(chosen, server);
  },
};

function problem(options: Options): { option: string; what: string } | null {
  const { peerDeath, keepaliveMs, pooler, backends } = choices.read(options);
  if (peerDeath === 'closes' && keepaliveMs !== KEEPALIVE_MS) {
    return { option: 'keepaliveMs', what: 'keepaliveMs has no effect with peerDeath: closes' };
  }
  if (pooler === 'none' && backends !== BACKENDS) {
    return { option: 'backends', what: 'backends means nothing with pooler: none' };
  }
  return null;
}

type Host = ServerHost<PostgresRequest, PostgresReply>;

/** End of a lock that never expires: a hundred years. */
const NEVER_US = 3_155_760_000_000_000;

class PostgresDriver implements LockDriver {
  private readonly chosen: Pick<Chosen, 'unanswered'>;
  private readonly server: Host;
  private held: { readonly ordinal: number; readonly token: number } | null = null;

  constructor(chosen: Pick<Chosen, 'unanswered'>, server: Host) {
    this.chosen = chosen;
    this.server = server;
  }

  *acquire(at: Section, attempt: number): Program<boolean> {
    const { lock } = at.section;
    if (!at.plan.releases) {
      // Without a ttl, this client would keep the lock. A real program would close its session.
      at.self.log('postgres', `${lock} is not taken, as it would not be given back`);
      return false;
    }
    const label = part('acquire', attempt);
    const call = yield* this.ask(at, label, { verb: 'acquire', kind: 'lock' });
    if (call.state === 'unknown' && this.chosen.unanswered === 'unlocks-all') {
      yield* this.ask(at, `${label}-undo`, { verb: 'release', kind: 'unlock-all' });
    }
    if (call.reply?.kind !== 'granted') return false;
    const { token } = call.reply;
    this.held = { ordinal: call.granted, token };
    at.end = { clock: 'monotonic', us: NEVER_US };
    at.self.enter({ section: at.name, lock, ordinal: call.granted, token, end: at.end });
    return true;
  }

  *release(at: Section): Program<void> {
    yield* this.ask(at, 'release', { verb: 'release', kind: 'unlock' });
    this.held = null;
  }

  token(): number {
    return this.held?.token ?? 0;
  }

  private ask(
    at: Section,
    label: string,
    { verb, kind }: { verb: 'acquire' | 'release'; kind: PostgresRequest['kind'] },
  ): Program<PendingCall<PostgresRequest, PostgresReply>> {
    return request(
      at.self,
      questionOf(at, under(at.name, label), {
        verb,
        target: this.server,
        request: { kind, lock: at.section.lock },
        describe: describePostgresReply,
        tries: 1,
      }),
    );
  }
}
