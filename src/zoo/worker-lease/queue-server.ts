/**
 * A queue of messages with at-least-once delivery, as a simulated server. Each message requests one
 * step of one machine. A received message is hidden for the visibility timeout, and then delivered
 * again. This timeout is itself a lease: after it, a stalled worker may not be the only worker with
 * the message. Only the last receiver can delete a message.
 *
 * A queue may also deliver a message twice on its own. The plan lists the copied messages and the
 * delay of each copy, so messages may overtake each other.
 */
import type { Answer, QueuePlan, Server, Turn } from '../../servers.ts';

/** A message: the step that it requests, and the state that it carries for its machine. */
export type Message = {
  readonly steps: number;
  /** Number of earlier tries of this step. */
  readonly retries: number;
  /** Index of the back end that the machine uses. */
  readonly backEnd: number;
};

export type QueueRequest =
  | { readonly kind: 'receive'; readonly lock: string }
  | ({ readonly kind: 'send'; readonly lock: string; readonly delayUs: number } & Message)
  | { readonly kind: 'delete'; readonly lock: string; readonly receipt: number };

export type QueueReply =
  | ({ readonly kind: 'message'; readonly receipt: number } & Message)
  | { readonly kind: 'empty' | 'sent' | 'deleted' }
  /** The message has been delivered again or deleted. */
  | { readonly kind: 'stale' };

export function describeQueueReply(reply: QueueReply): Answer {
  switch (reply.kind) {
    case 'message':
      return { kind: 'value', value: reply.receipt };
    case 'empty':
      return { kind: 'value', value: 0 };
    case 'stale':
      return { kind: 'denied', holder: '' };
    default:
      return { kind: 'accepted' };
  }
}

interface Stored {
  readonly lock: string;
  readonly message: Message;
  /** By the queue's monotonic clock. */
  readonly visibleAtUs: number;
  /** Receipt of its last delivery; 0 before the first. */
  readonly receipt: number;
  readonly deliveries: number;
  readonly isCopy: boolean;
}

export class QueueServer implements Server<QueueRequest, QueueReply> {
  private readonly plan: QueuePlan;
  private readonly process: string;
  /** In order of insertion. */
  private messages: readonly Stored[] = [];
  /** Names of earlier messages; only the first message of a name gets a copy. */
  private copied: ReadonlySet<string> = new Set();
  private receipts = 0;

  constructor(process: string, plan: QueuePlan) {
    this.process = process;
    this.plan = plan;
    for (const { machine, atUs, steps, retries } of plan.messages) {
      this.put(machine, { steps, retries, backEnd: 0 }, atUs);
    }
  }

  handle(request: QueueRequest, turn: Turn): QueueReply {
    switch (request.kind) {
      case 'receive':
        return this.deliver(request.lock, turn);
      case 'send': {
        const { lock, steps, retries, backEnd, delayUs } = request;
        this.put(lock, { steps, retries, backEnd }, turn.monotonicUs + delayUs);
        return { kind: 'sent' };
      }
      case 'delete': {
        const left = this.messages.filter(({ receipt }) => receipt !== request.receipt);
        const isStale = left.length === this.messages.length;
        this.messages = left;
        return { kind: isStale ? 'stale' : 'deleted' };
      }
    }
  }

  private put(lock: string, message: Message, visibleAtUs: number): void {
    const { steps, retries } = message;
    const fresh = (fromUs: number, isCopy: boolean): Stored => ({
      lock,
      message,
      receipt: 0,
      deliveries: 0,
      isCopy,
      visibleAtUs: fromUs,
    });
    this.messages = [...this.messages, fresh(visibleAtUs, false)];
    const name = `${lock}/${steps}/${retries}`;
    if (this.copied.has(name)) return;
    this.copied = new Set([...this.copied, name]);
    for (const copy of this.plan.copies) {
      if (copy.machine !== lock || copy.steps !== steps || copy.retries !== retries) continue;
      this.messages = [...this.messages, fresh(visibleAtUs + copy.afterUs, true)];
    }
  }

  /** Delivers the message that became visible first; among equals, the one inserted first. */
  private deliver(lock: string, turn: Turn): QueueReply {
    let found: Stored | null = null;
    for (const message of this.messages) {
      if (message.lock !== lock || message.visibleAtUs > turn.monotonicUs) continue;
      if (found === null || message.visibleAtUs < found.visibleAtUs) found = message;
    }
    if (found === null) return { kind: 'empty' };
    this.receipts += 1;
    const receipt = this.receipts;
    const deliveries = found.deliveries + 1;
    const visibleAtUs = turn.monotonicUs + this.plan.visibilityUs;
    const { message, isCopy } = found;
    const { steps, retries, backEnd } = message;
    const hidden: Stored = { lock, message, receipt, deliveries, isCopy, visibleAtUs };
    this.messages = this.messages.map((stored) => (stored === found ? hidden : stored));
    turn.observe({
      kind: 'deliver',
      atUs: turn.atUs,
      process: this.process,
      client: turn.client,
      lock,
      steps,
      retries,
      deliveries,
      isCopy,
      untilUs: turn.trueTimeOf('monotonic', visibleAtUs),
    });
    return { kind: 'message', receipt, steps, retries, backEnd };
  }

  /** All state is durable. A lagging replica delivers deleted messages again. */
  snapshot(): () => void {
    const { messages, copied, receipts } = this;
    return () => {
      this.messages = messages;
      this.copied = copied;
      this.receipts = receipts;
    };
  }
}
