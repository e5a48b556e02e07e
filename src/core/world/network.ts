/**
 * Decides when, and whether, a message arrives. A connection is first in, first out: a late message
 * holds back what follows it, a lost one resets the connection, a partition holds back what is sent
 * until it heals (it is sent again, as TCP does), and it never doubles. A datagram is independent
 * of all others: a partition loses it, and it may be doubled. What is on its way when a partition
 * begins arrives.
 */

import type { Lose } from '../history/trace.ts';
import { type Name, under } from '../kernel/name.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { Arrival, Connection, Passenger } from './connection.ts';
import { type Cut, Cuts } from './cuts.ts';
import type { Decider, MessageFault, Struck } from './decider.ts';
import { Delivery, Notice, type Parcel } from './delivery.ts';
import type { Recorder } from './recorder.ts';

export interface NetworkParts {
  readonly scheduler: Scheduler;
  readonly decider: Decider;
  readonly recorder: Recorder;
}

export class Network {
  private readonly parts: NetworkParts;
  private readonly isDatagram: boolean;
  /** One way, of news that nobody draws a latency for. */
  private readonly latencyUs: number;
  private readonly cuts: Cuts = new Cuts();

  constructor(parts: NetworkParts, link: { isDatagram: boolean; latencyUs: number }) {
    this.parts = parts;
    this.isDatagram = link.isDatagram;
    this.latencyUs = link.latencyUs;
  }

  private get nowUs(): number {
    return this.parts.scheduler.nowUs;
  }

  send(parcel: Parcel): void {
    const { decider, recorder } = this.parts;
    const { name, connection, passenger } = parcel;
    const nowUs = this.nowUs;
    recorder.record({
      kind: 'send',
      atUs: nowUs,
      from: parcel.from.name,
      to: parcel.to.name,
      message: name.text,
      body: parcel.body,
    });
    if (passenger !== null) connection.passengers.add(passenger);
    if (this.isDatagram && this.cuts.isCut(parcel, nowUs)) {
      this.lose(parcel, 'partition');
      return;
    }
    const travelUs = decider.latencyUs(name);
    if (decider.mayStrike(nowUs)) this.sendStruck(parcel, travelUs);
    else this.deliver(parcel, travelUs);
  }

  /** The same for a message that faults may strike. */
  private sendStruck(parcel: Parcel, latencyUs: number): void {
    const { name, isRequest } = parcel;
    const link = { from: parcel.from.name, to: parcel.to.name, nowUs: this.nowUs, isRequest };
    const struck = this.parts.decider.messageFaultsOf(name, link);
    if (struck.length === 0) {
      this.deliver(parcel, latencyUs);
      return;
    }
    const leavesUs = this.cuts.untilUs(parcel, this.nowUs); // as far as is known by now
    let travelUs = latencyUs;
    let copyAfterUs: number | null = null;
    for (const { fault, index } of struck) {
      if (fault.kind === 'delay') travelUs += fault.byUs;
      else if (fault.kind === 'duplicate') copyAfterUs = fault.byUs;
      this.note(parcel, { fault, index }, fault.kind === 'delay' ? leavesUs + travelUs : null);
    }
    if (struck.some(({ fault }) => fault.kind === 'drop')) this.drop(parcel, latencyUs);
    else this.deliver(parcel, travelUs);
    if (copyAfterUs !== null) {
      const tie = this.parts.decider.tie(name);
      this.schedule(parcel, { timeUs: this.nowUs + travelUs + copyAfterUs, tie }, true);
    }
  }

  private note(
    parcel: Parcel,
    { fault, index }: Struck<MessageFault>,
    untilUs: number | null,
  ): void {
    this.parts.recorder.record({
      kind: 'fault',
      atUs: this.nowUs,
      fault: fault.kind,
      index,
      processes: [parcel.from.name, parcel.to.name],
      untilUs,
      target: parcel.name.text,
      amount: fault.kind === 'drop' ? 0 : fault.byUs,
    });
  }

  /**
   * On a connection that is a reset, of which its calls learn when the message would have arrived.
   */
  private drop(parcel: Parcel, latencyUs: number): void {
    this.lose(parcel, 'drop');
    if (this.isDatagram) return;
    const name = under(parcel.name, 'loss');
    const passengers = parcel.connection.close();
    this.cuts.whenOpen(parcel, this.nowUs, () =>
      this.notify(passengers, 'reset', { name, timeUs: this.nowUs + Math.max(latencyUs, 1) }),
    );
  }

  /** What a partition holds travels from its end on, and in the order in which it was sent. */
  private deliver(parcel: Parcel, travelUs: number): void {
    this.cuts.whenOpen(parcel, this.nowUs, () => {
      const wish = { timeUs: this.nowUs + travelUs, tie: this.parts.decider.tie(parcel.name) };
      const { connection, isRequest } = parcel;
      this.schedule(parcel, this.isDatagram ? wish : connection.inOrder(isRequest, wish), false);
    });
  }

  private schedule(parcel: Parcel, arrival: Readonly<Arrival>, isCopy: boolean): void {
    this.parts.scheduler.schedule(new Delivery(this, parcel, arrival, isCopy));
  }

  /** The parcel's process handles it, or discards it because nobody waits for it any more. */
  receive(parcel: Parcel, isCopy: boolean): void {
    if (!parcel.isAwaited()) {
      this.lose(parcel, 'late');
      return;
    }
    this.parts.recorder.record({
      kind: 'receive',
      atUs: this.nowUs,
      from: parcel.from.name,
      to: parcel.to.name,
      message: parcel.name.text,
      isCopy,
    });
    parcel.arrive(isCopy);
  }

  lose(parcel: Parcel, cause: Lose['cause']): void {
    this.parts.recorder.record({
      kind: 'lose',
      atUs: this.nowUs,
      from: parcel.from.name,
      to: parcel.to.name,
      message: parcel.name.text,
      cause,
    });
  }

  /** Whether a message reaches the next life of its receiver: a connection ends with the life. */
  outlivesCrash(parcel: Parcel): boolean {
    return this.isDatagram && parcel.isRequest;
  }

  /** Nobody is there to take it: on a connection the sender of a request is told so. */
  bounce(parcel: Parcel): void {
    this.lose(parcel, 'crash');
    const { passenger, connection } = parcel;
    if (passenger === null || this.isDatagram) return;
    connection.passengers.delete(passenger);
    const name = under(parcel.name, 'refusal');
    const others = connection.close();
    this.cuts.whenOpen({ from: parcel.to, to: parcel.from }, this.nowUs, () => {
      const timeUs = this.nowUs + this.latencyUs;
      this.notify([passenger], 'refuse', { name, timeUs });
      this.notify(others, 'reset', { name, timeUs });
    });
  }

  /** False where every message is a datagram of its own. */
  get hasConnections(): boolean {
    return !this.isDatagram;
  }

  /** Replaces connections: what they carry still arrives, and their calls end at once. */
  reset(connections: readonly Connection[]): void {
    for (const connection of connections) {
      for (const passenger of connection.close()) passenger.reset();
    }
  }

  /** Ends open connections to a server that went away; the client learns of it from afar. */
  tear(
    connections: readonly Connection[],
    ends: { server: string; client: string; name: Name },
  ): void {
    if (this.isDatagram) return;
    const way = { from: { name: ends.server }, to: { name: ends.client } };
    for (const connection of connections) {
      const passengers = connection.close();
      this.cuts.whenOpen(way, this.nowUs, () =>
        this.notify(passengers, 'reset', { name: ends.name, timeUs: this.nowUs + this.latencyUs }),
      );
    }
  }

  private notify(
    passengers: readonly Passenger[],
    news: 'reset' | 'refuse',
    event: { name: Name; timeUs: number },
  ): void {
    if (passengers.length === 0) return;
    const { name, timeUs } = event;
    const { decider, scheduler } = this.parts;
    scheduler.schedule(new Notice({ name, timeUs, tie: decider.tie(name) }, passengers, news));
  }

  cut(cut: Cut): void {
    this.cuts.begin(cut);
  }

  heal(cut: Cut): void {
    this.cuts.end(cut, this.nowUs);
  }
}
