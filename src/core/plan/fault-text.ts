/**
 * Faults as a plan file writes them, each a map of one key: `pause: { process: alice, before:
 * alice/1/write, for: 20ms }`. What has a default may be left out.
 */
import { z } from 'zod';
import { formatDuration } from './duration.ts';
import type { Fault, FaultKind, When, Which, WhichTimer } from './fault.ts';
import { closed, duration, durationOrNever, name, point, rate, step } from './fields.ts';

/** When a fault strikes, as fields: exactly one of the three stands in a file. */
interface WhenFields {
  readonly at?: number | undefined;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

const when = {
  at: duration.optional(),
  before: point.optional(),
  after: point.optional(),
};
const link = { from: name.optional(), to: name.optional(), at: duration.optional() };
const which = { message: point.optional(), ...link };
const group = z.union([name.transform((only) => [only]), z.array(name).min(1).max(1000)]);

/** Refuses unless exactly one of the three fields stands there. */
function hasOneWhen(fields: Readonly<Record<string, unknown>>): boolean {
  return ['at', 'before', 'after'].filter((key) => fields[key] !== undefined).length === 1;
}

const ONE_WHEN = { error: 'needs exactly one of at, before and after' };

function toWhen({ at, before, after }: WhenFields): When {
  if (before !== undefined) return { kind: 'before', point: before };
  if (after !== undefined) return { kind: 'after', point: after };
  return { kind: 'at', atUs: at ?? 0 };
}

interface WhichFields {
  readonly message?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly at?: number | undefined;
}

const ONE_WHICH = { error: 'needs either a message, or from, to and at' };

function hasOneWhich({ message, from, to, at }: WhichFields): boolean {
  const parts = [from, to, at].filter((part) => part !== undefined).length;
  return message === undefined ? parts === 3 : parts === 0;
}

function toWhich({ message, from = '', to = '', at = 0 }: WhichFields): Which {
  return message === undefined
    ? { kind: 'link', from, to, atUs: at }
    : { kind: 'message', message };
}

const pause = closed('field', {
  process: name,
  ...when,
  for: duration,
  clocks: z.enum(['run', 'freeze']).optional(),
})
  .refine(hasOneWhen, ONE_WHEN)
  .transform(
    (fields): Fault => ({
      kind: 'pause',
      process: fields.process,
      when: toWhen(fields),
      forUs: fields.for,
      clocks: fields.clocks ?? 'run',
    }),
  );

const crash = closed('field', { process: name, ...when, restart: durationOrNever.optional() })
  .refine(hasOneWhen, ONE_WHEN)
  .transform(
    (fields): Fault => ({
      kind: 'crash',
      process: fields.process,
      when: toWhen(fields),
      restartAfterUs: fields.restart ?? null,
    }),
  );

const partition = closed('field', {
  from: group,
  to: group,
  direction: z.enum(['both', 'one-way']).optional(),
  ...when,
  for: duration,
})
  .refine(hasOneWhen, ONE_WHEN)
  .transform(
    (fields): Fault => ({
      kind: 'partition',
      from: fields.from,
      to: fields.to,
      direction: fields.direction ?? 'both',
      when: toWhen(fields),
      forUs: fields.for,
    }),
  );

const clock = closed('field', {
  process: name,
  ...when,
  step: step.optional(),
  rate: rate.optional(),
})
  .refine(hasOneWhen, ONE_WHEN)
  .transform(
    (fields): Fault => ({
      kind: 'clock',
      process: fields.process,
      when: toWhen(fields),
      stepUs: fields.step ?? 0,
      ratePpm: fields.rate ?? 0,
    }),
  );

const evict = closed('field', { process: name, key: name, ...when })
  .refine(hasOneWhen, ONE_WHEN)
  .transform(
    (fields): Fault => ({
      kind: 'evict',
      process: fields.process,
      key: fields.key,
      when: toWhen(fields),
    }),
  );

const failover = closed('field', { process: name, ...when, lag: duration })
  .refine(hasOneWhen, ONE_WHEN)
  .transform(
    (fields): Fault => ({
      kind: 'failover',
      process: fields.process,
      when: toWhen(fields),
      lagUs: fields.lag,
    }),
  );

const reset = closed('field', { from: name, to: name, ...when })
  .refine(hasOneWhen, ONE_WHEN)
  .transform(
    (fields): Fault => ({ kind: 'reset', from: fields.from, to: fields.to, when: toWhen(fields) }),
  );

const delay = closed('field', { ...which, by: duration })
  .refine(hasOneWhich, ONE_WHICH)
  .transform((fields): Fault => ({ kind: 'delay', which: toWhich(fields), byUs: fields.by }));

const drop = closed('field', which)
  .refine(hasOneWhich, ONE_WHICH)
  .transform((fields): Fault => ({ kind: 'drop', which: toWhich(fields) }));

const duplicate = closed('field', { ...which, by: duration })
  .refine(hasOneWhich, ONE_WHICH)
  .transform((fields): Fault => ({ kind: 'duplicate', which: toWhich(fields), byUs: fields.by }));

const lateTimer = closed('field', {
  timer: point.optional(),
  process: name.optional(),
  at: duration.optional(),
  by: duration,
})
  .refine(
    ({ timer, process, at }) =>
      timer === undefined
        ? process !== undefined && at !== undefined
        : process === undefined && at === undefined,
    { error: 'needs either a timer, or process and at' },
  )
  .transform(
    ({ timer, process = '', at = 0, by }): Fault => ({
      kind: 'late-timer',
      which:
        timer === undefined ? { kind: 'process', process, atUs: at } : { kind: 'timer', timer },
      byUs: by,
    }),
  );

const kinds = {
  pause: pause.optional(),
  delay: delay.optional(),
  drop: drop.optional(),
  duplicate: duplicate.optional(),
  partition: partition.optional(),
  clock: clock.optional(),
  crash: crash.optional(),
  reset: reset.optional(),
  failover: failover.optional(),
  evict: evict.optional(),
  'late-timer': lateTimer.optional(),
} satisfies Record<FaultKind, unknown>;

/** Every kind, in the order of the README's table. */
export const FAULT_KINDS: readonly FaultKind[] = [
  'pause',
  'delay',
  'drop',
  'duplicate',
  'partition',
  'clock',
  'crash',
  'reset',
  'failover',
  'evict',
  'late-timer',
];

/** One fault of a plan file. */
export const faultSchema: z.ZodType<Fault> = closed('fault', kinds).transform((entry, context) => {
  const [only, ...others] = Object.values(entry).filter((fault) => fault !== undefined);
  if (only !== undefined && others.length === 0) return only;
  context.issues.push({ code: 'custom', input: entry, message: 'a fault is a map of one key' });
  return z.NEVER;
});

/** Plain data that a YAML writer turns into text. */
export type FieldMap = { [key: string]: unknown };

/** The one-key map that `faultSchema` reads back into the same fault. */
export function faultFields(fault: Fault): FieldMap {
  return { [fault.kind]: fieldsOf(fault) };
}

function fieldsOf(fault: Fault): FieldMap {
  switch (fault.kind) {
    case 'pause': {
      const clocks = fault.clocks === 'freeze' ? { clocks: 'freeze' } : {};
      return { ...strikes(fault), for: formatDuration(fault.forUs), ...clocks };
    }
    case 'crash': {
      const restart = fault.restartAfterUs;
      return { ...strikes(fault), restart: restart === null ? 'never' : formatDuration(restart) };
    }
    case 'partition': {
      const direction = fault.direction === 'one-way' ? { direction: 'one-way' } : {};
      const sides = { from: [...fault.from], to: [...fault.to], ...direction };
      return { ...sides, ...whenFields(fault.when), for: formatDuration(fault.forUs) };
    }
    case 'clock': {
      const moved = fault.stepUs === 0 ? {} : { step: formatDuration(fault.stepUs) };
      const paced = fault.ratePpm === 0 ? {} : { rate: `${fault.ratePpm}ppm` };
      return { ...strikes(fault), ...moved, ...paced };
    }
    case 'evict':
      return { process: fault.process, key: fault.key, ...whenFields(fault.when) };
    case 'failover':
      return { ...strikes(fault), lag: formatDuration(fault.lagUs) };
    case 'reset':
      return { from: fault.from, to: fault.to, ...whenFields(fault.when) };
    case 'drop':
      return whichFields(fault.which);
    default:
      return { ...whichFields(fault.which), by: formatDuration(fault.byUs) };
  }
}

function strikes(fault: { readonly process: string; readonly when: When }): FieldMap {
  return { process: fault.process, ...whenFields(fault.when) };
}

function whenFields(when: When): FieldMap {
  return when.kind === 'at' ? { at: formatDuration(when.atUs) } : { [when.kind]: when.point };
}

function whichFields(which: Which | WhichTimer): FieldMap {
  switch (which.kind) {
    case 'message':
      return { message: which.message };
    case 'timer':
      return { timer: which.timer };
    case 'link':
      return { from: which.from, to: which.to, at: formatDuration(which.atUs) };
    case 'process':
      return { process: which.process, at: formatDuration(which.atUs) };
  }
}
