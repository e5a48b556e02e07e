/**
 * The client's end of a connection. Turns the bytes of each request into a call of the world. Turns
 * the answers back into bytes, in the order of the requests. Faults, claims and reports therefore
 * see named calls, as if there were no driver.
 *
 * A call with an unknown outcome resets the connection: the request may have been executed, and the
 * driver reacts as it would in production.
 */
import type { Json } from '../../core/kernel/json.ts';
import type { Caller } from '../../core/world/port.ts';
import { inNoSection } from '../async/section-context.ts';
import { isRedis } from '../redis/resp.ts';
import type { Asked, Listener, Remote, Served, Wire, WireSession } from './hosts.ts';
import { isUnderstood, NotUnderstood } from './other-protocols.ts';

/** Returns a listener for a server. A client connects by the call `connect`. */
export function listenerFor<Q extends Json, R extends Json>(served: Served<Q, R>): Listener {
  return async (caller, { id, remote }) => {
    const { port, protocol } = served;
    const asked = await caller.call(port, { label: 'connect', request: protocol.hello });
    if (asked.kind !== 'answered') return asked.kind === 'never' ? 'ECONNREFUSED' : 'ETIMEDOUT';
    return new Connection(caller, { ...served, session: protocol.open(id), remote });
  };
}

/** Accepts connections to addresses without a server, until the first bytes show the protocol. */
export const listensNowhere: Listener = async () => {
  let opening = '';
  const send = (bytes: string): void => {
    opening += bytes;
    const isRight = isUnderstood(opening, (begun) => isRedis(begun, () => true));
    if (isRight) throw new NotUnderstood(opening, 'Redis');
  };
  return { send, close: () => {}, isUnderstood: false };
};

interface Ends<Q extends Json, R extends Json> extends Served<Q, R> {
  readonly session: WireSession<Q, R>;
  readonly remote: Remote;
}

type Call<Q extends Json, R extends Json> = Extract<Asked<Q, R>, { readonly kind: 'call' }>;

/** Null until the reply arrives. */
interface Place<R extends Json> {
  reply: R | null;
}

class Connection<Q extends Json, R extends Json> implements Wire {
  private readonly caller: Caller;
  private readonly ends: Ends<Q, R>;
  /** Outstanding replies, in order. */
  private readonly places: Place<R>[] = [];
  /** The first bytes from the client, until they form a request. */
  private opening = '';
  isUnderstood = false;
  private isOpen = true;
  private isListening = false;

  constructor(caller: Caller, ends: Ends<Q, R>) {
    this.caller = caller;
    this.ends = ends;
  }

  send(bytes: string): void {
    const all = this.requestsIn(bytes);
    for (const asked of all) {
      const place: Place<R> = { reply: asked.reply ?? null };
      this.places.push(place);
      if (asked.kind === 'call') void this.ask(asked, place, all.length > 1);
    }
    this.flush();
  }

  private requestsIn(bytes: string): readonly Asked<Q, R>[] {
    const { session, protocol } = this.ends;
    if (this.isUnderstood) return session.decode(bytes);
    this.opening += bytes;
    this.isUnderstood = isUnderstood(this.opening, (begun) => protocol.speaks(begun));
    return this.isUnderstood ? session.decode(this.opening) : [];
  }

  private async ask(asked: Call<Q, R>, place: Place<R>, isBatched: boolean): Promise<void> {
    const { label, request } = asked;
    const { port, session, remote } = this.ends;
    const outcome = await this.caller.call(port, { label, request }, { isBatched });
    if (!this.isOpen) return;
    if (outcome.kind !== 'answered') {
      this.reset();
      return;
    }
    place.reply ??= outcome.reply;
    this.flush();
    if (asked.isLast === true) remote.close(null);
    if (session.listening !== null && !this.isListening) void this.listen();
  }

  /** Asks the server for pushed messages until the connection closes or the client expects none. */
  private async listen(): Promise<void> {
    const { port, session, remote } = this.ends;
    this.isListening = true;
    while (this.isOpen && session.listening !== null) {
      const ask = { label: 'push', request: session.listening };
      const outcome = await this.caller.call(port, ask, { outlivesSection: true });
      if (!this.isOpen) break;
      if (outcome.kind !== 'answered') {
        this.reset();
        break;
      }
      const bytes = session.encode(outcome.reply);
      if (bytes === '') break;
      remote.receive(bytes);
    }
    this.isListening = false;
  }

  private flush(): void {
    let bytes = '';
    for (;;) {
      const reply = this.places[0]?.reply ?? null;
      if (reply === null) break;
      this.places.shift();
      bytes += this.ends.session.encode(reply);
    }
    if (bytes !== '') inNoSection(() => this.ends.remote.receive(bytes));
  }

  /** Closes the connection because the outcome of a call is unknown. */
  private reset(): void {
    this.close();
    inNoSection(() => this.ends.remote.close('ECONNRESET'));
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    const { port, session } = this.ends;
    const request = session.farewell;
    if (request === null) return;
    void this.caller.call(port, { label: 'close', request }, { outlivesSection: true });
  }
}
