/**
 * Converts a plan to the text of a file and back without loss: `readPlan(renderPlan(plan))` is the
 * same plan. The text is made for bug reports, so it omits default values. The schema, in the
 * second half of this file, restores the documented default of each omitted field. Mistakes that
 * involve several fields are found by `planFindings`.
 */
import { Document, isCollection, isScalar, visit } from 'yaml';
import { z } from 'zod';
import type { Problem } from '../../text/problem.ts';
import type { Json } from '../kernel/json.ts';
import { clientFields, concurrencyField, runningAtOnce, settingsOver } from './client-text.ts';
import { check, parseFile, type SourceFile } from './document.ts';
import { formatDuration, formatInstant, formatRange, type RangeUs } from './duration.ts';
import { FAULT_KINDS, type FaultKind } from './fault.ts';
import { faultFields, faultSchema } from './fault-text.ts';
import {
  closed,
  duration,
  type FieldMap,
  formatOdds,
  hosts,
  instant,
  integer,
  name,
  odds,
  place,
  point,
  positiveDuration,
  range,
  ratio,
} from './fields.ts';
import { ALWAYS, completed, statedFields } from './left-out.ts';
import { formatPlace } from './places.ts';
import {
  type Bounds,
  CAPS,
  type ChancePlan,
  CLIENT_DEFAULTS,
  type ClientPlan,
  type ClockPromise,
  type DurationBounds,
  type Expectation,
  type FaultPlaces,
  type KeptCause,
  LIMIT_DEFAULTS,
  type Limits,
  NETWORK_DEFAULTS,
  type NetworkPlan,
  type Odds,
  type Plan,
  SECTION_DEFAULTS,
  type SectionPlan,
  type SystemPlan,
} from './plan.ts';
import { planFindings } from './plan-findings.ts';
import { completeQueue, fieldsOfQueue, queueFields } from './queue-text.ts';
import { completeStep, otherwiseInPlan, stepFields, stepSchema } from './work-text.ts';

type PlanRead =
  | { readonly kind: 'plan'; readonly plan: Plan }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

/** Reads a plan from a file's text, or returns all problems of the text. */
export function readPlan(source: SourceFile): PlanRead {
  const parsed = parseFile(source);
  if (parsed.kind === 'problems') return parsed;
  const checked = check(planSchema, parsed.value);
  const findings = checked.kind === 'findings' ? checked.findings : planFindings(checked.value);
  if (checked.kind === 'value' && findings.length === 0)
    return { kind: 'plan', plan: checked.value };
  return { kind: 'problems', problems: parsed.locate(findings) };
}

/** Renders a plan file. It begins with the lines of `comment`: the failure and how to replay it. */
export function renderPlan(plan: Plan, comment = ''): string {
  const document = new Document(planFields(plan), { aliasDuplicateObjects: false });
  visit(document, {
    Pair: (_, { key, value }) => {
      const isListed = isScalar(key) && ONE_LINE.has(String(key.value));
      if (!isListed || !isCollection(value) || !fitsLine(value)) return undefined;
      value.flow = true;
      return visit.SKIP;
    },
  });
  const lines = comment === '' ? [] : comment.split('\n');
  document.commentBefore =
    lines.map((line) => ` ${line.replace(/\p{Cc}/gu, ' ')}`).join('\n') || null;
  return document.toString({ lineWidth: 100, flowCollectionPadding: true });
}

/** Approximate maximum length of a value on one line, in characters. */
const LINE = 100;

/** Returns true if a value is short enough for one line. */
export function fitsLine(value: unknown): boolean {
  return JSON.stringify(value).length <= LINE;
}

/** Fields whose value is written on one line if it is short. */
const ONE_LINE: ReadonlySet<string> = new Set([
  ...`system options hosts network chance lateTimer order limits expect cause bounds
  durations places declared from to write read increment transfer compute renew lock
  job transition memoize`.split(/\s+/),
  ...FAULT_KINDS,
]);

/** Returns a plan as file fields, without defaults. */
export function planFields(plan: Plan): FieldMap {
  const decisions = Object.entries(plan.decisions).map(([name, us]) => [name, formatDuration(us)]);
  return {
    fencepost: plan.fencepost,
    scenario: plan.scenario,
    ...unlessEmpty('use', { ...plan.use }),
    system: systemFields(plan.system),
    ...(plan.epochUs === undefined ? {} : { epoch: formatInstant(plan.epochUs) }),
    clients: plan.clients.map(clientPlanFields),
    ...(plan.queue === undefined ? {} : { queue: fieldsOfQueue(plan.queue) }),
    ...unlessEmpty('network', statedFields(plan.network, NETWORK_DEFAULTS)),
    ...(plan.faults.length === 0 ? {} : { faults: plan.faults.map(faultFields) }),
    ...(plan.chance === null ? {} : { chance: chanceFields(plan.chance) }),
    ...unlessEmpty('decisions', Object.fromEntries(decisions)),
    ...(plan.order.length === 0 ? {} : { order: [...plan.order] }),
    limits: statedFields(plan.limits, { healAtUs: ALWAYS, ...LIMIT_DEFAULTS }),
    bounds: boundFields(plan.bounds),
    ...(plan.expect === undefined ? {} : { expect: expectFields(plan.expect) }),
  };
}

function expectFields({ cause, ...said }: Expectation): FieldMap {
  if (cause === undefined) return said;
  const { rule, isByNonOwnerRelease, faults } = cause;
  const faultTexts = faults.map(({ kind, what }) => `${kind} ${what}`);
  return {
    ...said,
    cause: {
      rule,
      ...(isByNonOwnerRelease ? { byForeignRelease: true } : {}),
      ...(faultTexts.length === 0 ? {} : { faults: faultTexts }),
    },
  };
}

function unlessEmpty(field: string, fields: FieldMap): FieldMap {
  return Object.keys(fields).length === 0 ? {} : { [field]: fields };
}

function systemFields({ name, lock, store, options, hosts: named }: SystemPlan): FieldMap {
  return {
    name,
    lock,
    store,
    ...unlessEmpty('options', { ...options }),
    ...unlessEmpty('hosts', { ...named }),
  };
}

function clientPlanFields(client: ClientPlan): FieldMap {
  const sections = client.sections.map((section) => {
    const work = section.work.map((step, at) => stepFields(step, at + 1, client.ttlUs));
    return { ...statedFields(section, { id: ALWAYS, ...SECTION_DEFAULTS }), work };
  });
  const settings = statedFields(client, { ...CLIENT_DEFAULTS, concurrency: 1 });
  return { name: client.name, ...settings, sections };
}

function chanceFields(chance: ChancePlan): FieldMap {
  const fields: FieldMap = { seed: chance.seed };
  if (chance.latency !== null) fields['latency'] = formatRange(chance.latency);
  if (chance.latencyStepUs !== 1) fields['step'] = formatDuration(chance.latencyStepUs);
  if (chance.delay !== null) fields['delay'] = oftenFields(chance.delay);
  if (chance.drop !== null) fields['drop'] = formatOdds(chance.drop);
  if (chance.duplicate !== null) fields['duplicate'] = oftenFields(chance.duplicate);
  if (chance.lateTimer !== null) fields['lateTimer'] = oftenFields(chance.lateTimer);
  if (chance.jitter !== null) fields['jitter'] = formatOdds(chance.jitter);
  return fields;
}

function oftenFields(often: Odds & RangeUs): FieldMap {
  return { odds: formatOdds(often), by: formatRange(often) };
}

function boundFields(bounds: Bounds): FieldMap {
  const { think } = bounds;
  const durations: FieldMap = {};
  for (const kind of FAULT_KINDS) {
    const bound = bounds.durations[kind];
    if (bound === undefined) continue;
    durations[kind] = 'minUs' in bound ? formatRange(bound) : bound.map(formatRange);
  }
  return {
    latency: formatRange(bounds.latency),
    ...(think.minUs === 0 && think.maxUs === 0 ? {} : { think: formatRange(think) }),
    ...unlessEmpty('durations', durations),
    ...unlessEmpty('places', placeFields(bounds.places ?? {})),
    ...statedFields(bounds, NO_PROMISE),
    ...(bounds.declared === undefined
      ? {}
      : { declared: statedFields(bounds.declared, NO_PROMISE) }),
  };
}

function placeFields(places: FaultPlaces): FieldMap {
  return Object.fromEntries(
    FAULT_KINDS.flatMap((kind) => {
      const allowed = places[kind];
      return allowed === undefined ? [] : [[kind, allowed.map(formatPlace)] as const];
    }),
  );
}

const NO_PROMISE: ClockPromise = { skewUs: null, driftPpm: null };

const json: z.ZodType<Json> = z.json();

const system = closed('field', {
  name,
  lock: name,
  store: name,
  options: z.record(name, json).optional(),
  hosts: hosts.optional(),
}).transform(({ hosts: named, options = {}, ...parts }): SystemPlan => {
  return named === undefined ? { ...parts, options } : { ...parts, options, hosts: named };
});

const digest = z
  .string()
  .max(100_000)
  .regex(/^sha256:[0-9a-f]{64}(?: \.\S*=[0-9a-f]{16}| [^\s.]\S*@\S+)*$/, {
    error: 'expected sha256: and 64 hexadecimal digits, then files and packages',
  });

const section = closed('field', {
  id: integer(1, CAPS.sectionsPerClient).optional(),
  think: duration.optional(),
  lock: name.optional(),
  work: z.array(stepSchema).max(CAPS.worksPerSection).optional(),
});

const client = closed('field', {
  name,
  ...clientFields,
  concurrency: concurrencyField,
  sections: z.array(section).max(CAPS.sectionsPerClient).optional(),
}).transform((fields, context): ClientPlan => {
  const settings = settingsOver(CLIENT_DEFAULTS, fields);
  const otherwise = otherwiseInPlan(settings.ttlUs);
  const sections = (fields.sections ?? []).map((read, at): SectionPlan => {
    const steps = (read.work ?? []).map((step, place) => {
      const work = completeStep(step, place + 1, otherwise);
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
      ...completed<Pick<SectionPlan, 'thinkUs' | 'lock'>>(SECTION_DEFAULTS, read),
      work: steps.filter((work) => work !== undefined),
    };
  });
  return { name: fields.name, ...settings, ...runningAtOnce(fields.concurrency), sections };
});

const network = closed('field', {
  link: z.enum(['connection', 'datagram']).optional(),
  latency: duration.optional(),
});

const often = closed('field', { odds, by: range }).transform(
  ({ odds: drawn, by }): Odds & RangeUs => ({ ...drawn, ...by }),
);

const chance = closed('field', {
  seed: integer(0, Number.MAX_SAFE_INTEGER),
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
  maxEvents: integer(1, CAPS.maxEvents).optional(),
});

const driftPpm = z
  .string()
  .regex(/^\d{1,7}ppm$/, { error: 'expected a rate such as 200ppm' })
  .transform((text) => Number(text.slice(0, -3)));

const ranges = z.union([range, z.array(range).min(1)]);

const durationBounds = closed(
  'fault',
  Object.fromEntries(FAULT_KINDS.map((kind) => [kind, ranges.optional()])),
);

const placeBounds = closed(
  'fault',
  Object.fromEntries(FAULT_KINDS.map((kind) => [kind, z.array(place).optional()])),
);

const clocks = { skew: duration.optional(), drift: driftPpm.optional() };
const promise = closed('field', clocks).transform((read) => completed(NO_PROMISE, read));

const bounds = closed('field', {
  latency: range,
  think: range.optional(),
  durations: durationBounds.optional(),
  places: placeBounds.optional(),
  ...clocks,
  declared: promise.optional(),
}).transform((fields): Bounds => {
  const durations: { -readonly [Kind in FaultKind]?: DurationBounds[Kind] } = {};
  for (const kind of FAULT_KINDS) {
    const bound = fields.durations?.[kind];
    if (bound !== undefined) durations[kind] = bound;
  }
  const places: { -readonly [Kind in FaultKind]?: FaultPlaces[Kind] } = {};
  for (const kind of FAULT_KINDS) {
    const allowed = fields.places?.[kind];
    if (allowed !== undefined) places[kind] = allowed;
  }
  return {
    latency: fields.latency,
    think: fields.think ?? { minUs: 0, maxUs: 0 },
    durations,
    ...(fields.places === undefined ? {} : { places }),
    ...completed(NO_PROMISE, fields),
    ...(fields.declared === undefined ? {} : { declared: fields.declared }),
  };
});

const hit = z
  .string()
  .max(500)
  .transform((text, context) => {
    const [kind] = FAULT_KINDS.filter((candidate) => text.startsWith(`${candidate} `));
    if (kind !== undefined) return { kind, what: text.slice(kind.length + 1) };
    const message = 'expected a fault and what it hit, such as "pause before access"';
    context.issues.push({ code: 'custom', input: text, message });
    return z.NEVER;
  });

const cause = closed('field', {
  rule: z.string().min(1).max(100),
  byForeignRelease: z.boolean().optional(),
  faults: z.array(hit).max(CAPS.faults).optional(),
}).transform(({ rule, byForeignRelease: isByNonOwnerRelease = false, faults = [] }): KeptCause => {
  return { rule, isByNonOwnerRelease, faults };
});

const expectation = closed('field', {
  claim: z.string().min(1).max(100),
  outcome: z.enum(['reproduced', 'fixed', 'inert', 'diverged']),
  cause: cause.optional(),
}).transform(({ cause: found, ...said }): Expectation => {
  return found === undefined ? said : { ...said, cause: found };
});

const planSchema: z.ZodType<Plan> = closed('field', {
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
    network: completed<NetworkPlan>(NETWORK_DEFAULTS, fields.network ?? {}),
    faults: fields.faults ?? [],
    chance: fields.chance ?? null,
    decisions: fields.decisions ?? {},
    order: fields.order ?? [],
    limits: {
      healAtUs: fields.limits.healAt,
      ...completed<Omit<Limits, 'healAtUs'>>(LIMIT_DEFAULTS, fields.limits),
    },
    bounds: fields.bounds,
    ...(fields.expect === undefined ? {} : { expect: fields.expect }),
  }),
);
