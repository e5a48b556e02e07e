/**
 * The queue of a plan or a scenario as a file writes it: `queue: { steps: 4, messages: […] }`, and
 * what is wrong with one whose fields are each well-formed.
 */
import { z } from 'zod';
import type { PathStep, UnplacedProblem } from '../../text/problem.ts';
import { formatDuration } from './duration.ts';
import { closed, duration, type FieldMap, name, positiveDuration, whole } from './fields.ts';
import {
  CAPS,
  type Plan,
  QUEUE_DEFAULTS,
  type QueuePlan,
  SECTION_DEFAULTS,
  type StepOfMachine,
  type Work,
} from './plan.ts';

const stepOf = {
  machine: name.optional().describe('The lock of the machine. Default db.'),
  steps: whole(0, CAPS.sectionsPerClient).optional().describe('Which step. Default 0.'),
  retries: whole(0, CAPS.sectionsPerClient).optional().describe('Default 0.'),
};

/** Fields of a `closed` map, the same ones in scenarios and plans. */
export const queueFields: QueueFields = {
  steps: whole(1, CAPS.sectionsPerClient)
    .optional()
    .describe('How many steps each machine has; they count from 0. Default 1.'),
  retries: whole(0, CAPS.sectionsPerClient)
    .optional()
    .describe('How often a step that failed is tried again, at most. Default 5.'),
  visibility: positiveDuration
    .optional()
    .describe('How long a received message is hidden, until it comes again. Default 30s.'),
  messages: z
    .array(closed('field', { ...stepOf, at: duration.optional() }))
    .max(CAPS.sectionsPerClient)
    .optional()
    .describe('What lies in it from the start. Default step 0 of each machine.'),
  copies: z
    .array(closed('field', { ...stepOf, after: duration.optional() }))
    .max(CAPS.sectionsPerClient)
    .optional()
    .describe('Messages that it delivers twice, the copy so long after the first.'),
};

interface ReadStepOf {
  readonly machine?: string | undefined;
  readonly steps?: number | undefined;
  readonly retries?: number | undefined;
}

type ReadMessage = ReadStepOf & { readonly at?: number | undefined };

type Listed<Value> = z.ZodOptional<z.ZodType<readonly Value[]>>;

/** The zod shape of `queueFields`. */
export interface QueueFields {
  readonly steps: z.ZodOptional<z.ZodType<number, number>>;
  readonly retries: z.ZodOptional<z.ZodType<number, number>>;
  readonly visibility: z.ZodOptional<z.ZodType<number, string | number>>;
  readonly messages: Listed<ReadMessage>;
  readonly copies: Listed<ReadStepOf & { readonly after?: number | undefined }>;
}

/** What a `closed` map of `queueFields` gives when it was read. */
export interface ReadQueue {
  readonly steps?: number | undefined;
  readonly retries?: number | undefined;
  readonly visibility?: number | undefined;
  readonly messages?: readonly ReadMessage[] | undefined;
  readonly copies?: readonly (ReadStepOf & { readonly after?: number | undefined })[] | undefined;
}

/** The queue that was read; `machines` have a first message each where none is listed. */
export function completeQueue(read: ReadQueue, machines: readonly string[]): QueuePlan {
  const first = machines.map((machine): ReadMessage => ({ machine }));
  return {
    steps: read.steps ?? QUEUE_DEFAULTS.steps,
    retries: read.retries ?? QUEUE_DEFAULTS.retries,
    visibilityUs: read.visibility ?? QUEUE_DEFAULTS.visibilityUs,
    messages: (read.messages ?? first).map(({ at = 0, ...step }) => ({
      ...completeStepOf(step),
      atUs: at,
    })),
    copies: (read.copies ?? []).map(({ after = 0, ...step }) => ({
      ...completeStepOf(step),
      afterUs: after,
    })),
  };
}

function completeStepOf({ machine, steps, retries }: ReadStepOf): StepOfMachine {
  return { machine: machine ?? SECTION_DEFAULTS.lock, steps: steps ?? 0, retries: retries ?? 0 };
}

/** The fields that read back into the same queue; the messages are always listed. */
export function fieldsOfQueue(queue: QueuePlan): FieldMap {
  const fields: FieldMap = {};
  if (queue.steps !== QUEUE_DEFAULTS.steps) fields['steps'] = queue.steps;
  if (queue.retries !== QUEUE_DEFAULTS.retries) fields['retries'] = queue.retries;
  if (queue.visibilityUs !== QUEUE_DEFAULTS.visibilityUs) {
    fields['visibility'] = formatDuration(queue.visibilityUs);
  }
  fields['messages'] = queue.messages.map((one) => ({
    ...stepFieldsOf(one),
    ...(one.atUs === 0 ? {} : { at: formatDuration(one.atUs) }),
  }));
  if (queue.copies.length > 0) {
    fields['copies'] = queue.copies.map((one) => ({
      ...stepFieldsOf(one),
      ...(one.afterUs === 0 ? {} : { after: formatDuration(one.afterUs) }),
    }));
  }
  return fields;
}

function stepFieldsOf({ machine, steps, retries }: StepOfMachine): FieldMap {
  return {
    ...(machine === SECTION_DEFAULTS.lock ? {} : { machine }),
    steps,
    ...(retries === 0 ? {} : { retries }),
  };
}

/** Messages that nobody would ever receive, or that no machine has the step for. */
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

/** Sections with a transition and no message, or with more than one. */
export function transitionFindings(
  steps: readonly { readonly kind: Work['kind'] }[],
  hasQueue: boolean,
  pathOf: (at: number) => readonly PathStep[],
): readonly UnplacedProblem[] {
  const places = steps.flatMap(({ kind }, at) => (kind === 'transition' ? [at] : []));
  const [first, second] = places;
  if (first === undefined) return [];
  if (!hasQueue) {
    const what = 'a transition needs a queue, which says which step it is: queue: { steps: 4 }';
    return [{ path: pathOf(first), isKey: false, what }];
  }
  if (second === undefined) return [];
  const what = 'a section has one message, and so one transition';
  return [{ path: pathOf(second), isKey: false, what }];
}

/**
 * The locks of a plan's sections: each receives the messages of its own, also without a transition,
 * which then fails.
 */
export function machinesOf({ clients }: Pick<Plan, 'clients'>): ReadonlySet<string> {
  return new Set(clients.flatMap(({ sections }) => sections.map(({ lock }) => lock)));
}
