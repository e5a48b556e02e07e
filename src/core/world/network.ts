/**
 * Determines when, and whether, a message arrives. A connection is first in, first out: a late
 * message delays the messages behind it, a lost message resets the connection, a partition holds
 * messages back until it heals (retransmission, as in TCP), and no message is duplicated. Datagrams
 * are independent of each other: a partition loses them, and they may be duplicated. A message
 * already in flight when a partition begins still arrives.
 */
import type { Lose } from '../history/events.ts';
import type { Json } from '../kernel/json.ts';
import type { Name } from '../kernel/name.ts';
import type { Due } from '../kernel/queue.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { Agenda } from './agenda.ts';
import type { Choices, Injection, MessageFault } from './choices.ts';
import type { Process, Task } from './process.ts';
import type { Recorder } from './recorder.ts';

interface NetworkParts {
  readonly agenda: Agenda;
  readonly scheduler: Scheduler;
  readonly choices: Choices;
  readonly recorder: Recorder;
}

export class Network {
  private readonly parts: NetworkParts;
  private readonly isDatagram: boolean;
  /** One-way latency of connection events, which are not drawn. */
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
    const { choices, recorder } = this.parts;
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
    if (passenger !== null) connection.board(passenger);
    if (this.isDatagram && this.cuts.isCut(parcel, nowUs)) {
      this.lose(parcel, 'partition');
      return;
    }
    const travelUs = choices.latencyUs(name);
    if (choices.mayInject(nowUs)) this.sendWithFaults(parcel, travelUs);
    else this.deliver(parcel, travelUs);
  }

  /** Sends a message that faults may affect. */
  private sendWithFaults(parcel: Parcel, latencyUs: number): void {
    const { name, isRequest } = parcel;
    const link = { from: parcel.from.name, to: parcel.to.name, nowUs: this.nowUs, isRequest };
    const faults = this.parts.choices.messageFaultsOf(name, link);
    if (faults.length === 0) {
      this.deliver(parcel, latencyUs);
      return;
    }
    const leavesUs = this.cuts.untilUs(parcel, this.nowUs); // as known by now
    let travelUs = latencyUs;
    let copyAfterUs: number | null = null;
    for (const { fault, index } of faults) {
      if (fault.kind === 'delay') travelUs += fault.byUs;
      else if (fault.kind === 'duplicate') copyAfterUs = fault.byUs;
      this.note(parcel, { fault, index }, fault.kind === 'delay' ? leavesUs + travelUs : null);
    }
    if (faults.some(({ fault }) => fault.kind === 'drop')) this.drop(parcel, latencyUs);
    else this.deliver(parcel, travelUs);
    if (copyAfterUs !== null) {
      const tie = this.parts.choices.tie(name);
      this.schedule(parcel, { timeUs: this.nowUs + travelUs + copyAfterUs, tie }, true);
    }
  }

  private note(
    parcel: Parcel,
    { fault, index }: Injection<MessageFault>,
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

  /** Drops a message. On a connection, this is a reset, noticed when it would have arrived. */
  private drop(parcel: Parcel, latencyUs: number): void {
    this.lose(parcel, 'drop');
    if (this.isDatagram) return;
    const name = `${parcel.name.text}/loss`;
    const passengers = parcel.connection.close();
    this.cuts.whenOpen(parcel, this.nowUs, () =>
      this.notify(passengers, 'reset', { name, timeUs: this.nowUs + Math.max(latencyUs, 1) }),
    );
  }

  /** Delivers a message. If a partition holds it back, it departs at the end, in send order. */
  private deliver(parcel: Parcel, travelUs: number): void {
    if (!this.cuts.isCut(parcel, this.nowUs)) this.depart(parcel, travelUs);
    else this.cuts.whenOpen(parcel, this.nowUs, () => this.depart(parcel, travelUs));
  }

  private depart(parcel: Parcel, travelUs: number): void {
    const wish = { timeUs: this.nowUs + travelUs, tie: this.parts.choices.tie(parcel.name) };
    const { connection, isRequest } = parcel;
    this.schedule(parcel, this.isDatagram ? wish : connection.inOrder(isRequest, wish), false);
  }

  private schedule(parcel: Parcel, arrival: Readonly<Arrival>, isCopy: boolean): void {
    this.parts.scheduler.schedule(new Delivery(this, parcel, arrival, isCopy));
  }

  /** Lets the receiver handle the message, or discards it if nothing waits for it anymore. */
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

  /** Returns true if a message reaches the receiver's next incarnation. A connection does not. */
  outlivesCrash(parcel: Parcel): boolean {
    return this.isDatagram && parcel.isRequest;
  }

  /** Rejects a message to a process that is down. A connection notifies the request's sender. */
  bounce(parcel: Parcel): void {
    this.lose(parcel, 'crash');
    const { passenger, connection } = parcel;
    if (passenger === null || this.isDatagram) return;
    connection.leave(passenger);
    const name = `${parcel.name.text}/refusal`;
    const others = connection.close();
    this.cuts.whenOpen({ from: parcel.to, to: parcel.from }, this.nowUs, () => {
      const timeUs = this.nowUs + this.latencyUs;
      this.notify([passenger], 'refuse', { name, timeUs });
      this.notify(others, 'reset', { name, timeUs });
    });
  }

  /** False if every message is a datagram. */
  get hasConnections(): boolean {
    return !this.isDatagram;
  }

  /** Replaces connections. Requests in flight still arrive; pending calls end immediately. */
  reset(connections: readonly Connection[]): void {
    for (const connection of connections) {
      for (const passenger of connection.close()) passenger.reset();
    }
  }

  /** Closes connections to a server that went down. The client notices after a latency. */
  tear(
    connections: readonly Connection[],
    { server, client }: { readonly server: string; readonly client: string },
  ): void {
    if (this.isDatagram) return;
    const way = { from: { name: server }, to: { name: client } };
    const name = `${client}/${server}/torn`;
    for (const connection of connections) {
      const passengers = connection.close();
      this.cuts.whenOpen(way, this.nowUs, () =>
        this.notify(passengers, 'reset', { name, timeUs: this.nowUs + this.latencyUs }),
      );
    }
  }

  /** Notifies callers of a lost connection (`reset`) or a refused request (`refuse`). */
  private notify(
    passengers: readonly Passenger[],
    news: 'reset' | 'refuse',
    { name, timeUs }: { readonly name: string; readonly timeUs: number },
  ): void {
    if (passengers.length === 0) return;
    this.parts.agenda.at(timeUs, name, () => {
      for (const passenger of passengers) passenger[news]();
    });
  }

  cut(cut: Cut): void {
    this.cuts.begin(cut);
  }

  heal(cut: Cut): void {
    this.cuts.end(cut, this.nowUs);
  }
}

/** A pending call, as seen by the connection that carries it. */
export interface Passenger {
  /** The connection is lost, so no answer can arrive. */
  reset(): void;
  /** The server was down and did not take the request. */
  refuse(): void;
}

/** Arrival time of a message, and its tie among the events of that instant. */
interface Arrival {
  timeUs: number;
  tie: number;
}

export class Connection {
  isOpen = true;
  /** Created when first needed: most connections of a pool never carry a call. */
  private passengers: Set<Passenger> | null = null;
  private readonly lastRequest: Arrival = { timeUs: 0, tie: Number.NEGATIVE_INFINITY };
  private readonly lastReply: Arrival = { timeUs: 0, tie: Number.NEGATIVE_INFINITY };

  /** Returns the arrival, never before that of the predecessor. The next call overwrites it. */
  inOrder(isRequest: boolean, wish: Readonly<Arrival>): Readonly<Arrival> {
    const last = isRequest ? this.lastRequest : this.lastReply;
    last.tie = wish.timeUs <= last.timeUs ? Math.max(wish.tie, last.tie) : wish.tie;
    last.timeUs = Math.max(wish.timeUs, last.timeUs);
    return last;
  }

  board(passenger: Passenger): void {
    this.passengers ??= new Set();
    this.passengers.add(passenger);
  }

  leave(passenger: Passenger): void {
    this.passengers?.delete(passenger);
  }

  /** Closes the connection. Returns the calls that were pending. */
  close(): readonly Passenger[] {
    const passengers = this.passengers === null ? [] : [...this.passengers];
    this.passengers = null;
    this.isOpen = false;
    return passengers;
  }
}

/** A set of links that carry nothing until it heals. */
export interface Cut {
  readonly from: ReadonlySet<string>;
  readonly to: ReadonlySet<string>;
  readonly isBothWays: boolean;
  readonly untilUs: number;
}

/** A direction between two processes; each message travels in one. */
interface Way {
  readonly from: { readonly name: string };
  readonly to: { readonly name: string };
}

interface Held {
  readonly way: Way;
  readonly leave: () => void;
}

class Cuts {
  private cuts: Cut[] = [];
  private held: readonly Held[] = [];

  begin(cut: Cut): void {
    this.cuts.push(cut);
  }

  /** Ends a partition. Messages that no other partition holds back leave now, in send order. */
  end(cut: Cut, nowUs: number): void {
    this.cuts = this.cuts.filter((other) => other !== cut);
    const { held } = this;
    this.held = held.filter(({ way }) => this.isCut(way, nowUs));
    for (const { way, leave } of held) if (!this.isCut(way, nowUs)) leave();
  }

  /** Calls `leave` as soon as no partition separates the two processes: now, if there is none. */
  whenOpen(way: Way, nowUs: number, leave: () => void): void {
    if (this.isCut(way, nowUs)) this.held = [...this.held, { way, leave }];
    else leave();
  }

  isCut(way: Way, nowUs: number): boolean {
    return this.cuts.length > 0 && this.untilUs(way, nowUs) > nowUs;
  }

  /** Returns the end of the last partition that now separates the two, or `nowUs` if none. */
  untilUs({ from, to }: Way, nowUs: number): number {
    let untilUs = nowUs;
    for (const cut of this.cuts) {
      const isHit = cut.from.has(from.name) && cut.to.has(to.name);
      const isHitBack = cut.isBothWays && cut.from.has(to.name) && cut.to.has(from.name);
      if (isHit || isHitBack) untilUs = Math.max(untilUs, cut.untilUs);
    }
    return untilUs;
  }
}

/** A message, and what the network needs to know of both ends of its call. */
export interface Parcel {
  readonly name: Name;
  readonly from: Process;
  readonly to: Process;
  readonly connection: Connection;
  readonly isRequest: boolean;
  /** The incarnation of `to` that it was sent to: the number of crashes of `to` before. */
  readonly life: number;
  readonly body: Json;
  /** The call that a request belongs to, or null for a reply. */
  readonly passenger: Passenger | null;
  /** Returns false if the receiver no longer needs the message. */
  isAwaited(): boolean;
  /** Lets `to` handle the message now. */
  arrive(isCopy: boolean): void;
}

/** The arrival of a message at an instant; it waits if the receiver is paused. */
class Delivery implements Due, Task {
  readonly name: Name;
  readonly timeUs: number;
  readonly tie: number;
  readonly isCancelled = false;
  seq = 0;
  private readonly network: Network;
  private readonly parcel: Parcel;
  private readonly isCopy: boolean;

  constructor(network: Network, parcel: Parcel, arrival: Readonly<Arrival>, isCopy: boolean) {
    this.network = network;
    this.parcel = parcel;
    this.name = parcel.name;
    this.timeUs = arrival.timeUs;
    this.tie = arrival.tie;
    this.isCopy = isCopy;
  }

  fire(): void {
    const { parcel, network } = this;
    const { to } = parcel;
    if (!to.isUp) network.bounce(parcel);
    else if (to.crashes !== parcel.life && !network.outlivesCrash(parcel))
      network.lose(parcel, 'crash');
    else if (!parcel.isRequest && !parcel.connection.isOpen) network.lose(parcel, 'reset');
    else to.acceptMessage(this);
  }

  run(): void {
    this.network.receive(this.parcel, this.isCopy);
  }

  abandon(): void {
    this.network.lose(this.parcel, 'crash');
  }
}
