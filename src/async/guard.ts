/**
 * The marks of a critical section: enter, read, write, leave. With them `grant-order` judges a lock
 * that has no tokens, or hides them: the holders might as well have taken turns, in the order in
 * which the lock was given to them, or, where no server says so, in which they entered.
 */
import {
  describeStoreReply,
  type StoreReply,
  type StoreRequest,
} from '../systems/store/request.ts';
import type { LeaseEnd } from '../world/program.ts';
import type { ServerHost } from '../world/server.ts';
import type { AsyncHost } from './async-host.ts';
import type { AsyncSection, Outcome, Port } from './context.ts';
import { EPOCH_MS, type Life } from './life.ts';

export interface GuardSetting {
  /** The lock; the resource that it guards has the same name. */
  readonly lock: string;
  /** The fencing token to attach to each access; 0, below every token of a grant, if absent. */
  readonly token?: number;
  /**
   * Until when the program takes the lock for its own, by its own `Date`; if absent, until it
   * leaves.
   */
  readonly untilMs?: number;
}

type StoreHost = ServerHost<StoreRequest, StoreReply>;

/** About thirty years: no run lasts so long. */
const FOR_EVER_MS = 1_000_000_000_000;

export class Guard {
  private readonly at: {
    readonly host: AsyncHost;
    readonly life: Life;
    readonly section: AsyncSection;
  };
  private readonly lock: string;
  private readonly token: number;
  private readonly ordinal: number;
  private readonly isOwnGrant: boolean;

  /** Made by `enter` of a section; `given` is the grant that a server said it gave. */
  constructor(
    at: Guard['at'],
    { lock, token = 0, untilMs }: GuardSetting,
    given: { readonly ordinal: number | null; readonly sentAtUs: number },
  ) {
    const { host, life, section } = at;
    this.at = at;
    this.lock = lock;
    this.token = token;
    this.isOwnGrant = given.ordinal === null;
    const endMs = untilMs ?? EPOCH_MS + FOR_EVER_MS;
    const end: LeaseEnd = { clock: 'wall', us: Math.round((endMs - EPOCH_MS) * 1000) };
    if (life.isOver) {
      this.ordinal = 0;
      return;
    }
    const nowUs = host.process.clock.wallUs(host.nowUs);
    const term = { lock, token, ttlUs: Math.max(0, end.us - nowUs), since: given, end };
    this.ordinal = given.ordinal ?? host.ownGrants.grant(term);
    host.belief.enter({ section: section.name, lock, ordinal: this.ordinal, token, end });
  }

  /** Reads a value; the operation is `alice/1/read`. */
  read(store: StoreHost, key: string): Promise<Outcome<StoreReply>> {
    return this.access(store, { kind: 'read', key });
  }

  /** Writes a value; the operation is `alice/1/write`. */
  write(store: StoreHost, key: string, value: number): Promise<Outcome<StoreReply>> {
    return this.access(store, { kind: 'write', key, value });
  }

  private access(
    store: StoreHost,
    ask: { kind: 'read'; key: string } | { kind: 'write'; key: string; value: number },
  ): Promise<Outcome<StoreReply>> {
    const { section } = this.at;
    const { lock: resource, token } = this;
    const request: StoreRequest = { ...ask, resource, token, sequence: section.nextIssue };
    return section.call(storePort(store), { label: ask.kind, request }, { under: this.ordinal });
  }

  /** The program stops counting on its lock; call it before the lock is given back. */
  leave(): void {
    const { host, life } = this.at;
    if (life.isOver) return;
    host.belief.leave();
    if (this.isOwnGrant) host.ownGrants.release({ lock: this.lock, ordinal: this.ordinal });
  }
}

/** A store as a port. */
function storePort(host: StoreHost): Port<StoreRequest, StoreReply> {
  return {
    host,
    describeReply: describeStoreReply,
    describeRequest: (request) => ({
      verb: request.kind,
      store: host.process.name,
      resource: request.resource,
      key: request.key,
      value: request.kind === 'write' ? request.value : null,
      token: request.token,
      adds: null,
    }),
  };
}
