/**
 * Decides when, and whether, a message arrives. A connection is first in, first out: a late message
 * holds back what follows it, a lost one resets the connection, a partition holds messages back until
 * it heals (they are sent again, as TCP does), and it never doubles. A datagram is independent of all
 * others: a partition loses it, and it may be doubled.
 */
import { type Name, under } from '../kernel/name.ts';
import type { Due } from '../kernel/queue.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { Json } from '../kernel/json.ts';
import type { Lose } from '../history/trace.ts';
import type { Decider } from './decider.ts';
import type { Process, Task } from './process.ts';
import type { Recorder } from './recorder.ts';

/** What the network asks of the two ends of a call. */
export interface Parcel {
  readonly name: Name;
  readonly from: Process;
  readonly to: Process;
  readonly connection: Connection;
  readonly isRequest: boolean;
  readonly body: Json;
  /** The call that waits behind a request; null for a reply. */
  readonly passenger: Passenger | null;
  /** It is handled now, by `to`. */
  arrive(isCopy: boolean): void;
}

/** A caller's open call, as the connection that carries it sees it. */
export interface Passenger {
  /** The connection is gone: no answer will come. */
  reset(): void;
  /** The server was not there to take the request. */
  refuse(): void;
}

/** One connection's state: what is still open on it, and when its last message arrives, each way. */
export class Connection {
  isOpen = true;
  readonly passengers: Set<Passenger> = new Set();
  readonly last: { request: Arrival; reply: Arrival } = {
    request: { timeUs: 0, tie: Number.NEGATIVE_INFINITY },
    reply: { timeUs: 0, tie: Number.NEGATIVE_INFINITY },
  };
}

interface Arrival {
  timeUs: number;
  tie: number;
}

/** A set of links that carry nothing, until it heals. */
export interface Cut {
  readonly from: ReadonlySet<string>;
  readonly to: ReadonlySet<string>;
  readonly isBothWays: boolean;
  readonly untilUs: number;
}

/** A message that arrives at an instant, and waits there if its process is paused. */
class Delivery implements Due, Task {
  readonly name: Name;
  readonly timeUs: number;
  readonly tie: number;
  seq = 0;
  readonly parcel: Parcel;
  private readonly isCopy: boolean;
  private readonly network: Network;

  constructor(network: Network, parcel: Parcel, arrival: Arrival, isCopy: boolean) {
    this.network = network;
    this.parcel = parcel;
    this.name = parcel.name;
    this.timeUs = arrival.timeUs;
    this.tie = arrival.tie;
    this.isCopy = isCopy;
  }

  fire(): void {
    const { parcel } = this;
    const isStale = !parcel.isRequest && !parcel.connection.isOpen;
    if (isStale) this.network.lose(parcel, 'reset');
    else if (!parcel.to.isUp) this.network.bounce(parcel);
    else parcel.to.acceptMessage(this);
  }

  run(): void {
    this.network.receive(this.parcel, this.isCopy);
  }

  abandon(): void {
    this.network.lose(this.parcel, 'crash');
  }
}

/** The instant at which a client learns that its connection is gone. */
class Notice implements Due {
  readonly name: Name;
  readonly timeUs: number;
  readonly tie: number;
  seq = 0;
  private readonly passengers: readonly Passenger[];
  private readonly news: 'reset' | 'refuse';

  constructor(
    event: { name: Name; timeUs: number; tie: number },
    passengers: readonly Passenger[],
    news: 'reset' | 'refuse',
  ) {
    this.name = event.name;
    this.timeUs = event.timeUs;
    this.tie = event.tie;
    this.passengers = passengers;
    this.news = news;
  }

  fire(): void {
    for (const passenger of this.passengers) {
      if (this.news === 'reset') passenger.reset();
      else passenger.refuse();
    }
  }
}

export class Network {
  private readonly scheduler: Scheduler;
  private readonly decider: Decider;
  private readonly recorder: Recorder;
  private readonly isDatagram: boolean;
  /** One way, of messages that nobody draws a latency for. */
  readonly baseLatencyUs: number;
  private cuts: Cut[] = [];

  constructor(
    parts: { scheduler: Scheduler; decider: Decider; recorder: Recorder },
    link: { isDatagram: boolean; latencyUs: number },
  ) {
    this.scheduler = parts.scheduler;
    this.decider = parts.decider;
    this.recorder = parts.recorder;
    this.isDatagram = link.isDatagram;
    this.baseLatencyUs = link.latencyUs;
  }

  send(parcel: Parcel): void {
    const nowUs = this.scheduler.nowUs;
    const { name, from, to, connection, isRequest, body, passenger } = parcel;
    const ends = { from: from.name, to: to.name };
    this.recorder.record({ kind: 'send', atUs: nowUs, ...ends, message: name.text, body });
    if (passenger !== null) connection.passengers.add(passenger);
    let lateUs = this.decider.latencyUs(name);
    let copyAfterUs: number | null = null;
    let isLost = false;
    for (const { fault, index } of this.decider.messageFaultsOf(name, {
      ...ends,
      nowUs,
      isRequest,
    })) {
      const { kind } = fault;
      const amount = kind === 'drop' ? 0 : fault.byUs;
      if (kind === 'duplicate' && !this.isDatagram) continue;
      this.recorder.record({
        kind: 'fault',
        atUs: nowUs,
        fault: kind,
        index,
        processes: [ends.from, ends.to],
        untilUs: kind === 'delay' ? nowUs + lateUs + amount : null,
        target: name.text,
        amount,
      });
      if (kind === 'delay') lateUs += amount;
      else if (kind === 'drop') isLost = true;
      else copyAfterUs = amount;
    }
    this.dispatch(parcel, { arrivesUs: nowUs + lateUs, isLost, copyAfterUs });
  }

  private dispatch(
    parcel: Parcel,
    fate: { arrivesUs: number; isLost: boolean; copyAfterUs: number | null },
  ): void {
    const nowUs = this.scheduler.nowUs;
    const heldUntilUs = this.cutUntilUs(parcel.from.name, parcel.to.name);
    if (fate.isLost) {
      this.lose(parcel, 'drop');
      if (!this.isDatagram) this.reset(parcel.connection, under(parcel.name, 'loss'), Math.max(fate.arrivesUs - nowUs, 1));
      return;
    }
    if (this.isDatagram) {
      if (heldUntilUs > nowUs) {
        this.lose(parcel, 'partition');
        return;
      }
      const tie = this.decider.tie(parcel.name);
      this.deliver(parcel, { timeUs: fate.arrivesUs, tie }, false);
      if (fate.copyAfterUs !== null) {
        this.deliver(parcel, { timeUs: fate.arrivesUs + fate.copyAfterUs, tie }, true);
      }
      return;
    }
    const arrivesUs = fate.arrivesUs + Math.max(heldUntilUs - nowUs, 0);
    this.deliver(parcel, this.inOrder(parcel, arrivesUs), false);
  }

  /** Where a message of a connection arrives: never before the one sent ahead of it. */
  private inOrder(parcel: Parcel, arrivesUs: number): Arrival {
    const last = parcel.isRequest ? parcel.connection.last.request : parcel.connection.last.reply;
    const tie = this.decider.tie(parcel.name);
    const isBehind = arrivesUs <= last.timeUs;
    last.tie = isBehind ? Math.max(tie, last.tie) : tie;
    last.timeUs = Math.max(arrivesUs, last.timeUs);
    return last;
  }

  private deliver(parcel: Parcel, arrival: Arrival, isCopy: boolean): void {
    this.scheduler.schedule(new Delivery(this, parcel, arrival, isCopy));
  }

  /** The parcel's process handles it. */
  receive(parcel: Parcel, isCopy: boolean): void {
    this.recorder.record({
      kind: 'receive',
      atUs: this.scheduler.nowUs,
      from: parcel.from.name,
      to: parcel.to.name,
      message: parcel.name.text,
      isCopy,
    });
    parcel.arrive(isCopy);
  }

  lose(parcel: Parcel, cause: Lose['cause']): void {
    this.recorder.record({
      kind: 'lose',
      atUs: this.scheduler.nowUs,
      from: parcel.from.name,
      to: parcel.to.name,
      message: parcel.name.text,
      cause,
    });
  }

  /** Nobody is there to take it: on a connection the sender of a request is told so. */
  bounce(parcel: Parcel): void {
    this.lose(parcel, 'crash');
    if (parcel.passenger === null || this.isDatagram) return;
    parcel.connection.passengers.delete(parcel.passenger);
    const name = under(parcel.name, 'refusal');
    this.notify([parcel.passenger], 'refuse', { name, inUs: this.baseLatencyUs });
    this.reset(parcel.connection, name, this.baseLatencyUs);
  }

  /** Replaces a connection: what it carries still arrives, its open calls learn of it after `inUs`. */
  reset(connection: Connection, name: Name, inUs: number): void {
    const passengers = [...connection.passengers];
    this.close(connection);
    if (inUs > 0) this.notify(passengers, 'reset', { name, inUs });
    else for (const passenger of passengers) passenger.reset();
  }

  private close(connection: Connection): void {
    connection.isOpen = false;
    connection.passengers.clear();
  }

  private notify(
    passengers: readonly Passenger[],
    news: 'reset' | 'refuse',
    event: { name: Name; inUs: number },
  ): void {
    if (passengers.length === 0) return;
    const { name } = event;
    const timeUs = this.scheduler.nowUs + event.inUs;
    const tie = this.decider.tie(name);
    this.scheduler.schedule(new Notice({ name, timeUs, tie }, passengers, news));
  }

  cut(cut: Cut): void {
    this.cuts.push(cut);
  }

  heal(cut: Cut): void {
    this.cuts = this.cuts.filter((other) => other !== cut);
  }

  /** When the last partition ends that now separates two processes; the present when none does. */
  private cutUntilUs(from: string, to: string): number {
    let untilUs = this.scheduler.nowUs;
    for (const cut of this.cuts) {
      const isHit = cut.from.has(from) && cut.to.has(to);
      const isHitBack = cut.isBothWays && cut.from.has(to) && cut.to.has(from);
      if (isHit || isHitBack) untilUs = Math.max(untilUs, cut.untilUs);
    }
    return untilUs;
  }
}
