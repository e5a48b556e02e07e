/**
 * A queue of messages, delivered at least once, as a server of the world. Each asks for one step of
 * one machine. Who receives a message has it for the visibility time-out: until then it is hidden
 * from all others, after that it is delivered again. This is itself a lease, and a worker that
 * stalls past it is not the only one that has the message. Only its last receiver can delete it.
 *
 * A queue may also deliver a message twice of its own accord: the plan says of which it keeps a
 * copy, and for how long that stays behind, so that messages overtake one another as well.
 */
import type { Answer, QueuePlan, Server, Turn } from '../../servers.ts';

/** A message as it travels: the step that it asks for, and what of its machine goes with it. */
export type Message = {
  readonly steps: number;
  /** How often this step was tried before. */
  readonly retries: number;
  /** The place of the back end that the machine uses. */
  readonly backEnd: number;
};

export type QueueRequest =
  | { readonly kind: 'receive'; readonly lock: string }
  | ({ readonly kind: 'send'; readonly lock: string; readonly delayUs: number } & Message)
  | { readonly kind: 'delete'; readonly lock: string; readonly receipt: number };

export type QueueReply =
  | ({ readonly kind: 'message'; readonly receipt: number } & Message)
  | { readonly kind: 'empty' | 'sent' | 'deleted' }
  /** It was delivered again since, or deleted. */
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
  /** On the queue's own monotonic clock. */
  readonly visibleAtUs: number;
  /** Of its last delivery; 0 before the first. */
  readonly receipt: number;
  readonly deliveries: number;
  readonly isCopy: boolean;
}

export class QueueServer implements Server<QueueRequest, QueueReply> {
  private readonly plan: QueuePlan;
  private readonly process: string;
  /** In the order in which they were put in. */
  private messages: readonly Stored[] = [];
  /** Messages of which a copy was kept; only the first of a name has one. */
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

  /** The one that became visible first; of several the one that was put in first. */
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

  /** All of it is durable; a replica that lags delivers again what was deleted since. */
  snapshot(): () => void {
    const { messages, copied, receipts } = this;
    return () => {
      this.messages = messages;
      this.copied = copied;
      this.receipts = receipts;
    };
  }
}
