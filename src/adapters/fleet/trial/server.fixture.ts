/** What the laws of sweeps on a queue need of a server on which queues are, whichever it is. */

export interface QueueServer {
  /** On loopback. */
  readonly url: string;
  /** What on it has this text in its name or anywhere in it. */
  withText(text: string): Promise<readonly string[]>;
  /** Dies at once and comes back, with what it had kept or without. */
  restart(what: 'with its data' | 'without its data'): Promise<void>;
  end(): Promise<void>;
}
