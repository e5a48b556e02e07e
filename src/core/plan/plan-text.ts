/**
 * A plan as the text of a file and back, exactly: `readPlan(renderPlan(plan))` is the same plan.
 * The text is the unit of bug reports, so it states nothing that a default already says.
 */
import { Document, isCollection, isScalar, visit } from 'yaml';
import type { Problem } from '../../text/problem.ts';
import { settingsFields } from './client-text.ts';
import { parseFile, type SourceFile } from './document.ts';
import { formatDuration, formatRange } from './duration.ts';
import { formatInstant } from './epoch.ts';
import { FAULT_KINDS } from './fault.ts';
import { faultFields } from './fault-text.ts';
import { type FieldMap, formatOdds } from './fields.ts';
import { check } from './findings.ts';
import type {
  Bounds,
  ChancePlan,
  ClientPlan,
  ClockPromise,
  Limits,
  NetworkPlan,
  Odds,
  Plan,
  RangeUs,
  SectionPlan,
  SystemPlan,
} from './plan.ts';
import { LIMIT_DEFAULTS, NETWORK_DEFAULTS, SECTION_DEFAULTS } from './plan-defaults.ts';
import { planFindings } from './plan-findings.ts';
import { planSchema } from './plan-schema.ts';
import { fieldsOfQueue } from './queue-text.ts';
import { stepFields } from './work-text.ts';

export type PlanRead =
  | { readonly kind: 'plan'; readonly plan: Plan }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

/** The plan that a file's text means, or everything that is wrong with the text. */
export function readPlan(source: SourceFile): PlanRead {
  const parsed = parseFile(source);
  if (parsed.kind === 'problems') return parsed;
  const checked = check(planSchema, parsed.value);
  const findings = checked.kind === 'findings' ? checked.findings : planFindings(checked.value);
  if (checked.kind === 'value' && findings.length === 0)
    return { kind: 'plan', plan: checked.value };
  return { kind: 'problems', problems: parsed.locate(findings) };
}

/**
 * The text of a plan file; each line of `comment` (what it shows, how to replay it) stands above.
 */
export function renderPlan(plan: Plan, comment = ''): string {
  const document = new Document(planFields(plan), { aliasDuplicateObjects: false });
  visit(document, {
    Pair: (_, { key, value }) => {
      const isListed = isScalar(key) && ONE_LINE.has(String(key.value));
      if (!isListed || !isCollection(value) || JSON.stringify(value).length > LINE)
        return undefined;
      value.flow = true;
      return visit.SKIP;
    },
  });
  const lines = comment === '' ? [] : comment.split('\n');
  document.commentBefore =
    lines.map((line) => ` ${line.replace(/\p{Cc}/gu, ' ')}`).join('\n') || null;
  return document.toString({ lineWidth: 100, flowCollectionPadding: true });
}

/** The most characters, about, of a value that is written on one line. */
const LINE = 100;

/** Fields whose value is written on one line when it is short. */
const ONE_LINE: ReadonlySet<string> = new Set([
  ...['system', 'options', 'network', 'chance', 'lateTimer', 'order', 'limits', 'expect'],
  ...['bounds', 'durations', 'declared', 'from', 'to'],
  ...['write', 'read', 'increment', 'transfer', 'compute', 'renew'],
  ...['lock', 'job', 'transition', 'memoize'],
  ...FAULT_KINDS,
]);

function planFields(plan: Plan): FieldMap {
  return {
    fencepost: plan.fencepost,
    scenario: plan.scenario,
    ...unlessEmpty('use', { ...plan.use }),
    system: systemFields(plan.system),
    ...(plan.epochUs === undefined ? {} : { epoch: formatInstant(plan.epochUs) }),
    clients: plan.clients.map(clientPlanFields),
    ...(plan.queue === undefined ? {} : { queue: fieldsOfQueue(plan.queue) }),
    ...unlessEmpty('network', networkFields(plan.network)),
    ...(plan.faults.length === 0 ? {} : { faults: plan.faults.map(faultFields) }),
    ...(plan.chance === null ? {} : { chance: chanceFields(plan.chance) }),
    ...unlessEmpty('decisions', decisionFields(plan.decisions)),
    ...(plan.order.length === 0 ? {} : { order: [...plan.order] }),
    limits: limitFields(plan.limits),
    bounds: boundFields(plan.bounds),
    ...(plan.expect === undefined ? {} : { expect: { ...plan.expect } }),
  };
}

function unlessEmpty(field: string, fields: FieldMap): FieldMap {
  return Object.keys(fields).length === 0 ? {} : { [field]: fields };
}

function systemFields({ name, lock, store, options }: SystemPlan): FieldMap {
  return { name, lock, store, ...unlessEmpty('options', { ...options }) };
}

function clientPlanFields(client: ClientPlan): FieldMap {
  const sections = client.sections.map((section) => sectionFields(section, client.ttlUs));
  return { name: client.name, ...settingsFields(client), sections };
}

function sectionFields(section: SectionPlan, ttlUs: number): FieldMap {
  const isAtOnce = section.thinkUs === SECTION_DEFAULTS.thinkUs;
  return {
    id: section.id,
    ...(isAtOnce ? {} : { think: formatDuration(section.thinkUs) }),
    ...(section.lock === SECTION_DEFAULTS.lock ? {} : { lock: section.lock }),
    work: section.work.map((work, at) => stepFields(work, at + 1, ttlUs)),
  };
}

function networkFields({ link, latencyUs }: NetworkPlan): FieldMap {
  const isUsual = latencyUs === NETWORK_DEFAULTS.latencyUs;
  return {
    ...(link === NETWORK_DEFAULTS.link ? {} : { link }),
    ...(isUsual ? {} : { latency: formatDuration(latencyUs) }),
  };
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

function decisionFields(decisions: Plan['decisions']): FieldMap {
  return Object.fromEntries(
    Object.entries(decisions).map(([name, us]) => [name, formatDuration(us)]),
  );
}

function limitFields(limits: Limits): FieldMap {
  const fields: FieldMap = { healAt: formatDuration(limits.healAtUs) };
  if (limits.probe !== LIMIT_DEFAULTS.probe) fields['probe'] = limits.probe;
  if (limits.slackUs !== LIMIT_DEFAULTS.slackUs) fields['slack'] = formatDuration(limits.slackUs);
  if (limits.endUs !== LIMIT_DEFAULTS.endUs) fields['end'] = formatDuration(limits.endUs);
  if (limits.maxEvents !== LIMIT_DEFAULTS.maxEvents) fields['maxEvents'] = limits.maxEvents;
  return fields;
}

function boundFields(bounds: Bounds): FieldMap {
  const { think } = bounds;
  const durations: FieldMap = {};
  for (const kind of FAULT_KINDS) {
    const bound = bounds.durations[kind];
    if (bound !== undefined) durations[kind] = formatRange(bound);
  }
  return {
    latency: formatRange(bounds.latency),
    ...(think.minUs === 0 && think.maxUs === 0 ? {} : { think: formatRange(think) }),
    ...unlessEmpty('durations', durations),
    ...clockFields(bounds),
    ...(bounds.declared === undefined ? {} : { declared: clockFields(bounds.declared) }),
  };
}

function clockFields({ skewUs, driftPpm }: ClockPromise): FieldMap {
  return {
    ...(skewUs === null ? {} : { skew: formatDuration(skewUs) }),
    ...(driftPpm === null ? {} : { drift: `${driftPpm}ppm` }),
  };
}
