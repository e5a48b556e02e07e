/**
 * `run --exhaust`: narrows scenarios to what was asked for, counts their plans before any is
 * judged, so that too many are refused at once, and has the edges of what broke searched.
 */
import { faultsText, tooManyText } from '../report/exhausted.ts';
import type { ExhaustScope, SystemScenario } from '../scenario/scenario.ts';
import type { SystemEdges } from '../search/exhaust/edge.ts';
import { NumberedPlans, type PlanCount } from '../search/exhaust/exhaust.ts';
import { narrowed } from '../search/exhaust/narrowed.ts';
import { rangeOfShard, type SeedRange, type Shard } from '../search/sweep/shards.ts';
import type { NumberRange } from '../search/sweep/sweep.ts';
import { claimTally, type Tally } from '../search/sweep/tally.ts';
import { performTask, type TaskContext } from '../search/sweep/tasks.ts';
import { groupDigits } from '../text/prose.ts';
import { UserError } from './exit.ts';
import { breathe } from './interruption.ts';
import type { LoadedScenario } from './sources.ts';
import type { Terminal } from './terminal.ts';

/** The plans of one system: how many there are, and each by its number. */
export interface ExhaustedPlans {
  readonly plans: number;
  readonly numbered: NumberedPlans;
  /** All of them. */
  readonly range: NumberRange;
}

/** The scenario as far as it is to be exhausted. */
export function narrowedTo(loaded: LoadedScenario, scope: ExhaustScope): LoadedScenario {
  return { ...loaded, scenario: narrowed(loaded.scenario, scope) };
}

interface CountContext extends Pick<TaskContext, 'pool'> {
  readonly terminal: Terminal;
  readonly isInterrupted: () => boolean;
}

/**
 * All plans of each system of a narrowed scenario. A `UserError` says where there are too many. Of
 * a system whose plans could not be counted, as a run did not end, there is the one without faults.
 */
export async function countAll(
  loaded: LoadedScenario,
  context: CountContext,
): Promise<ReadonlyMap<string, ExhaustedPlans>> {
  const { scenario } = loaded;
  const all = new Map<string, ExhaustedPlans>();
  for (const { name: system } of scenario.systems) {
    const { plans, blocks, cut } = await count(loaded, system, context);
    if (cut === 'too many') throw new UserError([tooMany(loaded, system, plans)]);
    const numbered = new NumberedPlans(scenario, system, blocks);
    all.set(system, { plans, numbered, range: { from: 0, to: plans - 1, blocks } });
  }
  const counts = [...all].map(([system, { plans }]) => `${system} ${groupDigits(plans)}`);
  context.terminal.note(`  plans with ${faultsText(scenario)}: ${counts.join(', ')}`);
  return all;
}

function tooMany({ scenario, file }: LoadedScenario, system: string, plans: number): string {
  const fewer = 'take a smaller --exhaust, fewer --clients or --sections, or fewer kinds of fault';
  return `${file}:1:1 systems.${system}: ${tooManyText(scenario, plans)}: ${fewer}`;
}

const NOT_COUNTED: PlanCount = { plans: 1, blocks: [], cut: 'stopped' };

async function count(
  { scenario, catalogue }: LoadedScenario,
  system: string,
  { pool, terminal, isInterrupted }: CountContext,
): Promise<PlanCount> {
  await breathe();
  const task = { kind: 'count', scenario, system } as const;
  const end = await performTask(task, { pool, catalogue, isGivenUp: isInterrupted });
  if (end.kind === 'counted') return end.count;
  if (end.kind === 'lost') terminal.print(`✗ ${system}: ${end.where}: ${end.why}`);
  if (end.kind === 'threw') terminal.print(`✗ ${system}: ${end.error}`);
  return NOT_COUNTED;
}

/** The numbers of all plans of the system that has most. */
export function widest(all: ReadonlyMap<string, ExhaustedPlans>): SeedRange {
  return { from: 0, to: Math.max(...[...all.values()].map(({ plans }) => plans)) - 1 };
}

/** The plans of each system that one shard examines; without one, all. */
export function rangesOf(
  all: ReadonlyMap<string, ExhaustedPlans>,
  shard: Shard | null,
): ReadonlyMap<string, NumberRange> {
  const part = (range: SeedRange): SeedRange =>
    shard === null ? range : rangeOfShard(range, shard);
  return new Map([...all].map(([system, { range }]) => [system, { ...range, ...part(range) }]));
}

/** The plans of each system by their numbers. */
export function numberedOf(
  all: ReadonlyMap<string, ExhaustedPlans>,
): ReadonlyMap<string, NumberedPlans> {
  return new Map([...all].map(([system, { numbered }]) => [system, numbered]));
}

/** Runs that a search for edges may take per plan of the system, and how many at least. */
const EDGE_RUNS_PER_PLAN = 4;
const LEAST_EDGE_RUNS = 1_000;

/** From which length on a fault breaks the claims that broke; none where none did. */
export async function edgesOf(
  { scenario, catalogue }: LoadedScenario,
  { name: system, expect }: SystemScenario,
  { tally, plans }: { readonly tally: Tally; readonly plans: number },
  { pool, isGivenUp }: Pick<TaskContext, 'pool' | 'isGivenUp'>,
): Promise<readonly SystemEdges[]> {
  const listed = [...expect.breaks, ...expect.holds];
  const claims = listed.filter((claim) => claimTally(tally, claim).broken > 0);
  if (claims.length === 0 || isGivenUp()) return [];
  const mostRuns = Math.max(EDGE_RUNS_PER_PLAN * plans, LEAST_EDGE_RUNS);
  const task = { kind: 'edges', scenario, system, claims, mostRuns } as const;
  const end = await performTask(task, { pool, catalogue, isGivenUp });
  return end.kind === 'edges' && !isGivenUp() ? [end.edges] : [];
}
