/**
 * The client's edge of a connection: what a driver writes becomes calls of the world, one for each
 * request, and the answers become bytes again, in the order of the requests. So faults, claims and
 * reports see calls with names, as if there were no driver.
 *
 * A call whose outcome is unknown resets the connection: what it asked for may have happened, and
 * the driver does what it does then.
 */
import type { Json } from '../../core/kernel/json.ts';
import type { Caller } from '../../core/world/port.ts';
import type { Asked, Listener, Remote, Served, Wire, WireSession } from './hosts.ts';

/** Lets clients connect to a server. To open a connection is a call `connect`. */
export function listenerFor<Q extends Json, R extends Json>(served: Served<Q, R>): Listener {
  return async (caller, { id, remote }) => {
    const { port, protocol } = served;
    const asked = await caller.call(port, { label: 'connect', request: protocol.hello });
    if (asked.kind !== 'answered') return asked.kind === 'never' ? 'ECONNREFUSED' : 'ETIMEDOUT';
    return new Connection(caller, { ...served, session: protocol.open(id), remote });
  };
}

interface Ends<Q extends Json, R extends Json> extends Served<Q, R> {
  readonly session: WireSession<Q, R>;
  readonly remote: Remote;
}

type Call<Q extends Json> = Extract<Asked<Q>, { readonly kind: 'call' }>;

class Connection<Q extends Json, R extends Json> implements Wire {
  private readonly caller: Caller;
  private readonly ends: Ends<Q, R>;
  /** The replies that are still to come, in order; null until one is there. */
  private readonly replies: { bytes: string | null }[] = [];
  private isOpen = true;
  private isListening = false;

  constructor(caller: Caller, ends: Ends<Q, R>) {
    this.caller = caller;
    this.ends = ends;
  }

  send(bytes: string): void {
    const { session } = this.ends;
    for (const asked of session.decode(bytes)) {
      const reply: { bytes: string | null } = { bytes: null };
      this.replies.push(reply);
      reply.bytes = asked.reply ?? null;
      if (asked.kind === 'call') void this.ask(asked, reply);
    }
    this.flush();
  }

  private async ask(asked: Call<Q>, reply: { bytes: string | null }): Promise<void> {
    const { label, request } = asked;
    const { port, session, remote } = this.ends;
    const outcome = await this.caller.call(port, { label, request });
    if (!this.isOpen) return;
    if (outcome.kind !== 'answered') {
      this.close();
      remote.close('ECONNRESET');
      return;
    }
    if (asked.reply === undefined) reply.bytes = session.encode(outcome.reply);
    this.flush();
    if (asked.isLast === true) remote.close(null);
    if (session.listening !== null && !this.isListening) void this.listen();
  }

  /** Asks for what the server sends unasked, again and again. */
  private async listen(): Promise<void> {
    const { port, session, remote } = this.ends;
    this.isListening = true;
    while (this.isOpen && session.listening !== null) {
      const request = session.listening;
      const outcome = await this.caller.call(port, { label: 'push', request });
      if (!this.isOpen) break;
      if (outcome.kind !== 'answered') {
        this.close();
        remote.close('ECONNRESET');
        break;
      }
      remote.receive(session.encode(outcome.reply));
    }
    this.isListening = false;
  }

  private flush(): void {
    let bytes = '';
    while (this.replies[0] !== undefined && this.replies[0].bytes !== null) {
      bytes += this.replies.shift()?.bytes ?? '';
    }
    if (bytes !== '') this.ends.remote.receive(bytes);
  }

  close(): void {
    this.isOpen = false;
  }
}
