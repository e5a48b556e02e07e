/**
 * Explains why a sweep found nothing. If a `breaks` claim held, describes the effects of faults. If
 * sections gave up, explains why. A hint suggests only changes that the scenario does not contain.
 */
import type { Catalogue } from '../../catalogue.ts';
import { proseDuration } from '../../core/plan/duration.ts';
import type { FaultKind } from '../../core/plan/fault.ts';
import { durationsOf, lengthIn } from '../../core/plan/places.ts';
import type {
  ClientScenario,
  Scenario,
  SystemScenario,
  TemplateField,
} from '../../scenario/scenario.ts';
import { countOf, groupDigits } from '../../text/prose.ts';
import type { FaultCounts, SweepCounts } from './counts.ts';
import type { Position } from './fault-positions.ts';

const WORDS: Readonly<Record<Exclude<Position, 'server' | 'not-holding'>, string>> = {
  'before-access': 'before the first access',
  reading: 'during a read',
  'read-to-write': 'between a read and its write',
  writing: 'during a write',
  'after-write': 'after the write',
};

/**
 * Describes what each kind of fault affected, and suggests how to affect more. A pause that never
 * falls between a read and its write cannot make that write stale. Empty if every seed failed.
 */
export function faultHints(
  scenario: Scenario,
  system: SystemScenario,
  counts: SweepCounts,
): readonly string[] {
  if (counts.seeds === counts.failed) return [];
  const kinds = [...new Set(scenario.faults.map(({ kind }) => kind))];
  return kinds.map((kind) => hintOf(kind, counts.faults[kind], { scenario, system }));
}

interface Setting {
  readonly scenario: Scenario;
  readonly system: SystemScenario;
}

function hintOf(kind: FaultKind, fault: FaultCounts | undefined, setting: Setting): string {
  const stages = fault?.strikes ?? {};
  const total = Object.values(stages).reduce((sum, count) => sum + count, 0);
  if (fault === undefined || total === 0) return `${kind} never fired`;
  const held = Object.entries(WORDS).flatMap(([position, words]) => {
    const count = Object.entries(stages).find(([name]) => name === position)?.[1] ?? 0;
    return count === 0 ? [] : [{ count, words }];
  });
  const grants = held.reduce((sum, { count }) => sum + count, 0);
  const parts = held.map(({ count, words }) => `${groupDigits(count)} ${words}`).join(', ');
  const fired = `fired ${countOf(total, 'time')}`;
  const missed =
    fault.overlapped === 0
      ? `${kind} never fired while a lock was held (${fired})`
      : `${kind} never affected a lock holder (${fired}; a lock was held then on ${countOf(fault.overlapped, 'seed')})`;
  const met = grants === 0 ? missed : `${kind} fired during ${countOf(grants, 'grant')}: ${parts}`;
  return `${met}${adviceOn(kind, stages, setting)}`;
}

/** Suggests how to reach the step at which a write becomes stale, or to outlast the lease. */
function adviceOn(
  kind: FaultKind,
  stages: FaultCounts['strikes'],
  { scenario, system }: Setting,
): string {
  const place = PLACES[kind];
  if (place === undefined) return '';
  const reads = scenario.clients.some(readsFirst);
  const wanted: keyof typeof WORDS =
    kind === 'delay' ? 'writing' : reads ? 'read-to-write' : 'before-access';
  if ((stages[wanted] ?? 0) === 0) {
    const isThere = scenario.faults.some(
      (fault) => fault.kind === kind && fault.fields.some(isAtWrite),
    );
    if (isThere) return `; never ${WORDS[wanted]}`;
    const goal = kind === 'delay' ? 'delay a write' : `${kind} ${WORDS[wanted]}`;
    return `; to ${goal}, try \`${place}\``;
  }
  const longestUs = lengthIn(durationsOf(scenario.bounds, kind), Number.POSITIVE_INFINITY);
  const ttls = scenario.clients.map(({ settings }) => system.clients.ttl ?? settings.ttlUs);
  const ttlUs = Math.min(...ttls);
  if (longestUs > ttlUs) return '';
  return `; it lasts at most ${proseDuration(longestUs)}, but a lease lasts ${proseDuration(ttlUs)}`;
}

const PLACES: Readonly<Partial<Record<FaultKind, string>>> = {
  pause: 'before: write',
  delay: 'message: write',
};

/** Returns true if the field places a fault at each write, as in `PLACES`. */
function isAtWrite({ type, value }: TemplateField): boolean {
  if (type === 'when')
    return value.kind === 'verb' && `${value.side} ${value.verb}` === 'before write';
  if (type !== 'message' || value.kind !== 'verb') return false;
  return value.verb === 'write' && value.leg === 'request';
}

function readsFirst({ workload: { kind, steps } }: ClientScenario): boolean {
  if (kind === 'steps') return steps.some((step) => READING.includes(step.kind));
  return kind === 'read-modify-write' || kind === 'transfer';
}

const READING: readonly string[] = ['read', 'increment', 'transfer', 'memoize'];

/** Suggests how to make clients contend. Omits what the scenario already has. */
export function contentionAdvice(scenario?: Scenario): string {
  const { clients = [], faults = [], bounds } = scenario ?? {};
  const ttlUs = Math.min(...clients.map(({ settings }) => settings.ttlUs));
  const isSplit =
    scenario === undefined || clients.some(({ workload }) => workload.locks.length > 1);
  const isOutlasted = faults.some(
    ({ kind }) => bounds && lengthIn(durationsOf(bounds, kind), Number.POSITIVE_INFINITY) > ttlUs,
  );
  const parts = [isSplit ? 'more `clients` on fewer `locks`' : 'more `clients`'];
  if (!isOutlasted) parts.push('faults that outlast `ttl`');
  return `try ${parts.join(', ')}, or more \`seeds\``;
}

/** The hint is always given if at least one in this many sections gave up. */
const FEW = 10;

/**
 * Compares the time that clients keep trying with the duration of a lease. Empty for asynchronous
 * code.
 */
export function surrenderHints(
  { clients }: Scenario,
  { lock, clients: scenarioClients }: SystemScenario,
  { sections: { began, gaveUp } }: SweepCounts,
  { locks }: Catalogue,
): string[] {
  if (gaveUp === 0 || locks.get(lock)?.buildAsync !== undefined) return [];
  const ttlUs = Math.max(...clients.map(({ settings }) => scenarioClients.ttl ?? settings.ttlUs));
  const tries = clients.map(({ settings }) => {
    const [attempts, eachUs] = [
      scenarioClients.attempts ?? settings.attempts,
      scenarioClients.backoff ?? settings.backoffUs,
    ];
    return { attempts, eachUs, forUs: attempts * eachUs };
  });
  const [least] = tries.sort((a, b) => a.forUs - b.forUs);
  if (least === undefined || (least.forUs >= ttlUs && gaveUp * FEW < began)) return [];
  const { attempts, eachUs, forUs } = least;
  const count = `${groupDigits(gaveUp)} of ${countOf(began, 'section')} gave up`;
  const tried = `${countOf(attempts, 'attempt')} × ${proseDuration(eachUs)} backoff`;
  const compared = forUs < ttlUs ? 'shorter' : 'not shorter';
  const lease = `${compared} than a lease of ${proseDuration(ttlUs)}`;
  return [`${count}: ${tried} is ${proseDuration(forUs)}, ${lease}`];
}
