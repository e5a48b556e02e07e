/**
 * What the network puts into the queue: the arrival of a message, and the news that none will come.
 */
import type { Json } from '../kernel/json.ts';
import type { Name } from '../kernel/name.ts';
import type { Due } from '../kernel/queue.ts';
import type { Arrival, Connection, Passenger } from './connection.ts';
import type { Network } from './network.ts';
import type { Process, Task } from './process.ts';

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
export class Delivery implements Due, Task {
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

/**
 * The instant at which a client learns that its connection is gone, or that nobody took its
 * request.
 */
export class Notice implements Due {
  readonly name: Name;
  readonly timeUs: number;
  readonly tie: number;
  readonly isCancelled = false;
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
