/**
 * Decides when, and whether, a message arrives. A connection is first in, first out: a late message
 * holds back what follows it, a lost one resets the connection, a partition holds back what is sent
 * until it heals (it is sent again, as TCP does), and it never doubles. A datagram is independent
 * of all others: a partition loses it, and it may be doubled. What is on its way when a partition
 * begins arrives.
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

  /** The same for a message that faults may hit. */
  private sendWithFaults(parcel: Parcel, latencyUs: number): void {
    const { name, isRequest } = parcel;
    const link = { from: parcel.from.name, to: parcel.to.name, nowUs: this.nowUs, isRequest };
    const faults = this.parts.choices.messageFaultsOf(name, link);
    if (faults.length === 0) {
      this.deliver(parcel, latencyUs);
      return;
    }
    const leavesUs = this.cuts.untilUs(parcel, this.nowUs); // as far as is known by now
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

  /** On a connection a reset, of which its calls learn when the message would have arrived. */
  private drop(parcel: Parcel, latencyUs: number): void {
    this.lose(parcel, 'drop');
    if (this.isDatagram) return;
    const name = `${parcel.name.text}/loss`;
    const passengers = parcel.connection.close();
    this.cuts.whenOpen(parcel, this.nowUs, () =>
      this.notify(passengers, 'reset', { name, timeUs: this.nowUs + Math.max(latencyUs, 1) }),
    );
  }

  /** What a partition holds travels from its end on, and in the order in which it was sent. */
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
    connection.leave(passenger);
    const name = `${parcel.name.text}/refusal`;
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

  /** Clients learn that their connection is gone, or that nobody took their request. */
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

/** A caller's open call, as the connection that carries it sees it. */
export interface Passenger {
  /** The connection is gone: no answer will come. */
  reset(): void;
  /** The server was not there to take the request. */
  refuse(): void;
}

/** When a message arrives, and where it stands among the events of that instant. */
interface Arrival {
  timeUs: number;
  tie: number;
}

export class Connection {
  isOpen = true;
  /** Made by its first: most connections of a pool never carry any. */
  private passengers: Set<Passenger> | null = null;
  private readonly lastRequest: Arrival = { timeUs: 0, tie: Number.NEGATIVE_INFINITY };
  private readonly lastReply: Arrival = { timeUs: 0, tie: Number.NEGATIVE_INFINITY };

  /** When a message arrives, never before its predecessor; the next call overwrites the result. */
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

  /** Nothing more is sent on it. Returns the calls that were open. */
  close(): readonly Passenger[] {
    const passengers = this.passengers === null ? [] : [...this.passengers];
    this.passengers = null;
    this.isOpen = false;
    return passengers;
  }
}

/** A set of links that carry nothing, until it heals. */
export interface Cut {
  readonly from: ReadonlySet<string>;
  readonly to: ReadonlySet<string>;
  readonly isBothWays: boolean;
  readonly untilUs: number;
}

/** From one process to another; a message is on such a way. */
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

  /** What no other partition holds leaves now, in the order in which it came. */
  end(cut: Cut, nowUs: number): void {
    this.cuts = this.cuts.filter((other) => other !== cut);
    const { held } = this;
    this.held = held.filter(({ way }) => this.isCut(way, nowUs));
    for (const { way, leave } of held) if (!this.isCut(way, nowUs)) leave();
  }

  /** Calls `leave` now, or at the first instant at which no partition separates the two. */
  whenOpen(way: Way, nowUs: number, leave: () => void): void {
    if (this.isCut(way, nowUs)) this.held = [...this.held, { way, leave }];
    else leave();
  }

  isCut(way: Way, nowUs: number): boolean {
    return this.cuts.length > 0 && this.untilUs(way, nowUs) > nowUs;
  }

  /** When the last partition ends that now separates the two; the present when none does. */
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

/** A message, and what the network asks of the two ends of its call. */
export interface Parcel {
  readonly name: Name;
  readonly from: Process;
  readonly to: Process;
  readonly connection: Connection;
  readonly isRequest: boolean;
  /** The life of `to` for which it was sent: how often that had crashed. */
  readonly life: number;
  readonly body: Json;
  /** The call that waits behind a request; null for a reply. */
  readonly passenger: Passenger | null;
  /** Whether there is still somebody who waits for it. */
  isAwaited(): boolean;
  /** It is handled now, by `to`. */
  arrive(isCopy: boolean): void;
}

/** A message that arrives at an instant, and waits there if its process is paused. */
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
