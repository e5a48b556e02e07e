/**
 * Finds the shortest fault that breaks the claims of a system, at the ttl of its clients and at
 * twice that ttl.
 *
 * A fault is placed at every point that the scenario allows, with every length at which the order
 * of events changes (`placements.ts`), from 0 to more than twice the ttl. The smallest length that
 * breaks a claim is the edge of that claim.
 *
 * A retry rarely meets the end of another client's lease, so the edge would depend on the retry
 * interval. Therefore, the search runs twice. In the second search, the other clients are delayed:
 * their first request arrives when the first client's lease ends.
 */
import type { Catalogue } from '../../catalogue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { examineEither, watchAsync } from '../../host/async/run-async.ts';
import type { FaultTemplate, Scenario, TemplateField } from '../../scenario/scenario.ts';
import type { EdgePoint, SystemEdges } from '../campaign/result.ts';
import { basePlan } from './narrowed.ts';
import { departing, Placements } from './placements.ts';
import { amountingTo, type Watching, watchRun } from './slots.ts';

type EdgeKind = EdgePoint['kind'];

/** Kinds of fault with a duration or a delay. */
const EDGE_KINDS: readonly EdgeKind[] = ['pause', 'delay', 'partition', 'late-timer'];

const TTL_FACTORS = [1, 2];

/** A search in a narrowed scenario. */
export interface EdgeQuestion {
  readonly scenario: Scenario;
  readonly system: string;
  readonly claims: readonly string[];
  /** Maximum number of runs. A kind of fault that needs more than are left is abandoned. */
  readonly mostRuns: number;
}

interface EdgeOptions {
  readonly catalogue: Catalogue;
  /** Called before each run that is judged. */
  readonly shouldStop: () => Promise<boolean>;
}

/** Finds the edges of a system. The stores must be prepared. */
export async function findEdges(
  { scenario, system, claims, mostRuns }: EdgeQuestion,
  options: EdgeOptions,
): Promise<SystemEdges> {
  const points: EdgePoint[] = [];
  const budget = { runs: mostRuns };
  const kinds = EDGE_KINDS.filter((edgeKind) =>
    scenario.faults.some(({ kind }) => kind === edgeKind),
  );
  for (const [at, kind] of kinds.entries()) {
    const faults = scenario.faults.filter((fault) => fault.kind === kind);
    const found: EdgePoint[] = [];
    for (const factor of TTL_FACTORS) {
      const plan = basePlan(scenario, system);
      const clients = plan.clients.map((client) => ({ ...client, ttlUs: factor * client.ttlUs }));
      const base = { ...plan, clients };
      const edges = await edgesAt(base, { faults, claims, budget }, options);
      if (edges === null) return { points, givenUp: kinds.slice(at) };
      const ttlUs = longestTtl(base);
      for (const claim of claims) {
        found.push({ kind, claim, ttlUs, edgeUs: edges.get(claim) ?? null });
      }
    }
    points.push(...found);
  }
  return { points, givenUp: [] };
}

interface Search {
  readonly faults: readonly FaultTemplate[];
  readonly claims: readonly string[];
  /** The number of runs left. */
  readonly budget: { runs: number };
}

/** Returns the smallest length by claim. Null if the search was stopped or needs too many runs. */
async function edgesAt(
  base: Plan,
  { faults, claims, budget }: Search,
  { catalogue, shouldStop }: EdgeOptions,
): Promise<ReadonlyMap<string, number> | null> {
  // Longer than two leases and all messages of a section.
  const maxUs = 2 * longestTtl(base) + 10 * base.network.latencyUs;
  const templates = faults.map((fault) => {
    const fields = fault.fields.map((field): TemplateField => {
      return field.type === 'duration' ? { ...field, value: { minUs: 0, maxUs } } : field;
    });
    return { ...fault, fields };
  });
  const tried: { readonly us: number; readonly plan: Plan }[] = [];
  const watching = { catalogue, watch: watchAsync };
  for (const plan of await beginnings(withTimeFor(maxUs, base), watching)) {
    const placed = await new Placements(plan, templates, watching).after([]);
    budget.runs -= placed.length;
    for (const { next, amounts } of placed) {
      if (next.kind === 'swap') continue;
      for (const us of amounts ?? []) {
        tried.push({ us, plan: departing(plan, [amountingTo(next, us)]) });
      }
    }
  }
  const edges = new Map<string, number>();
  for (const { us, plan } of tried.sort((a, b) => a.us - b.us)) {
    const open = claims.filter((claim) => !edges.has(claim));
    if (open.length === 0) break;
    if (budget.runs <= 0 || (await shouldStop())) return null;
    budget.runs -= 1;
    const { verdicts } = await examineEither(plan, open, catalogue);
    for (const [at, claim] of open.entries()) {
      if (verdicts[at]?.kind === 'invalid') edges.set(claim, us);
    }
  }
  return edges;
}

function longestTtl({ clients }: Plan): number {
  return Math.max(...clients.map(({ ttlUs }) => ttlUs));
}

function withTimeFor(us: number, plan: Plan): Plan {
  const { healAtUs, endUs } = plan.limits;
  const byUs = 4 * us;
  const limits = { ...plan.limits, healAtUs: healAtUs + byUs, endUs: endUs + 4 * byUs };
  return { ...plan, limits };
}

/** Returns the plan and, if possible, a copy with the other clients delayed to the lease's end. */
async function beginnings(base: Plan, watching: Watching): Promise<readonly Plan[]> {
  const [holder, rival] = base.clients;
  if (holder === undefined || rival === undefined) return [base];
  const { events } = (await watchRun(base, watching)).trace;
  const [lease] = events.flatMap((event) => {
    const isLease = event.kind === 'grant' || (event.kind === 'key-change' && event.isDone);
    const isAtServer = isLease && event.process !== event.client;
    return isAtServer && event.client === holder.name ? [event] : [];
  });
  if (lease === undefined || lease.untilUs === null) return [base];
  const asked = events.find((event) => {
    return event.kind === 'receive' && event.from === rival.name && event.to === lease.process;
  });
  const lateUs = lease.untilUs - (asked?.atUs ?? Infinity);
  return lateUs > 0 ? [base, beginningLater(lateUs, base)] : [base];
}

function beginningLater(us: number, plan: Plan): Plan {
  const [first, ...others] = plan.clients;
  const later = others.map((client) => ({
    ...client,
    sections: client.sections.map((section, at) => {
      return at === 0 ? { ...section, thinkUs: section.thinkUs + us } : section;
    }),
  }));
  return { ...plan, clients: first === undefined ? [] : [first, ...later] };
}
