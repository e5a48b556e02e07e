/**
 * Computes the limits of a scenario's runs and the bounds for shrinking. Defaults leave enough time
 * for all work.
 */

import type { RangeUs } from '../core/plan/duration.ts';
import { type FaultKind, fieldsOfKind } from '../core/plan/fault.ts';
import { HEARTBEAT } from '../core/plan/operation-names.ts';
import { formatPlace } from '../core/plan/places.ts';
import {
  type Bounds,
  CAPS,
  type DurationBounds,
  type FaultPlace,
  type FaultPlaces,
  LIMIT_DEFAULTS,
  type Limits,
  QUEUE_DEFAULTS,
} from '../core/plan/plan.ts';
import type { ReadStep } from '../core/plan/work-text.ts';
import type { UnplacedProblem } from '../text/problem.ts';
import { countOf, groupDigits } from '../text/prose.ts';
import { type ReadFault, rangeIn } from './read-faults.ts';
import type { ClientScenario, FaultTemplate, Place, SystemScenario, Workload } from './scenario.ts';
import type { ListedFile } from './scenario-file.ts';

const LATENCY: RangeUs = { minUs: 1_000, maxUs: 3_000 };
/** Times are rounded up to a multiple of this, for readability. */
const ROUND_US = 10_000;
/** Upper bound on the events per section, including retries of a busy lock. */
const EVENTS_PER_SECTION = 2_000;

export function latencyOf({ network }: ListedFile): RangeUs {
  return network?.latency ?? LATENCY;
}

/** Returns the limits of every run of the scenario. */
export function buildLimits(file: ListedFile, clients: readonly ClientScenario[]): Limits {
  const latencyUs = latencyOf(file).maxUs;
  let workUs = 0;
  let thinkUs = 0;
  let sections = 0;
  for (const client of clients) {
    const { totalUs } = sectionTime(client, { latencyUs, opens: true });
    workUs += client.sections * (totalUs + client.settings.backoffUs + latencyUs);
    thinkUs = Math.max(thinkUs, client.sections * client.think.maxUs);
    sections += client.sections;
  }
  const ttlUs = Math.max(...clients.map(({ settings }) => settings.ttlUs));
  const faultUs = Math.max(0, ...file.faults.map(latestUs));
  const healAtUs =
    file.time ?? capped(roundUp(workUs + thinkUs + faultUs + 2 * ttlUs + queueUs(file)));
  const slackUs = file.slack ?? capped(roundUp(workUs));
  return {
    healAtUs,
    probe: file.probe ?? LIMIT_DEFAULTS.probe,
    slackUs,
    endUs: capped(Math.max(LIMIT_DEFAULTS.endUs, 2 * (healAtUs + slackUs + workUs + 2 * ttlUs))),
    maxEvents:
      file.maxEvents ??
      Math.min(CAPS.maxEvents, Math.max(LIMIT_DEFAULTS.maxEvents, sections * EVENTS_PER_SECTION)),
  };
}

function queueUs({ queue }: ListedFile): number {
  if (queue === undefined) return 0;
  const latest = Math.max(0, ...(queue.messages ?? []).map(({ at = 0 }) => at));
  const copy = Math.max(0, ...(queue.copies ?? []).map(({ after = 0 }) => after));
  const drawn = queue.duplicates?.after?.maxUs ?? 0;
  return latest + Math.max(copy, drawn) + 2 * (queue.visibility ?? QUEUE_DEFAULTS.visibilityUs);
}

function roundUp(us: number): number {
  return Math.ceil(us / ROUND_US) * ROUND_US;
}

function capped(us: number): number {
  return Math.min(us, Number.MAX_SAFE_INTEGER);
}

/** Returns the latest time at which a fault may end. */
function latestUs(fault: ReadFault): number {
  const lasting = fieldsOfKind(fault.kind)
    .filter(({ type }) => type === 'duration' || type === 'durationOrNever')
    .map(({ inFiles }) => rangeIn(fault, inFiles)?.maxUs ?? 0);
  return (rangeIn(fault, 'at')?.maxUs ?? 0) + Math.max(0, ...lasting);
}

/** Returns the ranges that the file allows. Every plan of the scenario is within them. */
export function buildBounds(
  file: ListedFile,
  clients: readonly ClientScenario[],
  faults: readonly FaultTemplate[],
): Bounds {
  const durations: { -readonly [Kind in FaultKind]?: DurationBounds[Kind] } = {};
  const declared = { skewUs: file.clocks?.skew ?? null, driftPpm: file.clocks?.drift ?? null };
  let { skewUs, driftPpm } = declared;
  for (const fault of faults) {
    durations[fault.kind] ??= apart(faults.filter(({ kind }) => kind === fault.kind));
    // A fault may exceed the declared clock bounds. Locks may still rely on the declared bounds.
    for (const { type, value } of fault.fields) {
      if (type === 'step' && skewUs !== null) skewUs = Math.max(skewUs, largest(value));
      if (type === 'rate' && driftPpm !== null) driftPpm = Math.max(driftPpm, largest(value));
    }
  }
  const think = clients.map((client) => client.think).reduce((a, b) => hull(a, b));
  const places = placesOf(faults);
  const ranges = { latency: latencyOf(file), think, durations };
  const hasPlaces = Object.keys(places).length > 0;
  const bounds = { ...ranges, ...(hasPlaces ? { places } : {}), skewUs, driftPpm };
  const isBeyond = skewUs !== declared.skewUs || driftPpm !== declared.driftPpm;
  return isBeyond ? { ...bounds, declared } : bounds;
}

function placesOf(faults: readonly FaultTemplate[]): FaultPlaces {
  const places: { -readonly [Kind in FaultKind]?: readonly FaultPlace[] } = {};
  for (const { kind, fields } of faults) {
    for (const { type, value } of fields) {
      if (type !== 'when') continue;
      const known = places[kind] ?? [];
      const texts = new Set(known.map(formatPlace));
      places[kind] = [
        ...known,
        ...allowedBy(value).filter((place) => !texts.has(formatPlace(place))),
      ];
    }
  }
  return places;
}

function allowedBy(place: Place): readonly FaultPlace[] {
  switch (place.kind) {
    case 'at':
      return [{ kind: 'time', at: place.at }];
    case 'anywhere':
      return [{ kind: 'any point' }, { kind: 'time', at: place.at }];
    case 'verb':
      return [{ kind: place.side, point: place.verb }];
    case 'point':
      return [{ kind: place.side, point: place.point }];
  }
}

const NOTHING: RangeUs = { minUs: 0, maxUs: 0 };

/** Returns the durations of these faults: one range, or several if there are gaps. */
function apart(faults: readonly FaultTemplate[]): RangeUs | readonly RangeUs[] {
  const ranges = faults
    .flatMap(({ fields }) => fields)
    .flatMap(({ type, value }) =>
      (type === 'duration' || type === 'durationOrNever') && value !== null ? [value] : [],
    )
    .sort((a, b) => a.minUs - b.minUs);
  const [first = NOTHING, ...rest] = ranges;
  const found = [first];
  for (const range of rest) {
    const last = found.at(-1) ?? first;
    if (range.minUs <= last.maxUs + 1) found.splice(-1, 1, hull(last, range));
    else found.push(range);
  }
  return found.length === 1 ? (found[0] ?? first) : found;
}

function hull(a: RangeUs, b: RangeUs): RangeUs {
  return { minUs: Math.min(a.minUs, b.minUs), maxUs: Math.max(a.maxUs, b.maxUs) };
}

function largest({ minUs, maxUs }: RangeUs): number {
  return Math.max(Math.abs(minUs), Math.abs(maxUs));
}

/** Reports too many sections for one run, which would silently take minutes and gigabytes. */
export function sizeFindings(clients: readonly ClientScenario[]): readonly UnplacedProblem[] {
  const sections = clients.reduce((sum, client) => sum + client.sections, 0);
  if (sections <= CAPS.sections) return [];
  const all = `${countOf(clients.length, 'client')} have ${countOf(sections, 'section')} in all`;
  const what = `${all}; at most ${groupDigits(CAPS.sections)} are allowed: use fewer, and more seeds`;
  return [{ path: ['clients'], isKey: true, what }];
}

/** Minimum size of a crowd at one lock. The attempts of n polling clients grow with n². */
const CROWD = 50;

/** Warns if a crowd of clients polls a lock whose clients could wait in a queue. */
function crowdWarnings(
  clients: readonly ClientScenario[],
  systems: readonly SystemScenario[],
): readonly UnplacedProblem[] {
  const counts = new Map<string, number>();
  for (const { workload } of clients) {
    for (const lock of workload.locks) counts.set(lock, (counts.get(lock) ?? 0) + 1);
  }
  const most = Math.max(0, ...counts.values());
  if (most < CROWD) return [];
  return systems.flatMap(({ name, lock, options }) => {
    const { waits = 'retry' } = options;
    if (lock !== 'lock-service' || waits !== 'retry') return [];
    const tries = 'poll one lock, so events grow with the square of their number';
    const what = `${most} clients ${tries}; with waits: in-line, each requests it once`;
    return [{ path: ['systems', name], isKey: true, what }];
  });
}

/** Warns of probable mistakes: work that outlasts its lease, and faults after healing. */
export function warnings(
  file: ListedFile,
  clients: readonly ClientScenario[],
  {
    systems,
    limits,
    hasServer,
  }: {
    readonly systems: readonly SystemScenario[];
    readonly limits: Limits;
    /** Returns true if a server grants the system's lock. Without a server, there is no lease. */
    readonly hasServer: (system: SystemScenario) => boolean;
  },
): readonly UnplacedProblem[] {
  const latencyUs = latencyOf(file).maxUs;
  // A heartbeat extends the lease until the work ends.
  const leasing = systems.filter(
    (system) => hasServer(system) && !(system.operations ?? []).includes(HEARTBEAT),
  );
  const longest = leasing.flatMap((system) =>
    clients.flatMap((client) => {
      const ttlUs = system.clients.ttl ?? client.settings.ttlUs;
      const opens = system.store === 'fenced-open';
      const { leasedUs } = sectionTime(client, { latencyUs, opens });
      return leasedUs < ttlUs ? [] : [{ system, client, ttlUs, leasedUs }];
    }),
  );
  const found: UnplacedProblem[] = [...crowdWarnings(clients, systems)];
  const [worst] = longest.sort((a, b) => b.leasedUs - b.ttlUs - (a.leasedUs - a.ttlUs));
  if (worst !== undefined) {
    const took = `may take ${worst.leasedUs / 1_000} ms without any fault`;
    const lease = `and its lease ends after ${worst.ttlUs / 1_000} ms`;
    const what = `a section of ${worst.client.name} in system ${worst.system.name} ${took}, ${lease}`;
    found.push({ path: ['clients'], isKey: true, what });
  }
  for (const [index, fault] of file.faults.entries()) {
    const at = rangeIn(fault, 'at');
    if (at === undefined || at.maxUs < limits.healAtUs) continue;
    const what = 'may be after the world has healed; the fault then never fires';
    found.push({ path: ['faults', index, fault.kind, 'at'], isKey: false, what });
  }
  return found;
}

/** Durations of a section without faults. Every message takes the maximum latency. */
interface SectionTime {
  /** From sending the acquire to handling the last access that needs the lease. */
  readonly leasedUs: number;
  /** From the first attempt to the end of the section. */
  readonly totalUs: number;
}

/** If `opens`, the client announces its token first. */
function sectionTime(
  client: ClientScenario,
  { latencyUs, opens }: { readonly latencyUs: number; readonly opens: boolean },
): SectionTime {
  const roundTrip = 2 * latencyUs;
  let nowUs = roundTrip + (opens ? roundTrip : 0);
  let leaseFromUs = 0;
  let longestUs = 0;
  for (const step of stepsOf(client.workload)) {
    const tookUs = stepUs(step, latencyUs);
    // Only the request needs the lease, not the reply.
    if (step.kind !== 'compute') {
      longestUs = Math.max(
        longestUs,
        nowUs + Math.max(tookUs, roundTrip) - latencyUs - leaseFromUs,
      );
    }
    if (step.kind === 'renew') leaseFromUs = nowUs;
    nowUs += tookUs;
  }
  const endUs = nowUs + roundTrip;
  const { ttlUs, releases } = client.settings;
  return { leasedUs: longestUs, totalUs: releases ? endUs : Math.max(endUs, ttlUs + latencyUs) };
}

type Timed = Exclude<ReadStep, { readonly kind: 'memoize' }>;

function stepsOf(workload: Workload): readonly Timed[] {
  const { kind, writesPerGrant, awaits, steps } = workload;
  if (kind === 'steps') return steps.flatMap(timedOf);
  const step: Timed =
    kind === 'blind-writes'
      ? { kind: 'write', awaits }
      : { kind: kind === 'transfer' ? kind : 'increment' };
  return Array.from({ length: writesPerGrant }, () => step);
}

/** Expands a memoize. Each of several pieces has its own write and renew. */
function timedOf(step: ReadStep): readonly Timed[] {
  if (step.kind !== 'memoize') return [step];
  const { forUs, pieces = 1 } = step;
  const read = { kind: 'read' } as const;
  const compute = { kind: 'compute', forUs } as const;
  const write = { kind: 'write' } as const;
  if (pieces === 1) return [read, read, compute, write];
  const piece = [compute, write, { kind: 'renew' }] as const;
  return [read, read, ...Array.from({ length: pieces }, () => piece).flat(), write];
}

function stepUs(step: Timed, latencyUs: number): number {
  switch (step.kind) {
    case 'write':
      return step.awaits === false ? 0 : 2 * latencyUs;
    case 'increment':
      return 4 * latencyUs;
    case 'transfer':
      return 8 * latencyUs;
    case 'compute':
    case 'job':
    case 'transition':
      return step.forUs;
    default:
      return 2 * latencyUs;
  }
}
