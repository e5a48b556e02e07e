/**
 * The steps of a section in a file, each a map with one key: `write: { key: x, value: 1 }`. The
 * `id` defaults to the step's position in its section.
 */
import { z } from 'zod';
import { suggest } from '../../text/problem.ts';
import {
  closed,
  duration,
  type FieldMap,
  integer,
  mapOfOne,
  name,
  optional,
  positiveDuration,
  shown,
} from './fields.ts';
import { ALWAYS, statedFields } from './left-out.ts';
import { CAPS, WORK_DEFAULTS, type Work } from './plan.ts';

/** Fields that a step in a file must have, if its kind has them. */
type Needed = 'kind' | 'forUs' | 'lock';

/** A step as read from a file. Undefined means omitted. */
export type ReadStep = StepOf<Work>;

type StepOf<Step> = Step extends Work
  ? { readonly [Field in keyof Step & Needed]: Step[Field] } & {
      readonly [Field in Exclude<keyof Step, Needed>]?: Step[Field] | undefined;
    }
  : never;

const id = integer(1, CAPS.worksPerSection).optional();
const store = name.optional();
const key = name.optional();
const value = integer(-Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER).optional();

const tick = integer(1, Number.MAX_SAFE_INTEGER).optional();
const count = integer(0, CAPS.sectionsPerClient).optional();
const pieces = integer(1, CAPS.pieces).optional();
const withoutLock = z.enum(['computes', 'gives-up']).optional();

const kinds: Readonly<Record<Work['kind'], z.ZodOptional<z.ZodType<ReadStep>>>> = {
  write: kindOf(
    closed('field', { id, store, key, value, awaits: z.boolean().optional() }),
    (read) => ({ kind: 'write', ...read }),
    'Writes a value to a key; with awaits: false, continues before the answer.',
  ),
  read: kindOf(
    closed('field', { id, store, key }),
    (read) => ({ kind: 'read', ...read }),
    'Reads a key.',
  ),
  increment: kindOf(
    closed('field', { id, store, key, by: value }),
    (read) => ({ kind: 'increment', ...read }),
    'Reads a key, adds 1 and writes it back; with by: -1, subtracts 1.',
  ),
  transfer: kindOf(
    closed('field', { id, from: store, to: store, key, amount: value }),
    (read) => ({ kind: 'transfer', ...read }),
    'Moves an amount from a key of one store to a key of another.',
  ),
  compute: kindOf(
    z.union([duration, closed('field', { id, for: duration })]),
    (read) => ({ kind: 'compute', ...timed(typeof read === 'number' ? { for: read } : read) }),
    'Works for a time without sending a message: compute: 5ms.',
  ),
  renew: kindOf(
    closed('field', { id, ttl: positiveDuration.optional() }),
    (read) => ({ kind: 'renew', id: read.id, ttlUs: read.ttl }),
    'Renews the lease; if that fails, the section ends.',
  ),
  lock: kindOf(
    z.union([name, closed('field', { id, lock: name })]),
    (read) => ({ kind: 'lock', ...(typeof read === 'string' ? { lock: read } : read) }),
    'Takes another lock in addition to that of the section, if the protocol supports several: lock: b.',
  ),
  job: kindOf(
    closed('field', { id, tick, retries: count, for: duration }),
    (read) => ({ kind: 'job', ...timed(read) }),
    'Runs the body of one tick, which should run once; by default the tick has the section’s number.',
  ),
  transition: kindOf(
    closed('field', { id, for: duration }),
    (read) => ({ kind: 'transition', ...timed(read) }),
    'Runs the step that the section’s message requests, if there is a queue.',
  ),
  memoize: kindOf(
    closed('field', { id, store, key, value, for: duration, pieces, withoutLock }),
    ({ withoutLock: how, ...read }) => ({ kind: 'memoize', ...timed(read), ...givesUp(how) }),
    'Reads a cached value, or computes it under the lock for a time, in one or more pieces; withoutLock: gives-up skips it if the lock cannot be acquired in time.',
  ),
};

function kindOf<Read>(
  schema: z.ZodType<Read>,
  toStep: (read: Read) => ReadStep,
  about: string,
): z.ZodOptional<z.ZodType<ReadStep>> {
  return optional(schema.transform(toStep), about);
}

function timed<Read extends { readonly for: number }>({ for: forUs, ...read }: Read) {
  return { ...read, forUs };
}

/** Omits the default of a memoize, which is to compute without the lock. */
function givesUp(how: 'computes' | 'gives-up' | undefined): { readonly withoutLock?: 'gives-up' } {
  return how === 'gives-up' ? { withoutLock: how } : {};
}

const BARE = ['write', 'read', 'increment', 'transfer', 'renew'] as const;

const bareStep = z.enum(BARE).transform((kind): ReadStep => ({ kind }));

/** Steps that need at least one field, with an example. */
const MAPPED: ReadonlyMap<unknown, string> = new Map([
  ['compute', 'compute: 5ms'],
  ['lock', 'lock: b'],
  ['job', 'job: { for: 10ms }'],
  ['transition', 'transition: { for: 10ms }'],
  ['memoize', 'memoize: { for: 10ms }'],
]);

/** Schema of one step of a section: a map with one key, or only the key (`- read`). */
export const stepSchema: z.ZodType<ReadStep> = z.union([bareStep, mapOfOne('step', kinds)], {
  error({ input: word }): string | undefined {
    if (typeof word !== 'string') return undefined;
    const example = MAPPED.get(word);
    if (example !== undefined) return `${word} needs a value; write ${example}`;
    return `unknown step ${shown(word)}${suggest(word, [...BARE, ...MAPPED.keys()].map(String))}`;
  },
});

/** Defaults of omitted fields. Undefined means that the step must state the field. */
export interface Otherwise {
  readonly store: () => string;
  readonly key: () => string;
  readonly value: (step: ReadStep, id: number) => number | undefined;
  /** Returns the two stores of a transfer that does not name both. */
  readonly ends: (
    step: Extract<ReadStep, { readonly kind: 'transfer' }>,
  ) => readonly [string, string];
  readonly awaits: boolean;
  readonly tick: number | undefined;
  readonly ttlUs: number;
}

/** Returns the defaults of a plan: a write must state its value, and a job its tick. */
export function otherwiseInPlan(ttlUs: number): Otherwise {
  return {
    store: () => WORK_DEFAULTS.store,
    key: () => WORK_DEFAULTS.key,
    value: ({ kind }) => (kind === 'memoize' ? WORK_DEFAULTS.amount : undefined),
    ends: ({ from = 'store-a', to = 'store-b' }) => [from, to],
    awaits: WORK_DEFAULTS.awaits,
    tick: undefined,
    ttlUs,
  };
}

/** Completes a step. Returns undefined if an omitted field has no default. */
export function completeStep(
  step: ReadStep,
  place: number,
  otherwise: Otherwise,
): Work | undefined {
  const { id: stepId = place } = step;
  switch (step.kind) {
    case 'compute':
    case 'transition':
      return { kind: step.kind, id: stepId, forUs: step.forUs };
    case 'renew':
      return { kind: 'renew', id: stepId, ttlUs: step.ttlUs ?? otherwise.ttlUs };
    case 'lock':
      return { kind: 'lock', id: stepId, lock: step.lock };
    case 'job': {
      const { tick: at = otherwise.tick, retries = WORK_DEFAULTS.retries, forUs } = step;
      return at === undefined ? undefined : { kind: 'job', id: stepId, tick: at, retries, forUs };
    }
    case 'transfer': {
      const [from, to] = otherwise.ends(step);
      const { key: of = otherwise.key(), amount = WORK_DEFAULTS.amount } = step;
      return { kind: 'transfer', id: stepId, from, to, key: of, amount };
    }
    default:
      return completeAccess(step, stepId, otherwise);
  }
}

type Access = Extract<ReadStep, { readonly kind: 'write' | 'read' | 'increment' | 'memoize' }>;

function completeAccess(step: Access, stepId: number, otherwise: Otherwise): Work | undefined {
  const { store: at = otherwise.store(), key: of = otherwise.key() } = step;
  const placed = { id: stepId, store: at, key: of };
  if (step.kind === 'read') return { kind: 'read', ...placed };
  if (step.kind === 'increment') {
    const adds = step.by === undefined || step.by === 1 ? {} : { by: step.by };
    return { kind: 'increment', ...placed, ...adds };
  }
  const { value: put = otherwise.value(step, stepId) } = step;
  if (put === undefined) return undefined;
  if (step.kind === 'write') {
    return { kind: 'write', ...placed, value: put, awaits: step.awaits ?? otherwise.awaits };
  }
  const { forUs, pieces: pieceCount = WORK_DEFAULTS.pieces } = step;
  return {
    kind: 'memoize',
    ...placed,
    value: put,
    forUs,
    pieces: pieceCount,
    ...givesUp(step.withoutLock),
  };
}

const ACCESS = { store: WORK_DEFAULTS.store, key: ALWAYS } as const;

/** The fields that a plan states for each kind of step, in order, with the defaults to omit. */
const STATED: Readonly<Record<Work['kind'], object>> = {
  write: { ...ACCESS, value: ALWAYS, awaits: WORK_DEFAULTS.awaits },
  read: ACCESS,
  increment: { ...ACCESS, by: 1 },
  transfer: { from: ALWAYS, to: ALWAYS, key: ALWAYS, amount: ALWAYS },
  compute: { forUs: ALWAYS },
  renew: {},
  lock: { lock: ALWAYS },
  job: { tick: ALWAYS, retries: WORK_DEFAULTS.retries, forUs: ALWAYS },
  transition: { forUs: ALWAYS },
  memoize: {
    ...ACCESS,
    value: ALWAYS,
    forUs: ALWAYS,
    pieces: WORK_DEFAULTS.pieces,
    withoutLock: ALWAYS,
  },
};

/**
 * Returns fields that `stepSchema` reads back as the same step. The default ttl of a `renew` is
 * `ttlUs`.
 */
export function stepFields(work: Work, place: number, ttlUs: number): FieldMap {
  return { [work.kind]: statedFields(work, { id: place, ttlUs, ...STATED[work.kind] }) };
}
