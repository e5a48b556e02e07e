/**
 * Determines whether and when a message arrives. A connection behaves like TCP: a late message
 * delays the messages behind it, a lost message resets the connection, and a partition holds
 * messages back until it heals. Datagrams are independent of each other: a partition loses them,
 * and they may be duplicated. A message in flight when a partition begins still arrives.
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
  /** One-way latency of connection events (resets and refusals). It is never drawn. */
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

  send(message: Message): void {
    const { choices, recorder } = this.parts;
    const { name, connection, callInTransit } = message;
    const nowUs = this.nowUs;
    const isOnTime = choices.interventions.isOnTime(name);
    recorder.record({
      kind: 'send',
      atUs: nowUs,
      from: message.from.name,
      to: message.to.name,
      message: name.text,
      body: message.body,
    });
    if (callInTransit !== null) connection.enqueue(callInTransit);
    if (this.isDatagram && !isOnTime && this.cuts.isPartitioned(message, nowUs)) {
      this.lose(message, 'partition');
      return;
    }
    const travelUs = choices.latencyUs(name);
    if (choices.mayInject(nowUs)) this.sendWithFaults(message, travelUs);
    else this.deliver(message, travelUs);
  }

  private sendWithFaults(message: Message, latencyUs: number): void {
    const { name, isRequest } = message;
    const link = { from: message.from.name, to: message.to.name, nowUs: this.nowUs, isRequest };
    const { choices } = this.parts;
    const faults = choices.messageFaultsOf(name, link);
    if (faults.length === 0 || choices.interventions.isOnTime(name)) {
      this.deliver(message, latencyUs);
      return;
    }
    const leavesUs = this.cuts.untilUs(message, this.nowUs); // later partitions do not count
    let travelUs = latencyUs;
    let copyAfterUs: number | null = null;
    for (const { fault, index } of faults) {
      if (fault.kind === 'delay') travelUs += fault.byUs;
      else if (fault.kind === 'duplicate') copyAfterUs = fault.byUs;
      this.note(message, { fault, index }, fault.kind === 'delay' ? leavesUs + travelUs : null);
    }
    if (faults.some(({ fault }) => fault.kind === 'drop')) this.drop(message, latencyUs);
    else this.deliver(message, travelUs);
    if (copyAfterUs !== null) {
      const tie = this.parts.choices.tie(name);
      this.schedule(message, { timeUs: this.nowUs + travelUs + copyAfterUs, tie }, true);
    }
  }

  private note(
    message: Message,
    { fault, index }: Injection<MessageFault>,
    untilUs: number | null,
  ): void {
    this.parts.recorder.record({
      kind: 'fault',
      atUs: this.nowUs,
      fault: fault.kind,
      index,
      processes: [message.from.name, message.to.name],
      untilUs,
      target: message.name.text,
      amount: fault.kind === 'drop' ? 0 : fault.byUs,
    });
  }

  /** On a connection, a drop is a reset that callers notice when the message would have arrived. */
  private drop(message: Message, latencyUs: number): void {
    this.lose(message, 'drop');
    if (this.isDatagram) return;
    const name = `${message.name.text}/loss`;
    const callsInTransit = message.connection.close();
    this.cuts.whenOpen(message, this.nowUs, () =>
      this.notify(callsInTransit, 'reset', { name, timeUs: this.nowUs + Math.max(latencyUs, 1) }),
    );
  }

  /** A message that a partition holds back departs when the partition ends, in send order. */
  private deliver(message: Message, travelUs: number): void {
    const isOnTime = this.parts.choices.interventions.isOnTime(message.name);
    if (isOnTime || !this.cuts.isPartitioned(message, this.nowUs)) this.depart(message, travelUs);
    else this.cuts.whenOpen(message, this.nowUs, () => this.depart(message, travelUs));
  }

  private depart(message: Message, travelUs: number): void {
    const arrival = { timeUs: this.nowUs + travelUs, tie: this.parts.choices.tie(message.name) };
    const { connection, isRequest } = message;
    this.schedule(
      message,
      this.isDatagram ? arrival : connection.inOrder(isRequest, arrival),
      false,
    );
  }

  private schedule(message: Message, arrival: Readonly<Arrival>, isCopy: boolean): void {
    this.parts.scheduler.schedule(new Delivery(this, message, arrival, isCopy));
  }

  /** Lets the receiver handle the message, or discards it if nothing waits for it anymore. */
  receive(message: Message, isCopy: boolean): void {
    const { interventions } = this.parts.choices;
    if (!interventions.swapsCalls) this.receiveNow(message, isCopy);
    else interventions.handleInOrder(message.name.text, () => this.receiveNow(message, isCopy));
  }

  private receiveNow(message: Message, isCopy: boolean): void {
    if (!message.isAwaited()) {
      this.lose(message, 'late');
      return;
    }
    this.parts.recorder.record({
      kind: 'receive',
      atUs: this.nowUs,
      from: message.from.name,
      to: message.to.name,
      message: message.name.text,
      isCopy,
    });
    message.arrive(isCopy);
  }

  lose(message: Message, cause: Lose['cause']): void {
    this.parts.recorder.record({
      kind: 'lose',
      atUs: this.nowUs,
      from: message.from.name,
      to: message.to.name,
      message: message.name.text,
      cause,
    });
  }

  /** Returns true if the message reaches the next incarnation of a crashed receiver. */
  outlivesCrash(message: Message): boolean {
    return this.isDatagram && message.isRequest;
  }

  /**
   * Rejects a message to a process that is down. On a connection, a request's sender is notified.
   */
  bounce(message: Message): void {
    this.lose(message, 'crash');
    const { callInTransit, connection } = message;
    if (callInTransit === null || this.isDatagram) return;
    connection.leave(callInTransit);
    const name = `${message.name.text}/refusal`;
    const others = connection.close();
    this.cuts.whenOpen({ from: message.to, to: message.from }, this.nowUs, () => {
      const timeUs = this.nowUs + this.latencyUs;
      this.notify([callInTransit], 'refuse', { name, timeUs });
      this.notify(others, 'reset', { name, timeUs });
    });
  }

  /** False if every message is a datagram. */
  get hasConnections(): boolean {
    return !this.isDatagram;
  }

  /** Closes connections. Requests in flight still arrive; pending calls end immediately. */
  reset(connections: readonly Connection[]): void {
    for (const connection of connections) {
      for (const callInTransit of connection.close()) callInTransit.reset();
    }
  }

  /** Closes connections to a server that went down. The client notices one latency later. */
  tear(
    connections: readonly Connection[],
    { server, client }: { readonly server: string; readonly client: string },
  ): void {
    if (this.isDatagram) return;
    const way = { from: { name: server }, to: { name: client } };
    const name = `${client}/${server}/torn`;
    for (const connection of connections) {
      const callsInTransit = connection.close();
      this.cuts.whenOpen(way, this.nowUs, () =>
        this.notify(callsInTransit, 'reset', { name, timeUs: this.nowUs + this.latencyUs }),
      );
    }
  }

  /** Notifies callers of a lost connection (`reset`) or a refused request (`refuse`). */
  private notify(
    callsInTransit: readonly CallInTransit[],
    news: 'reset' | 'refuse',
    { name, timeUs }: { readonly name: string; readonly timeUs: number },
  ): void {
    if (callsInTransit.length === 0) return;
    this.parts.agenda.at(timeUs, name, () => {
      for (const callInTransit of callsInTransit) callInTransit[news]();
    });
  }

  partition(partition: Partition): void {
    this.cuts.begin(partition);
  }

  heal(partition: Partition): void {
    this.cuts.end(partition, this.nowUs);
  }
}

/** A pending call, as seen by the connection that carries it. */
export interface CallInTransit {
  /** The connection is lost, so no answer can arrive. */
  reset(): void;
  /** The server was down and did not take the request. */
  refuse(): void;
}

/** Arrival time of a message, and its tie-breaker among the events of that instant. */
interface Arrival {
  timeUs: number;
  tie: number;
}

export class Connection {
  isOpen = true;
  /** Created when first needed: most connections of a pool never carry a call. */
  private callsInTransit: Set<CallInTransit> | null = null;
  private readonly lastRequest: Arrival = { timeUs: 0, tie: Number.NEGATIVE_INFINITY };
  private readonly lastReply: Arrival = { timeUs: 0, tie: Number.NEGATIVE_INFINITY };

  /** Delays `arrival` to the last arrival if necessary. The next call overwrites the result. */
  inOrder(isRequest: boolean, arrival: Readonly<Arrival>): Readonly<Arrival> {
    const last = isRequest ? this.lastRequest : this.lastReply;
    last.tie = arrival.timeUs <= last.timeUs ? Math.max(arrival.tie, last.tie) : arrival.tie;
    last.timeUs = Math.max(arrival.timeUs, last.timeUs);
    return last;
  }

  enqueue(callInTransit: CallInTransit): void {
    this.callsInTransit ??= new Set();
    this.callsInTransit.add(callInTransit);
  }

  leave(callInTransit: CallInTransit): void {
    this.callsInTransit?.delete(callInTransit);
  }

  /** Closes the connection. Returns the calls that were pending. */
  close(): readonly CallInTransit[] {
    const callsInTransit = this.callsInTransit === null ? [] : [...this.callsInTransit];
    this.callsInTransit = null;
    this.isOpen = false;
    return callsInTransit;
  }
}

/** A set of links that carry nothing until the partition heals. */
export interface Partition {
  readonly from: ReadonlySet<string>;
  readonly to: ReadonlySet<string>;
  readonly isBothWays: boolean;
  readonly untilUs: number;
}

interface Way {
  readonly from: { readonly name: string };
  readonly to: { readonly name: string };
}

interface Held {
  readonly way: Way;
  readonly leave: () => void;
}

class Cuts {
  private cuts: Partition[] = [];
  private held: readonly Held[] = [];

  begin(partition: Partition): void {
    this.cuts.push(partition);
  }

  /** Ends a partition. Messages that no other partition holds back leave now, in send order. */
  end(partition: Partition, nowUs: number): void {
    this.cuts = this.cuts.filter((other) => other !== partition);
    const { held } = this;
    this.held = held.filter(({ way }) => this.isPartitioned(way, nowUs));
    for (const { way, leave } of held) if (!this.isPartitioned(way, nowUs)) leave();
  }

  /** Calls `leave` now, or as soon as no partition separates the two processes. */
  whenOpen(way: Way, nowUs: number, leave: () => void): void {
    if (this.isPartitioned(way, nowUs)) this.held = [...this.held, { way, leave }];
    else leave();
  }

  isPartitioned(way: Way, nowUs: number): boolean {
    return this.cuts.length > 0 && this.untilUs(way, nowUs) > nowUs;
  }

  /** Returns the latest end of a partition between the two, or `nowUs` if there is none. */
  untilUs({ from, to }: Way, nowUs: number): number {
    let untilUs = nowUs;
    for (const partition of this.cuts) {
      const isHit = partition.from.has(from.name) && partition.to.has(to.name);
      const isHitBack =
        partition.isBothWays && partition.from.has(to.name) && partition.to.has(from.name);
      if (isHit || isHitBack) untilUs = Math.max(untilUs, partition.untilUs);
    }
    return untilUs;
  }
}

/** A message, as the network sees it. */
export interface Message {
  readonly name: Name;
  readonly from: Process;
  readonly to: Process;
  readonly connection: Connection;
  readonly isRequest: boolean;
  /** Number of crashes of `to` before the message was sent. */
  readonly incarnation: number;
  readonly body: Json;
  /** The call that a request belongs to, or null for a reply. */
  readonly callInTransit: CallInTransit | null;
  /** Returns false if the receiver no longer needs the message. */
  isAwaited(): boolean;
  /** Lets `to` handle the message now. */
  arrive(isCopy: boolean): void;
}

/** The arrival of a message. It waits if the receiver is paused. */
class Delivery implements Due, Task {
  readonly name: Name;
  readonly timeUs: number;
  readonly tie: number;
  readonly isCancelled = false;
  seq = 0;
  private readonly network: Network;
  private readonly message: Message;
  private readonly isCopy: boolean;

  constructor(network: Network, message: Message, arrival: Readonly<Arrival>, isCopy: boolean) {
    this.network = network;
    this.message = message;
    this.name = message.name;
    this.timeUs = arrival.timeUs;
    this.tie = arrival.tie;
    this.isCopy = isCopy;
  }

  fire(): void {
    const { message, network } = this;
    const { to } = message;
    if (!to.isUp) network.bounce(message);
    else if (to.crashes !== message.incarnation && !network.outlivesCrash(message))
      network.lose(message, 'crash');
    else if (!message.isRequest && !message.connection.isOpen) network.lose(message, 'reset');
    else to.acceptMessage(this);
  }

  run(): void {
    this.network.receive(this.message, this.isCopy);
  }

  abandon(): void {
    this.network.lose(this.message, 'crash');
  }
}
