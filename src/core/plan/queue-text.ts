/**
 * Reads and writes the queue in a plan or scenario file, `queue: { steps: 4, messages: […] }`, and
 * finds mistakes in a queue whose fields are each well-formed.
 */
import { z } from 'zod';
import type { PathStep, UnplacedProblem } from '../../text/problem.ts';
import {
  closed,
  duration,
  type FieldMap,
  integer,
  name,
  optional,
  positiveDuration,
} from './fields.ts';
import { ALWAYS, completed, type ReadOf, type ShapeOf, statedFields } from './left-out.ts';
import {
  CAPS,
  QUEUE_DEFAULTS,
  type QueuePlan,
  SECTION_DEFAULTS,
  type StepOfMachine,
  type Work,
} from './plan.ts';

type Message = QueuePlan['messages'][number];
type Copy = QueuePlan['copies'][number];

const STEP: StepOfMachine = { machine: SECTION_DEFAULTS.lock, steps: 0, retries: 0 };
const MESSAGE: Message = { ...STEP, atUs: 0 };
const COPY: Copy = { ...STEP, afterUs: 0 };

type QueueNumbers = Omit<QueuePlan, 'messages' | 'copies'>;

interface Listed extends QueueNumbers {
  readonly messages: readonly ReadOf<Message>[];
  readonly copies: readonly ReadOf<Copy>[];
}

/** The result of reading a `closed` map of `queueFields`. */
export type ReadQueue = ReadOf<Listed>;

const stepOf = {
  machine: optional(name, 'The lock of the machine. Default db.'),
  steps: optional(integer(0, CAPS.sectionsPerClient), 'Number of the step. Default 0.'),
  retries: optional(integer(0, CAPS.sectionsPerClient), 'Default 0.'),
};

/** Fields of a `closed` map, identical in scenarios and plans. */
export const queueFields: ShapeOf<Listed> = {
  steps: optional(
    integer(1, CAPS.sectionsPerClient),
    'Number of steps of each machine, which count from 0. Default 1.',
  ),
  retries: optional(
    integer(0, CAPS.sectionsPerClient),
    'Maximum retries of a failed step. Default 5.',
  ),
  visibility: optional(
    positiveDuration,
    'Time for which a received message is hidden before it is delivered again. Default 30s.',
  ),
  messages: optional(
    z.array(closed('field', { ...stepOf, at: duration.optional() })).max(CAPS.sectionsPerClient),
    'Messages in the queue at the start. Default step 0 of each machine.',
  ),
  copies: optional(
    z.array(closed('field', { ...stepOf, after: duration.optional() })).max(CAPS.sectionsPerClient),
    'Messages that the queue delivers twice; after is the delay of the second delivery.',
  ),
};

/** Adds the defaults of a queue. Without messages, each of `machines` gets one for step 0. */
export function completeQueue(read: ReadQueue, machines: readonly string[]): QueuePlan {
  const { messages = machines.map((machine) => ({ machine })), copies = [] } = read;
  return {
    ...completed<QueueNumbers>(QUEUE_DEFAULTS, read),
    messages: messages.map((message) => completed(MESSAGE, message)),
    copies: copies.map((copy) => completed(COPY, copy)),
  };
}

/** Returns fields that read back as the same queue; messages are always listed. */
export function fieldsOfQueue(queue: QueuePlan): FieldMap {
  const messages = queue.messages.map((message) =>
    statedFields(message, { ...MESSAGE, steps: ALWAYS }),
  );
  const copies = queue.copies.map((copy) => statedFields(copy, { ...COPY, steps: ALWAYS }));
  return {
    ...statedFields(queue, QUEUE_DEFAULTS),
    messages,
    ...(copies.length === 0 ? {} : { copies }),
  };
}

/** Finds messages that no client would receive, or whose step or retry does not exist. */
export function queueFindings(
  queue: QueuePlan,
  machines: ReadonlySet<string>,
): readonly UnplacedProblem[] {
  const lists = [
    ['messages', queue.messages],
    ['copies', queue.copies],
  ] as const;
  return lists.flatMap(([list, entries]) =>
    entries.flatMap(({ machine, steps, retries }, at): UnplacedProblem[] => {
      const path = ['queue', list, at];
      const what = whyNoMessage({ machine, steps, retries }, queue, machines);
      return what === null ? [] : [{ path, isKey: false, what }];
    }),
  );
}

function whyNoMessage(
  { machine, steps, retries }: StepOfMachine,
  queue: QueuePlan,
  machines: ReadonlySet<string>,
): string | null {
  if (!machines.has(machine)) return `no section takes the lock "${machine}" of this machine`;
  if (steps >= queue.steps) {
    return `there is no step ${steps}: the machines of this queue have ${queue.steps}, from 0`;
  }
  if (retries > queue.retries) {
    return `there is no retry ${retries}: a step of this queue is retried ${queue.retries} times`;
  }
  return null;
}

/** Finds sections with a transition but no queue, or with several transitions. */
export function transitionFindings(
  steps: readonly { readonly kind: Work['kind'] }[],
  hasQueue: boolean,
  pathOf: (at: number) => readonly PathStep[],
): readonly UnplacedProblem[] {
  const places = steps.flatMap(({ kind }, at) => (kind === 'transition' ? [at] : []));
  const [first, second] = places;
  if (first === undefined) return [];
  if (!hasQueue) {
    const what = 'a transition needs a queue that determines its step: queue: { steps: 4 }';
    return [{ path: pathOf(first), isKey: false, what }];
  }
  if (second === undefined) return [];
  const what = 'a section has one message, and so one transition';
  return [{ path: pathOf(second), isKey: false, what }];
}
