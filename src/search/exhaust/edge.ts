/**
 * Where the edge is between what breaks a claim and what does not: how long a fault may last, over
 * a parameter that the system is set up with.
 *
 * At each value of the parameter every plan is examined with at most so many faults of one kind, at
 * every place and with every length up to a largest one, as `exhaust.ts` has them. The least length
 * with which some plan breaks the claim is the edge there. A second search up to just below it has
 * to find nothing, since thresholds are read off runs and those below may be others; what it finds
 * is the edge instead, until one finds nothing. So both sides of the edge are decided by search.
 *
 * Where all edges lie on one line `length > a × ttl + b × latency + c`, that line is said. Two more
 * points, off the row, tell the share of the ttl from that of the latency.
 */
import type { Catalogue } from '../../catalogue.ts';
import { amountOf, type Fault, type FaultKind } from '../../core/plan/fault.ts';
import type { Limits, Plan, RangeUs } from '../../core/plan/plan.ts';
import { examineEither, watchAsync } from '../../host/async/run-async.ts';
import type {
  FaultTemplate,
  Scenario,
  SystemScenario,
  TemplateField,
} from '../../scenario/scenario.ts';
import { countPlans, NumberedPlans } from './exhaust.ts';
import { basePlan } from './narrowed.ts';
import { watchRun } from './slots.ts';

export const EDGE_PARAMETERS = ['ttl', 'latency'] as const;

export type EdgeParameter = (typeof EDGE_PARAMETERS)[number];

/** The kinds of fault that last, or are late by, a time. */
export const EDGE_KINDS = ['pause', 'delay', 'partition', 'late-timer'] as const;

export interface Axes {
  readonly kind: (typeof EDGE_KINDS)[number];
  readonly parameter: EdgeParameter;
}

/** What the system is set up with at one point of the map. */
interface Setting {
  readonly ttlUs: number;
  readonly latencyUs: number;
}

export interface EdgePoint extends Setting {
  /** The least length with which some plan breaks it; null where none up to `mostUs` does. */
  readonly edgeUs: number | null;
  readonly mostUs: number;
  /** How many plans with lengths up to `mostUs` there are. */
  readonly plans: number;
}

/** It breaks iff a fault is longer than `ttl × ttlUs + latency × latencyUs + restUs`. */
export interface EdgeLine {
  readonly ttl: number;
  readonly latency: number;
  readonly restUs: number;
}

export interface ClaimEdge {
  readonly system: string;
  readonly claim: string;
  /** Along the parameter, in ascending order. */
  readonly row: readonly EdgePoint[];
  /** Beside the row, with another value of what is fixed there. */
  readonly beside: readonly EdgePoint[];
  /** Null where the claim holds, or the edges lie on no one line. */
  readonly line: EdgeLine | null;
}

interface EdgeOptions {
  readonly catalogue: Catalogue;
  /** Asked before each plan; may let others have their turn. */
  readonly shouldStop: () => Promise<boolean>;
}

/** There are more plans at a point than are examined. */
export class TooManyPlans extends Error {
  readonly system: string;
  readonly plans: number;

  constructor(system: string, plans: number) {
    super(`${system}: too many plans`);
    this.system = system;
    this.plans = plans;
  }
}

/** The edges of each claim that a system is to hold or to break; null where it was stopped. */
export async function findEdges(
  scenario: Scenario,
  { kind, parameter }: Axes,
  options: EdgeOptions,
): Promise<readonly ClaimEdge[] | null> {
  const { row, beside } = settingsOf(scenario, parameter);
  const edges: ClaimEdge[] = [];
  for (const system of scenario.systems) {
    const claims = [...system.expect.breaks, ...system.expect.holds];
    const found = new Map<string, EdgePoint[]>(claims.map((claim) => [claim, []]));
    for (const setting of [...row, ...beside]) {
      const points = await pointsOf(scenario, { kind, system, setting, claims }, options);
      if (points === null) return null;
      for (const [claim, point] of points) found.get(claim)?.push(point);
    }
    for (const [claim, points] of found) {
      const line = lineThrough(points);
      const parts = { row: points.slice(0, row.length), beside: points.slice(row.length) };
      edges.push({ system: system.name, claim, ...parts, line });
    }
  }
  return edges;
}

const ALONG = [0.5, 0.75, 1, 1.5, 2];

/** Five values of the parameter, and two with another value of the other one. */
function settingsOf(
  { clients, network }: Scenario,
  parameter: EdgeParameter,
): { readonly row: readonly Setting[]; readonly beside: readonly Setting[] } {
  const ttlUs = Math.max(...clients.map(({ settings }) => settings.ttlUs));
  const latencyUs = network.latency.minUs;
  const at = (ttl: number, latency: number): Setting => {
    return { ttlUs: Math.round(ttl * ttlUs), latencyUs: Math.round(latency * latencyUs) };
  };
  const isTtl = parameter === 'ttl';
  const row = ALONG.map((factor) => (isTtl ? at(factor, 1) : at(1, factor)));
  const beside = [1, 2].map((factor) => (isTtl ? at(factor, 2) : at(2, factor)));
  return { row, beside };
}

interface Question {
  readonly kind: FaultKind;
  readonly system: SystemScenario;
  readonly setting: Setting;
  readonly claims: readonly string[];
}

/** Longer than twice the lease, by all messages of a section. */
function mostOf({ ttlUs, latencyUs }: Setting): number {
  return 2 * ttlUs + 10 * latencyUs;
}

async function pointsOf(
  scenario: Scenario,
  { kind, system, setting, claims }: Question,
  options: EdgeOptions,
): Promise<ReadonlyMap<string, EdgePoint> | null> {
  const mostUs = mostOf(setting);
  const leastUpTo = async (us: number, asked: readonly string[]): Promise<Least | null> => {
    const one = setUp(scenario, kind, setting, us);
    const edges = new Map<string, number>();
    let plans = 0;
    for (const lateUs of await beginningsOf(one, system.name, options.catalogue)) {
      const about = { system: system.name, claims: asked, edges };
      const examined = await leastOf(beginningLater(one, lateUs), about, options);
      if (examined === null) return null;
      plans += examined;
    }
    return { plans, edges };
  };
  const first = await leastUpTo(mostUs, claims);
  if (first === null) return null;
  const edges = new Map(first.edges);
  const open = new Set(edges.keys());
  while (open.size > 0) {
    const highest = Math.max(...[...open].map((claim) => edges.get(claim) ?? 0));
    const asked = [...open].filter((claim) => edges.get(claim) === highest);
    const below = highest === 0 ? null : await leastUpTo(highest - 1, asked);
    if (highest > 0 && below === null) return null;
    for (const claim of asked) {
      const less = below?.edges.get(claim);
      if (less === undefined) open.delete(claim);
      else edges.set(claim, less);
    }
  }
  const { plans } = first;
  return new Map(
    claims.map((claim) => {
      return [claim, { ...setting, edgeUs: edges.get(claim) ?? null, mostUs, plans }];
    }),
  );
}

interface Least {
  readonly plans: number;
  /** By claim; none for those that held on every plan. */
  readonly edges: ReadonlyMap<string, number>;
}

/** Notes the least length with which each claim breaks; how many plans, null where stopped. */
async function leastOf(
  scenario: Scenario,
  about: {
    readonly system: string;
    readonly claims: readonly string[];
    edges: Map<string, number>;
  },
  { catalogue, shouldStop }: EdgeOptions,
): Promise<number | null> {
  const { system, claims, edges } = about;
  const { plans, blocks, cut } = await countPlans(scenario, system, {
    catalogue,
    watch: watchAsync,
  });
  if (cut !== null) throw new TooManyPlans(system, plans);
  const numbered = new NumberedPlans(scenario, system, blocks);
  for (let number = 0; number < plans; number += 1) {
    if (await shouldStop()) return null;
    const plan = numbered.planOf(number);
    const longestUs = longestOf(plan);
    const asked = claims.filter((claim) => longestUs < (edges.get(claim) ?? Infinity));
    if (asked.length === 0) continue;
    const { verdicts } = await examineEither(plan, asked, catalogue);
    for (const [at, claim] of asked.entries()) {
      if (verdicts[at]?.kind === 'invalid') edges.set(claim, longestUs);
    }
  }
  return plans;
}

/**
 * How much later the rivals of the first client begin: not at all, and so that their first request
 * arrives as its lease ends, or just after. Who asks again and again would meet that end only by
 * chance, and the edge would lie on the steps of its tries.
 */
async function beginningsOf(
  scenario: Scenario,
  system: string,
  catalogue: Catalogue,
): Promise<readonly number[]> {
  const base = basePlan(scenario, system);
  const { trace } = await watchRun(base, { catalogue, watch: watchAsync });
  const [holder, rival] = base.clients;
  const grant = trace.events.find(
    (event) => event.kind === 'grant' && event.client === holder?.name,
  );
  if (grant?.kind !== 'grant' || grant.untilUs === null || rival === undefined) return [0];
  const asked = trace.events.find((event) => {
    return event.kind === 'receive' && event.from === rival.name && event.to === grant.process;
  });
  const lateUs = grant.untilUs - (asked?.atUs ?? Infinity);
  return lateUs > 0 ? [0, lateUs, lateUs + 1] : [0];
}

function beginningLater(scenario: Scenario, lateUs: number): Scenario {
  const clients = scenario.clients.map((client, at) => {
    const us = client.think.minUs + (at === 0 ? 0 : lateUs);
    return { ...client, think: { minUs: us, maxUs: us } };
  });
  return { ...scenario, clients };
}

function longestOf({ faults }: Plan): number {
  return Math.max(0, ...faults.map((fault) => amountOf(fault) ?? 0));
}

/** The scenario with that setting, and faults of one kind anywhere, up to so long. */
function setUp(
  scenario: Scenario,
  kind: FaultKind,
  { ttlUs, latencyUs }: Setting,
  mostUs: number,
): Scenario {
  const { clients, systems, network } = scenario;
  const templates = scenario.faults.filter((fault) => fault.kind === kind);
  return {
    ...scenario,
    clients: clients.map((client) => ({ ...client, settings: { ...client.settings, ttlUs } })),
    systems: systems.map((system) => ({ ...system, clients: { ...system.clients, ttl: ttlUs } })),
    network: { ...network, latency: { minUs: latencyUs, maxUs: latencyUs } },
    limits: longer(scenario.limits, 4 * mostOf({ ttlUs, latencyUs })),
    faults: templates.map((fault) => anywhere(fault, { minUs: 0, maxUs: mostUs })),
  };
}

function longer(limits: Limits, byUs: number): Limits {
  const { healAtUs, slackUs, endUs } = limits;
  return { ...limits, healAtUs: healAtUs + byUs, slackUs: slackUs + byUs, endUs: endUs + 8 * byUs };
}

function anywhere(fault: FaultTemplate, range: RangeUs): FaultTemplate {
  const fields = fault.fields.map((field): TemplateField => {
    switch (field.type) {
      case 'when':
        return { ...field, value: { kind: 'anywhere', at: { minUs: 0, maxUs: 0 } } };
      case 'message':
      case 'timer':
        return { ...field, value: { kind: 'any' } };
      case 'duration':
        return { ...field, value: range };
      default:
        return field;
    }
  });
  return { ...fault, fields };
}

/** In halves, which is as fine as protocols count. */
const SHARES = Array.from({ length: 25 }, (_, at) => (at - 12) / 2);

/** The line on which the edges of all points lie, as few shares as possible; null for none. */
export function lineThrough(points: readonly EdgePoint[]): EdgeLine | null {
  const [first] = points;
  if (first === undefined || first.edgeUs === null) return null;
  for (const latency of [...SHARES].sort(bySize)) {
    for (const ttl of [...SHARES].sort(bySize)) {
      const restUs = first.edgeUs - 1 - ttl * first.ttlUs - latency * first.latencyUs;
      const isOn = points.every(({ ttlUs, latencyUs, edgeUs }) => {
        return edgeUs !== null && edgeUs - 1 === ttl * ttlUs + latency * latencyUs + restUs;
      });
      if (isOn) return { ttl, latency, restUs };
    }
  }
  return null;
}

function bySize(a: number, b: number): number {
  return Math.abs(a) - Math.abs(b) || b - a;
}

/** The single fault that comes nearest to breaking a claim, by its length; null where none does. */
export interface Nearest {
  readonly system: string;
  readonly claim: string;
  readonly fault: Fault | null;
  /** How many plans with one fault there are. */
  readonly plans: number;
}

/** Of every plan with one fault of a scenario, for claims that hold; null where it was stopped. */
export async function findNearest(
  scenario: Scenario,
  edges: readonly ClaimEdge[],
  { catalogue, shouldStop }: EdgeOptions,
): Promise<readonly Nearest[] | null> {
  const found: Nearest[] = [];
  for (const { name: system } of scenario.systems) {
    const claims = edges.flatMap((edge) =>
      edge.system === system && holdsAll(edge) ? [edge.claim] : [],
    );
    if (claims.length === 0) continue;
    const { plans, blocks, cut } = await countPlans(scenario, system, {
      catalogue,
      watch: watchAsync,
    });
    if (cut !== null) throw new TooManyPlans(system, plans);
    const numbered = new NumberedPlans(scenario, system, blocks);
    const best = new Map<string, Plan>();
    for (let number = 1; number < plans; number += 1) {
      if (await shouldStop()) return null;
      const plan = numbered.planOf(number);
      const { verdicts } = await examineEither(plan, claims, catalogue);
      for (const [at, claim] of claims.entries()) {
        const known = best.get(claim);
        const isNearer = known === undefined || longestOf(plan) < longestOf(known);
        if (verdicts[at]?.kind === 'invalid' && isNearer) best.set(claim, plan);
      }
    }
    for (const claim of claims) {
      found.push({ system, claim, fault: best.get(claim)?.faults[0] ?? null, plans });
    }
  }
  return found;
}

/** Whether no fault of any length broke the claim, anywhere on the map. */
export function holdsAll({ row, beside }: ClaimEdge): boolean {
  return [...row, ...beside].every(({ edgeUs }) => edgeUs === null);
}
