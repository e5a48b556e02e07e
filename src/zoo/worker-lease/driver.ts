/**
 * A worker, as the driver of its client. Without a queue, each section dispatches the step of its
 * first job. With a queue, each section receives a message, dispatches it (see `dispatch.ts`), and
 * deletes it after the lease has been released. Before the release, the worker sends the machine's
 * next step if all work succeeded. Otherwise it sends the same step as a retry. A message that is
 * not deleted is delivered again.
 */
import {
  type LockDriver,
  type Program,
  part,
  type QueuePlan,
  questionOf,
  request,
  type Section,
  type ServerHost,
  under,
  type Work,
} from '../../servers.ts';
import { Dispatch, type DispatchManner, type LeaseBackEnd, type Machine } from './dispatch.ts';
import type { JobGuard } from './job-guard.ts';
import type { Delivery } from './lease-rules.ts';
import type { Message, QueueReply, QueueRequest } from './queue-server.ts';
import { describeQueueReply } from './queue-server.ts';

type JobStep = Extract<Work, { readonly kind: 'job' }>;

interface WorkerParts {
  /** The primary, and the secondary if there is one. */
  readonly backEnds: readonly LeaseBackEnd[];
  readonly guard: JobGuard | null;
  readonly manner: DispatchManner;
}

interface QueueParts {
  readonly server: ServerHost<QueueRequest, QueueReply>;
  readonly plan: QueuePlan;
}

/** A message that a worker has received and not deleted. */
interface Received {
  readonly lock: string;
  readonly delivery: Delivery;
  readonly receipt: number;
  readonly machine: Machine;
  readonly queue: QueueParts;
  /** True if the message's successor is in the queue, or if there is none. */
  isSettled: boolean;
}

export class WorkerDriver implements LockDriver {
  private readonly dispatch: Dispatch;
  private readonly guard: JobGuard | null;
  private readonly queue: QueueParts | null;
  /** The machines by lock, if messages do not come from a queue. */
  private readonly machines: Map<string, Machine> = new Map();
  private lock = '';
  private received: Received | null = null;

  constructor({ backEnds, guard, manner }: WorkerParts, queue: QueueParts | null) {
    this.dispatch = new Dispatch(backEnds, manner);
    this.guard = guard;
    this.queue = queue;
  }

  *acquire(at: Section, attempt: number): Program<boolean | 'given up'> {
    this.lock = at.section.lock;
    if (this.queue !== null) return yield* this.receive(at, attempt, this.queue);
    const job = at.section.work.find((step) => step.kind === 'job');
    const machine = this.machines.get(this.lock) ?? { backEnd: 0 };
    this.machines.set(this.lock, machine);
    // Each attempt counts as one more retry of the message.
    const delivery = { steps: job?.tick ?? 0, retries: (job?.retries ?? 0) + attempt - 1 };
    const isLast = attempt >= at.plan.attempts;
    const leaseAttempt = { machine, delivery, number: attempt, isLast };
    return yield* this.dispatch.take(at, leaseAttempt, noRetry);
  }

  /** A further attempt only polls the queue again; the queue retries failed messages. */
  private *receive(at: Section, attempt: number, queue: QueueParts): Program<boolean | 'given up'> {
    const { lock } = at.section;
    const label = part('receive', attempt);
    const reply = yield* this.ask(at, label, { kind: 'receive', lock }, queue);
    if (reply?.kind !== 'message') return false;
    const { steps, retries, receipt, backEnd } = reply;
    const delivery = { steps, retries };
    const machine = { backEnd };
    const received: Received = { lock, delivery, receipt, machine, queue, isSettled: false };
    this.received = received;
    const isLast = retries >= queue.plan.retries;
    const isTaken = yield* this.dispatch.take(at, { machine, delivery, number: 1, isLast }, () =>
      this.retry(at, received),
    );
    if (isTaken) return true;
    yield* this.settle(at);
    return 'given up';
  }

  delivery(): Delivery | null {
    return this.received?.delivery ?? null;
  }

  /** Sends the successor while the lease is held, so that a crash loses nothing. */
  *worked(at: Section, isComplete: boolean): Program<void> {
    const { received } = this;
    if (received === null) return;
    const hasRun = isComplete && at.section.work.some(({ kind }) => kind === 'transition');
    if (!hasRun) return yield* this.retry(at, received);
    const steps = received.delivery.steps + 1;
    received.isSettled = true;
    if (steps >= received.queue.plan.steps) return;
    const { backEnd } = received.machine;
    yield* this.send(at, 'next', { message: { steps, retries: 0, backEnd }, delayUs: 0, received });
  }

  private *retry(at: Section, received: Received): Program<void> {
    const { steps, retries } = received.delivery;
    received.isSettled = true;
    if (retries >= received.queue.plan.retries) {
      at.self.log('queue', `gives up step ${steps} of ${received.lock} after ${retries} retries`);
      return;
    }
    const message = { steps, retries: retries + 1, backEnd: received.machine.backEnd };
    yield* this.send(at, 'retry', { message, delayUs: at.plan.backoffUs, received });
  }

  /** If no answer comes, the current message is kept and will be delivered again. */
  private *send(
    at: Section,
    label: string,
    outgoing: { readonly message: Message; readonly delayUs: number; readonly received: Received },
  ): Program<void> {
    const { received, message, delayUs } = outgoing;
    const { lock } = received;
    const { steps, retries, backEnd } = message;
    const ask = { kind: 'send', lock, delayUs, steps, retries, backEnd } as const;
    const reply = yield* this.ask(at, label, ask, received.queue);
    received.isSettled = reply !== null;
    if (reply === null) at.self.log('queue', `no answer whether step ${steps} was sent`);
  }

  *release(at: Section): Program<void> {
    yield* this.dispatch.giveBack(at);
  }

  *settle(at: Section): Program<void> {
    const { received } = this;
    this.received = null;
    this.lock = '';
    if (received?.isSettled !== true) return;
    const { lock, receipt, delivery, queue } = received;
    const reply = yield* this.ask(at, 'delete', { kind: 'delete', lock, receipt }, queue);
    if (reply?.kind === 'deleted') return;
    const why = reply === null ? 'no answer' : 'it was delivered again';
    at.self.log('queue', `could not delete step ${delivery.steps} of ${lock}: ${why}`);
  }

  private *ask(
    at: Section,
    label: string,
    ask: QueueRequest,
    { server }: QueueParts,
  ): Program<QueueReply | null> {
    const call = yield* request(
      at.self,
      questionOf(at, under(at.name, label), {
        verb: ask.kind,
        lock: ask.lock,
        target: server,
        request: ask,
        tries: ask.kind === 'receive' ? 1 : at.plan.tries,
        describe: describeQueueReply,
      }),
    );
    return call.reply;
  }

  token(lock: string): number {
    return this.lock === lock ? this.dispatch.fence : 0;
  }

  *claimJob(at: Section, job: JobStep): Program<boolean> {
    if (this.guard === null) return true;
    return yield* this.guard.claim(at, job, this.dispatch.fence);
  }

  *finishJob(at: Section, job: JobStep): Program<void> {
    if (this.guard !== null) yield* this.guard.finish(at, job, this.dispatch.fence);
  }
}

/** The section itself tries again, as another attempt. */
function* noRetry(): Program<void> {}
