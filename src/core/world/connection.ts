/**
 * One connection between a client and a server: what is still open on it, and its order each way.
 */

/** A caller's open call, as the connection that carries it sees it. */
export interface Passenger {
  /** The connection is gone: no answer will come. */
  reset(): void;
  /** The server was not there to take the request. */
  refuse(): void;
}

/** When a message arrives, and where it stands among the events of that instant. */
export interface Arrival {
  timeUs: number;
  tie: number;
}

export class Connection {
  isOpen = true;
  readonly passengers: Set<Passenger> = new Set();
  private readonly lastRequest: Arrival = { timeUs: 0, tie: Number.NEGATIVE_INFINITY };
  private readonly lastReply: Arrival = { timeUs: 0, tie: Number.NEGATIVE_INFINITY };

  /**
   * Where a message arrives that would arrive at `wish`: never before the one sent ahead of it. The
   * result is overwritten by the next call.
   */
  inOrder(isRequest: boolean, wish: Readonly<Arrival>): Readonly<Arrival> {
    const last = isRequest ? this.lastRequest : this.lastReply;
    last.tie = wish.timeUs <= last.timeUs ? Math.max(wish.tie, last.tie) : wish.tie;
    last.timeUs = Math.max(wish.timeUs, last.timeUs);
    return last;
  }

  /** Nothing more is sent on it. Returns the calls that were open. */
  close(): readonly Passenger[] {
    const passengers = [...this.passengers];
    this.passengers.clear();
    this.isOpen = false;
    return passengers;
  }
}
