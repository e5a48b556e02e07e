/**
 * Runs a campaign over scenarios. Per scenario, it replays the kept plans, checks a few seeds for
 * determinism, sweeps the rest, shrinks the failures and draws a conclusion. The callers are `run`,
 * shards, the fleet and `simTest`. They choose the seeds, the executor of the runs and the stop
 * condition, print events, and report the `Result`. This module does no I/O.
 *
 * A shard writes its `Examined` to a file. The merge passes it to `campaign`, which then only draws
 * the conclusion.
 *
 * Read next, in this order: `setting.ts` (input and output), `count-plans.ts` (for an exhaustive
 * search), `self-check.ts`, `conclude.ts` (judges expectations), `shrink-failures.ts`, `result.ts`
 * (the schema of the result).
 */

import { yieldToEventLoop } from '../../host/async/ambient.ts';
import { withLabel } from '../../host/async/progress-beacon.ts';
import type { Scenario } from '../../scenario/scenario.ts';
import { prepare } from '../../systems/store/store-kinds.ts';
import { type KeptReplay, replayKept } from '../corpus/kept-replay.ts';
import { systemsThatDie } from '../sweep/alike.ts';
import { claimCounts, type SweepCounts } from '../sweep/counts.ts';
import { unexpectedIn } from '../sweep/expected.ts';
import { firstOf, type KeptOutcome, rangeOfShard, type SeedRange } from '../sweep/shards.ts';
import { sweep } from '../sweep/sweep.ts';
import type { Named, TaskContext } from '../sweep/tasks.ts';
import { concludeScenario, resultOf } from './conclude.ts';
import { countAllPlans, rangesOf, widest } from './count-plans.ts';
import type { Result, StopReason } from './result.ts';
import { ALL_REPEATED, checkReuse, selfCheck } from './self-check.ts';
import {
  type CampaignEvent,
  type CampaignSetting,
  type Concluded,
  DAMAGED,
  type Examined,
  isOver,
  type KeptPlan,
  type Subject,
  type SweepEnd,
  type SweepJournal,
  tasksOf,
} from './setting.ts';

/** Examines and concludes the scenarios, one after the other. */
export async function campaign(
  subjects: readonly Subject[],
  setting: CampaignSetting,
): Promise<Result> {
  const all: Concluded[] = [];
  for (const subject of subjects) {
    await setting.emit({ kind: 'scenario', subject });
    await prepare(subject.scenario.systems, subject.catalogue);
    setting.pool?.restorePatience();
    const examined = await (setting.examined?.(subject) ?? examineScenario(subject, setting));
    const concluded = await concludeScenario(subject, examined, setting);
    all.push(concluded);
    await setting.emit({ kind: 'conclusion', subject, examined, concluded });
    if (setting.isInterrupted()) break;
  }
  return resultOf(all, { asked: subjects.length, isInterrupted: setting.isInterrupted() });
}

async function examineScenario(subject: Subject, setting: CampaignSetting): Promise<Examined> {
  const { shard, emit } = setting;
  const { scenario } = subject;
  const tasks = tasksOf(subject, setting);
  const plans = await countPlans(subject, tasks, setting);
  const range = setting.range ?? (plans === null ? { from: 0, to: -1 } : widest(plans));
  const part = shard === null ? range : rangeOfShard(range, shard);
  const journal = setting.journal(subject, range);
  const keptPlans = await replayKeptPlans(subject, setting);
  const { repeated, difference, lost } = await selfCheck(scenario, part, setting.repeats, tasks);
  await emit({ kind: 'repeated', subject, runs: repeated, difference, lost });
  const isSwept = plans === null && setting.chunkSeeds === undefined;
  const dying = isSwept && lost === null ? await systemsThatDie(scenario, range, tasks) : [];
  for (const system of dying) await emit({ kind: 'dies', system });
  const reusing: string[] = [];
  if (plans === null && setting.reusesRealms && lost === null) {
    const isThorough = setting.repeats === ALL_REPEATED;
    const systems = scenario.systems.filter(({ name }) => !dying.includes(name));
    for (const check of await checkReuse(
      { ...scenario, systems },
      { all: range, part },
      isThorough,
      tasks,
    )) {
      if (check.why === null) reusing.push(check.system);
      await emit({ kind: 'modules', ...check });
    }
  }
  const swept = await sweepPart(
    subject,
    { range, part, plans, reusing, dying },
    { journal, setting },
  );
  const isPart = shard !== null;
  return { range, isPart, keptPlans, repeated, difference, plans, ...swept };
}

async function countPlans(
  subject: Subject,
  tasks: TaskContext,
  { emit }: CampaignSetting,
): Promise<Examined['plans']> {
  if (subject.scenario.exhaust === undefined) return null;
  const plans = await countAllPlans(subject.scenario, tasks, (system, why) =>
    emit({ kind: 'not counted', system, why }),
  );
  await emit({ kind: 'plans counted', subject, plans });
  return plans;
}

/** Replays the kept plans of a scenario. Emits each outcome. */
export async function replayKeptPlans(
  subject: Subject,
  setting: Pick<CampaignSetting, 'keptPlans' | 'emit' | 'named' | 'isInterrupted' | 'isOutOfTime'>,
): Promise<readonly KeptOutcome[]> {
  const { keptPlans, emit, named } = setting;
  const outcomes: KeptOutcome[] = [];
  for await (const kept of keptPlans(subject)) {
    await yieldToEventLoop();
    if (isOver(setting)) break;
    const replay = await replayKeptPlan(kept, named);
    const outcome = keptOutcomeOf(kept, replay);
    outcomes.push(outcome);
    await emit({ kind: 'kept plan', kept, replay, outcome });
  }
  await emit({ kind: 'kept plans', subject, outcomes });
  return outcomes;
}

/** Replays a kept plan, or returns null if the plan is damaged. */
export async function replayKeptPlan(
  kept: KeptPlan,
  named: Named = ({ what }, work) => withLabel(what, work),
): Promise<KeptReplay | null> {
  if (kept.kind === 'damaged') return null;
  const { file, plan, catalogue, hasChanged } = kept;
  await prepare([plan.system], catalogue);
  return await named({ what: file, file }, () => replayKept(plan, { catalogue, hasChanged }));
}

/** Returns the outcome of a replay for the result. */
export function keptOutcomeOf(
  { file }: Pick<KeptPlan, 'file'>,
  replay: KeptReplay | null,
): KeptOutcome {
  if (replay === null) {
    return { file, outcome: DAMAGED, expected: 'reproduced', divergedAt: null };
  }
  const { outcome, expected, divergedAt } = replay;
  return { file, outcome, expected, divergedAt };
}

interface SweptPart {
  readonly range: SeedRange;
  readonly part: SeedRange;
  readonly plans: Examined['plans'];
  readonly reusing: readonly string[];
  readonly dying: readonly string[];
}

async function sweepPart(
  { scenario, catalogue }: Subject,
  { range, part, plans, reusing, dying }: SweptPart,
  context: { readonly journal: SweepJournal | null; readonly setting: CampaignSetting },
): Promise<Pick<Examined, 'countsBySystem' | 'cutShort' | 'milliseconds'>> {
  const { journal, setting } = context;
  const { pool, named, emit, isInterrupted, chunkSeeds } = setting;
  const startedMs = performance.now();
  const findFailures = failureFinder(scenario);
  let runs = 0;
  let stop: SweepEnd | null = null;
  const { countsBySystem, isComplete, milliseconds } = await sweep(scenario, {
    ...part,
    pool,
    catalogue,
    reusing,
    finished: journal?.finished ?? [],
    ranges:
      plans === null
        ? new Map(dying.map((system) => [system, firstOf(range, part)]))
        : rangesOf(plans, range, setting.shard),
    ...(chunkSeeds === undefined ? {} : { chunkSeeds }),
    ...(named === undefined ? {} : { named }),
    onFinished: (chunk, counts) => {
      runs += counts.seeds;
      for (const failure of findFailures(chunk.system, counts)) void emit(failure);
      journal?.add(chunk, counts);
      void emit({ kind: 'examined', chunk, counts });
    },
    onDifference: (system, { seed, what }) => {
      journal?.forget(system);
      void emit({ kind: 'begun again', system, seed, what });
    },
    isGivenUp: isInterrupted,
    shouldStop: () => {
      stop ??= setting.stop();
      return stop !== null;
    },
    onProgress: (progress) => {
      const seconds = (performance.now() - startedMs) / 1000;
      void emit({ kind: 'progress', runs, seconds, ...progress });
    },
  });
  const killed = [...countsBySystem.values()].reduce((sum, counts) => sum + counts.killed, 0);
  const isShort = !isComplete && stop !== 'enough';
  const by = isInterrupted() ? 'interrupted' : killed > 0 ? 'hangs' : stopReasonOf(stop);
  const cutShort = isShort ? { asked: part.to - part.from + 1, by } : null;
  await emit({ kind: 'swept', part, runs, milliseconds, killed, cutShort });
  return { countsBySystem, cutShort, milliseconds: (journal?.milliseconds ?? 0) + milliseconds };
}

/** Returns a function that finds unexpected breaches, once per system and claim. */
export function failureFinder({
  systems,
}: Pick<Scenario, 'systems'>): (system: string, counts: SweepCounts) => readonly FailureFound[] {
  const found = new Set<string>();
  return (system, counts) => {
    const known = systems.find(({ name }) => name === system);
    const broken = known === undefined ? [] : unexpectedIn(known, counts);
    return broken.flatMap((claim): readonly FailureFound[] => {
      const [seed] = claimCounts(counts, claim).brokenSeeds;
      if (seed === undefined || found.has(`${system} ${claim}`)) return [];
      found.add(`${system} ${claim}`);
      return [{ kind: 'failure found', system, claim, seed }];
    });
  };
}

type FailureFound = Extract<CampaignEvent, { readonly kind: 'failure found' }>;

function stopReasonOf(stop: SweepEnd | null): StopReason {
  return stop === null || stop === 'enough' ? 'time' : stop;
}
