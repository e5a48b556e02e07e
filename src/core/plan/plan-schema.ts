/**
 * What a plan file may contain, and the plan that it means: every field that was left out has its
 * documented default. Mistakes that concern several fields at once are `planFindings`.
 */
import { z } from 'zod';
import type { Json } from '../kernel/json.ts';
import { clientFields, settingsOver } from './client-text.ts';
import { FAULT_KINDS, type FaultKind } from './fault.ts';
import { faultSchema } from './fault-text.ts';
import {
  closed,
  duration,
  instant,
  name,
  odds,
  point,
  positiveDuration,
  range,
  ratio,
  whole,
} from './fields.ts';
import type {
  Bounds,
  ChancePlan,
  ClientPlan,
  ClockPromise,
  Odds,
  Plan,
  RangeUs,
  SectionPlan,
  Work,
} from './plan.ts';
import {
  CAPS,
  CLIENT_DEFAULTS,
  LIMIT_DEFAULTS,
  NETWORK_DEFAULTS,
  SECTION_DEFAULTS,
} from './plan-defaults.ts';
import { completeQueue, queueFields } from './queue-text.ts';
import { completeStep, stepSchema } from './work-text.ts';

const json: z.ZodType<Json> = z.json();

const system = closed('field', {
  name,
  lock: name,
  store: name,
  options: z.record(name, json).optional(),
}).transform((fields) => ({ ...fields, options: fields.options ?? {} }));

const digest = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, { error: 'expected sha256: and 64 hexadecimal digits' });

const section = closed('field', {
  id: whole(1, CAPS.sectionsPerClient).optional(),
  think: duration.optional(),
  lock: name.optional(),
  work: z.array(stepSchema).max(CAPS.worksPerSection).optional(),
});

const client = closed('field', {
  name,
  ...clientFields,
  sections: z.array(section).max(CAPS.sectionsPerClient).optional(),
}).transform((fields, context): ClientPlan => {
  const settings = settingsOver(CLIENT_DEFAULTS, fields);
  const sections = (fields.sections ?? []).map((read, at): SectionPlan => {
    const steps = (read.work ?? []).map((step, place) => {
      const work = completeStep(step, place + 1, settings.ttlUs);
      if (work === undefined) {
        const path = ['sections', at, 'work', place];
        context.issues.push({
          code: 'custom',
          input: step,
          path,
          message: step.kind === 'job' ? 'a job needs a tick' : 'a write needs a value',
        });
      }
      return work;
    });
    return {
      id: read.id ?? at + 1,
      thinkUs: read.think ?? SECTION_DEFAULTS.thinkUs,
      lock: read.lock ?? SECTION_DEFAULTS.lock,
      work: steps.filter((work): work is Work => work !== undefined),
    };
  });
  return { name: fields.name, ...settings, sections };
});

const network = closed('field', {
  link: z.enum(['connection', 'datagram']).optional(),
  latency: duration.optional(),
});

const often = closed('field', { odds, by: range }).transform(
  ({ odds: drawn, by }): Odds & RangeUs => ({ ...drawn, ...by }),
);

const chance = closed('field', {
  seed: whole(0, Number.MAX_SAFE_INTEGER),
  latency: range.optional(),
  step: positiveDuration.optional(),
  delay: often.optional(),
  drop: odds.optional(),
  duplicate: often.optional(),
  lateTimer: often.optional(),
  jitter: ratio.optional(),
}).transform(
  (fields): ChancePlan => ({
    seed: fields.seed,
    latency: fields.latency ?? null,
    latencyStepUs: fields.step ?? 1,
    delay: fields.delay ?? null,
    drop: fields.drop ?? null,
    duplicate: fields.duplicate ?? null,
    lateTimer: fields.lateTimer ?? null,
    jitter: fields.jitter ?? null,
  }),
);

const limits = closed('field', {
  healAt: duration,
  probe: z.boolean().optional(),
  slack: duration.optional(),
  end: positiveDuration.optional(),
  maxEvents: whole(1, CAPS.maxEvents).optional(),
});

const driftPpm = z
  .string()
  .regex(/^\d{1,7}ppm$/, { error: 'expected a rate such as 200ppm' })
  .transform((text) => Number(text.slice(0, -3)));

const durationBounds = closed(
  'fault',
  Object.fromEntries(FAULT_KINDS.map((kind) => [kind, range.optional()])),
);

const promise = closed('field', {
  skew: duration.optional(),
  drift: driftPpm.optional(),
}).transform(
  ({ skew, drift }): ClockPromise => ({ skewUs: skew ?? null, driftPpm: drift ?? null }),
);

const bounds = closed('field', {
  latency: range,
  think: range.optional(),
  durations: durationBounds.optional(),
  skew: duration.optional(),
  drift: driftPpm.optional(),
  declared: promise.optional(),
}).transform((fields): Bounds => {
  const durations: { -readonly [Kind in FaultKind]?: RangeUs } = {};
  for (const kind of FAULT_KINDS) {
    const bound = fields.durations?.[kind];
    if (bound !== undefined) durations[kind] = bound;
  }
  return {
    latency: fields.latency,
    think: fields.think ?? { minUs: 0, maxUs: 0 },
    durations,
    skewUs: fields.skew ?? null,
    driftPpm: fields.drift ?? null,
    ...(fields.declared === undefined ? {} : { declared: fields.declared }),
  };
});

const expectation = closed('field', {
  claim: z.string().min(1).max(100),
  outcome: z.enum(['reproduced', 'fixed', 'inert', 'diverged']),
});

/** A plan file. */
export const planSchema: z.ZodType<Plan> = closed('field', {
  fencepost: z.literal(1, { error: 'expected 1, the version of the format' }),
  scenario: z.string().max(1_000),
  use: z.record(z.string().max(1_000), digest).optional(),
  system,
  epoch: instant.optional(),
  clients: z.array(client).max(CAPS.clients).optional(),
  queue: closed('field', queueFields).optional(),
  network: network.optional(),
  faults: z.array(faultSchema).max(CAPS.faults).optional(),
  chance: chance.optional(),
  decisions: z.record(point, duration).optional(),
  order: z.array(point).max(CAPS.names).optional(),
  limits,
  bounds,
  expect: expectation.optional(),
}).transform(
  (fields): Plan => ({
    fencepost: 1,
    scenario: fields.scenario,
    ...(fields.use === undefined ? {} : { use: fields.use }),
    system: fields.system,
    ...(fields.epoch === undefined ? {} : { epochUs: fields.epoch }),
    clients: fields.clients ?? [],
    ...(fields.queue === undefined ? {} : { queue: completeQueue(fields.queue, []) }),
    network: {
      link: fields.network?.link ?? NETWORK_DEFAULTS.link,
      latencyUs: fields.network?.latency ?? NETWORK_DEFAULTS.latencyUs,
    },
    faults: fields.faults ?? [],
    chance: fields.chance ?? null,
    decisions: fields.decisions ?? {},
    order: fields.order ?? [],
    limits: {
      healAtUs: fields.limits.healAt,
      probe: fields.limits.probe ?? LIMIT_DEFAULTS.probe,
      slackUs: fields.limits.slack ?? LIMIT_DEFAULTS.slackUs,
      endUs: fields.limits.end ?? LIMIT_DEFAULTS.endUs,
      maxEvents: fields.limits.maxEvents ?? LIMIT_DEFAULTS.maxEvents,
    },
    bounds: fields.bounds,
    ...(fields.expect === undefined ? {} : { expect: fields.expect }),
  }),
);
