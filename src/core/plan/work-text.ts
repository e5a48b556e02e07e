/**
 * The steps of a section as a file writes them, each a map of one key: `write: { key: x, value: 1
 * }`. A step's `id` is its place among the section's steps where it is left out.
 */
import { z } from 'zod';
import { suggest } from '../../text/problem.ts';
import { formatDuration } from './duration.ts';
import { closed, duration, type FieldMap, name, positiveDuration, shown, whole } from './fields.ts';
import { CAPS, WORK_DEFAULTS, type Work } from './plan.ts';

/** A step that was read: what is undefined was left out. */
export type ReadStep =
  | {
      readonly kind: 'write';
      readonly id: number | undefined;
      readonly store: string | undefined;
      readonly key: string | undefined;
      readonly value: number | undefined;
      readonly awaits: boolean | undefined;
    }
  | {
      readonly kind: 'read';
      readonly id: number | undefined;
      readonly store: string | undefined;
      readonly key: string | undefined;
    }
  | {
      readonly kind: 'increment';
      readonly id: number | undefined;
      readonly store: string | undefined;
      readonly key: string | undefined;
      readonly by: number | undefined;
    }
  | {
      readonly kind: 'transfer';
      readonly id: number | undefined;
      readonly from: string | undefined;
      readonly to: string | undefined;
      readonly key: string | undefined;
      readonly amount: number | undefined;
    }
  | { readonly kind: 'compute'; readonly id: number | undefined; readonly forUs: number }
  | { readonly kind: 'renew'; readonly id: number | undefined; readonly ttlUs: number | undefined }
  | { readonly kind: 'lock'; readonly id: number | undefined; readonly lock: string }
  | {
      readonly kind: 'job';
      readonly id: number | undefined;
      readonly tick: number | undefined;
      readonly retries: number | undefined;
      readonly forUs: number;
    }
  | { readonly kind: 'transition'; readonly id: number | undefined; readonly forUs: number }
  | {
      readonly kind: 'memoize';
      readonly id: number | undefined;
      readonly store: string | undefined;
      readonly key: string | undefined;
      readonly value: number | undefined;
      readonly forUs: number;
      readonly pieces: number | undefined;
      readonly withoutLock: 'computes' | 'gives-up' | undefined;
    };

const id = whole(1, CAPS.worksPerSection).optional();
const store = name.optional();
const key = name.optional();
const value = whole(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER).optional();

const tick = whole(1, Number.MAX_SAFE_INTEGER).optional();
const count = whole(0, CAPS.sectionsPerClient).optional();
const pieces = whole(1, CAPS.pieces).optional();
const withoutLock = z.enum(['computes', 'gives-up']).optional();

const access = closed('field', { id, store, key }).optional();

const kinds = {
  write: closed('field', { id, store, key, value, awaits: z.boolean().optional() })
    .optional()
    .describe('Writes a value to a key; with awaits: false goes on before the answer.'),
  read: access.describe('Reads a key.'),
  increment: closed('field', { id, store, key, by: value })
    .optional()
    .describe('Reads a key, adds 1 and writes it back; with by: -1 takes one away.'),
  transfer: closed('field', { id, from: store, to: store, key, amount: value })
    .optional()
    .describe('Takes an amount from a key of one store and adds it in another.'),
  compute: z
    .union([duration, closed('field', { id, for: duration })])
    .optional()
    .describe('Works for a time without a word to anybody: compute: 5ms.'),
  renew: closed('field', { id, ttl: positiveDuration.optional() })
    .optional()
    .describe('Prolongs the lease; where that fails the section ends.'),
  lock: z
    .union([name, closed('field', { id, lock: name })])
    .optional()
    .describe(
      'Takes another lock beside the section’s, where the protocol takes several: lock: b.',
    ),
  job: closed('field', { id, tick, retries: count, for: duration })
    .optional()
    .describe(
      'Runs the body of one tick, which should run once; by default the tick has the section’s number.',
    ),
  transition: closed('field', { id, for: duration })
    .optional()
    .describe('Runs the step that the section’s message asks for, where there is a queue.'),
  memoize: closed('field', { id, store, key, value, for: duration, pieces, withoutLock })
    .optional()
    .describe(
      'Reads a cached value, or computes it under the lock for a time, in one or more pieces; withoutLock: gives-up where the lock cannot be had in time.',
    ),
};

type ReadKinds = z.output<z.ZodObject<typeof kinds>>;

const mapped = closed('step', kinds).transform((entry, context): ReadStep => {
  const step = Object.keys(entry).length === 1 ? toStep(entry) : undefined;
  if (step !== undefined) return step;
  context.issues.push({ code: 'custom', input: entry, message: 'a step is a map of one key' });
  return z.NEVER;
});

const BARE = ['write', 'read', 'increment', 'transfer', 'renew'] as const;

const bareStep = z.enum(BARE).transform((kind, context): ReadStep => {
  const step = toStep({ [kind]: {} });
  if (step !== undefined) return step;
  context.issues.push({ code: 'custom', input: kind, message: 'a step is a map of one key' });
  return z.NEVER;
});

/** Steps that mean nothing without a field or more. */
const MAPPED: ReadonlyMap<unknown, string> = new Map([
  ['compute', 'compute: 5ms'],
  ['lock', 'lock: b'],
  ['job', 'job: { for: 10ms }'],
  ['transition', 'transition: { for: 10ms }'],
  ['memoize', 'memoize: { for: 10ms }'],
]);

/** One step of a section: a map of one key, or the key alone (`- read`). */
export const stepSchema: z.ZodType<ReadStep> = z.union([bareStep, mapped], {
  error: ({ input }) => (typeof input === 'string' ? wordProblem(input) : undefined),
});

function wordProblem(word: string): string {
  const example = MAPPED.get(word);
  if (example !== undefined) return `${word} says too little alone; write ${example}`;
  return `unknown step ${shown(word)}${suggest(word, [...BARE, ...MAPPED.keys()].map(String))}`;
}

function toStep({
  write,
  read,
  increment,
  transfer,
  compute,
  renew,
  lock,
  job,
  transition,
  memoize,
}: ReadKinds): ReadStep | undefined {
  if (write !== undefined) {
    const { id, store, key, value, awaits } = write;
    return { kind: 'write', id, store, key, value, awaits };
  }
  if (read !== undefined) return { kind: 'read', id: read.id, store: read.store, key: read.key };
  if (increment !== undefined) {
    const { id, store, key, by } = increment;
    return { kind: 'increment', id, store, key, by };
  }
  if (transfer !== undefined) {
    const { id, from, to, key, amount } = transfer;
    return { kind: 'transfer', id, from, to, key, amount };
  }
  if (typeof compute === 'number') return { kind: 'compute', id: undefined, forUs: compute };
  if (compute !== undefined) return { kind: 'compute', id: compute.id, forUs: compute.for };
  if (renew !== undefined) return { kind: 'renew', id: renew.id, ttlUs: renew.ttl };
  if (transition !== undefined) {
    return { kind: 'transition', id: transition.id, forUs: transition.for };
  }
  return toGuardedStep({ lock, job, memoize });
}

/** The steps that only some locks know. */
function toGuardedStep({
  lock,
  job,
  memoize,
}: Pick<ReadKinds, 'lock' | 'job' | 'memoize'>): ReadStep | undefined {
  if (typeof lock === 'string') return { kind: 'lock', id: undefined, lock };
  if (lock !== undefined) return { kind: 'lock', id: lock.id, lock: lock.lock };
  if (job !== undefined) {
    return { kind: 'job', id: job.id, tick: job.tick, retries: job.retries, forUs: job.for };
  }
  if (memoize === undefined) return undefined;
  const { for: forUs, ...rest } = memoize;
  const { id, store, key, value, pieces, withoutLock } = rest;
  return { kind: 'memoize', id, store, key, value, forUs, pieces, withoutLock };
}

/**
 * A plan's step, complete: what was left out has its documented default, and a renew asks for the
 * client's ttl. Undefined when a write names no value, or a job no tick, which have no default.
 */
export function completeStep(step: ReadStep, place: number, ttlUs: number): Work | undefined {
  const stepId = step.id ?? place;
  switch (step.kind) {
    case 'write': {
      const { store: at = WORK_DEFAULTS.store, key: of = WORK_DEFAULTS.key, value: put } = step;
      if (put === undefined) return undefined;
      const awaits = step.awaits ?? WORK_DEFAULTS.awaits;
      return { kind: 'write', id: stepId, store: at, key: of, value: put, awaits };
    }
    case 'read':
    case 'increment': {
      const { store: at = WORK_DEFAULTS.store, key: of = WORK_DEFAULTS.key } = step;
      const by = step.kind === 'increment' ? byField(step.by) : {};
      return { kind: step.kind, id: stepId, store: at, key: of, ...by };
    }
    case 'transfer': {
      const { from = 'store-a', to = 'store-b', key: of = WORK_DEFAULTS.key } = step;
      const amount = step.amount ?? WORK_DEFAULTS.amount;
      return { kind: 'transfer', id: stepId, from, to, key: of, amount };
    }
    case 'compute':
    case 'transition':
      return { kind: step.kind, id: stepId, forUs: step.forUs };
    case 'renew':
      return { kind: 'renew', id: stepId, ttlUs: step.ttlUs ?? ttlUs };
    case 'lock':
      return { kind: 'lock', id: stepId, lock: step.lock };
    case 'job': {
      const { tick, retries = WORK_DEFAULTS.retries, forUs } = step;
      return tick === undefined ? undefined : { kind: 'job', id: stepId, tick, retries, forUs };
    }
    case 'memoize': {
      const { store: at = WORK_DEFAULTS.store, key: of = WORK_DEFAULTS.key, forUs } = step;
      const { value: put = WORK_DEFAULTS.amount, pieces: cut = WORK_DEFAULTS.pieces } = step;
      const placed = { id: stepId, store: at, key: of, value: put };
      return { kind: 'memoize', ...placed, forUs, pieces: cut, ...givesUp(step) };
    }
  }
}

/** Whether a memoize gives up without the lock; that it computes all the same is not said. */
export function givesUp(step: { readonly withoutLock?: 'computes' | 'gives-up' | undefined }): {
  readonly withoutLock?: 'gives-up';
} {
  return step.withoutLock === 'gives-up' ? { withoutLock: 'gives-up' } : {};
}

/** The fields that `stepSchema` reads back into the same step. */
export function stepFields(work: Work, place: number, ttlUs: number): FieldMap {
  const named: FieldMap = work.id === place ? {} : { id: work.id };
  return { [work.kind]: { ...named, ...workFields(work, ttlUs) } };
}

function workFields(work: Work, ttlUs: number): FieldMap {
  switch (work.kind) {
    case 'write': {
      const awaits = work.awaits === WORK_DEFAULTS.awaits ? {} : { awaits: work.awaits };
      return { ...storeField(work.store), key: work.key, value: work.value, ...awaits };
    }
    case 'read':
      return { ...storeField(work.store), key: work.key };
    case 'increment':
      return { ...storeField(work.store), key: work.key, ...byField(work.by) };
    case 'transfer':
      return { from: work.from, to: work.to, key: work.key, amount: work.amount };
    case 'compute':
    case 'transition':
      return { for: formatDuration(work.forUs) };
    case 'renew':
      return work.ttlUs === ttlUs ? {} : { ttl: formatDuration(work.ttlUs) };
    case 'lock':
      return { lock: work.lock };
    case 'job': {
      const retries = work.retries === WORK_DEFAULTS.retries ? {} : { retries: work.retries };
      return { tick: work.tick, ...retries, for: formatDuration(work.forUs) };
    }
    case 'memoize': {
      const { key: of, value: put, forUs, pieces: cut } = work;
      const several = cut === WORK_DEFAULTS.pieces ? {} : { pieces: cut };
      const placed = { ...storeField(work.store), key: of, value: put };
      return { ...placed, for: formatDuration(forUs), ...several, ...givesUp(work) };
    }
  }
}

/** What an increment adds, where that is not 1. */
export function byField(by: number | undefined): { readonly by?: number } {
  return by === undefined || by === 1 ? {} : { by };
}

function storeField(used: string): FieldMap {
  return used === WORK_DEFAULTS.store ? {} : { store: used };
}
