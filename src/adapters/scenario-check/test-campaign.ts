/**
 * Runs the campaign of a test: its seeds on this thread, in order, up to the first that breaks a
 * claim that should hold. Then checks, as `run` does, that the other expectations were met and
 * exercised. If not, the error suggests a remedy.
 */
import { exhaustedTextOf, tooManyText } from '../../report/exhausted.ts';
import { outputBlock } from '../../report/failure.ts';
import type { SystemScenario } from '../../scenario/scenario.ts';
import { campaign } from '../../search/campaign/campaign.ts';
import { TooManyPlans } from '../../search/campaign/count-plans.ts';
import type { Finding, Result, SystemResult } from '../../search/campaign/result.ts';
import type {
  CampaignEvent,
  CampaignSetting,
  Examined,
  SweepEnd,
} from '../../search/campaign/setting.ts';
import {
  claimCounts,
  mergeCounts,
  NO_COUNTS,
  type SweepCounts,
} from '../../search/sweep/counts.ts';
import { isJudged, unexpectedIn } from '../../search/sweep/expected.ts';
import { contentionAdvice } from '../../search/sweep/hints.ts';
import type { RunDifference, SeedRange } from '../../search/sweep/shards.ts';
import { unsimulatedText } from '../../search/sweep/unsimulated.ts';
import { countOf, groupDigits, shellWords } from '../../text/prose.ts';
import { findingOf, seedBlock, showSeed } from './failure-block.ts';
import { KeptPlans, keep } from './kept-plans.ts';
import { type SimRun, trialOf } from './sim-run.ts';
import { commandWith, ScenarioCheckFailed, TestRefused, typedPath } from './test-place.ts';
import { namedInTest } from './watchdog.ts';

/** The number of seeds to run twice, however long that takes. */
const REPEATED = { seeds: 3 } as const;
const NONE_REPEATED = { seeds: 0 } as const;

/** A scenario whose expectations were all met. */
export interface CheckedScenario {
  /** Empty if `FENCEPOST_REPLAY` named a plan, which was run instead of seeds. */
  readonly systems: readonly {
    readonly name: string;
    /** The number of seeds (with `exhaust`: plans) that were examined. */
    readonly seeds: number;
    /** Claims that held on every seed, or broke on at least one, as expected. */
    readonly expectations: readonly {
      readonly claim: string;
      readonly expected: 'holds' | 'breaks';
      /** Number of seeds on which its hazard arose. */
      readonly exercised: number;
      /** Number of seeds that broke it. 0 if only a kept plan broke it. */
      readonly broken: number;
    }[];
  }[];
}

type CheckedSystem = CheckedScenario['systems'][number];
type MetExpectation = CheckedSystem['expectations'][number];

/** Runs `seeds`, or every plan if null. Throws a `ScenarioCheckFailed` on an unmet expectation. */
export async function runTestCampaign(
  run: SimRun,
  seeds: SeedRange | null,
): Promise<CheckedScenario> {
  const { scenario, catalogue, place, stopwatch, requests } = run;
  const isSingle = requests.seed !== null;
  // A claim that should break need not break on a single seed.
  const systems = isSingle ? run.systems.map(expectingNoBreak) : run.systems;
  const subject = { scenario: { ...scenario, systems }, file: place.file, catalogue };
  const test = new TestSweep({ ...run, systems }, run);
  const setting: CampaignSetting = {
    range: seeds,
    shard: null,
    pool: null,
    keptPlans: () => (isSingle ? [] : test.kept.read()),
    repeats: isSingle ? NONE_REPEATED : REPEATED,
    reusesRealms: false,
    journal: () => null,
    chunkSeeds: 1,
    stop: () => test.stop(),
    isInterrupted: () => stopwatch.isCancelled,
    // If failures are to be kept, continue until they are shrunk.
    isOutOfTime: () => stopwatch.isOver && !requests.isUpdate,
    findsEdges: false,
    // A single seed under inspection, or a test without claims and faults, need not exercise
    // anything.
    isCalm: isSingle || (run.listsNothing && scenario.faults.length === 0),
    shrinking: {
      claimsOf: (system, counts) => test.claimsToShrink(system, counts),
      seeds: 1,
      kinds: 1,
      keepsWritten: false,
    },
    describe: ({ claim, seed, original, result }) =>
      findingOf({ claim, seed, original, result }, run),
    emit: (event) => test.on(event),
    named: ({ what, seed = 0, file }, work) => {
      const piece =
        file === undefined
          ? { what, setting: `FENCEPOST_SEED=${seed}` }
          : {
              what: `kept plan ${typedPath(file)}`,
              setting: `FENCEPOST_REPLAY=${typedPath(file)}`,
            };
      return namedInTest(place, piece, work);
    },
  };
  try {
    return test.judge(await campaign([subject], setting));
  } catch (error) {
    if (!(error instanceof TooManyPlans)) throw error;
    const fewer = 'lower `exhaust`, or limit its `clients` and `sections`';
    const many = tooManyText(scenario, error.plans);
    throw new TestRefused([`exhaust: ${error.system}: ${many}`, fewer]);
  }
}

function expectingNoBreak(system: SystemScenario): SystemScenario {
  const { holds, breaks, may = [] } = system.expect;
  return { ...system, expect: { holds, breaks: [], may: [...may, ...breaks] } };
}

class TestSweep {
  readonly kept: KeptPlans;
  private readonly run: SimRun;
  /** The run with all expectations, even for a single seed. */
  private readonly full: SimRun;
  private readonly countsBySystem: Map<string, SweepCounts>;
  private plans: Examined['plans'] = null;

  constructor(run: SimRun, full: SimRun) {
    this.run = run;
    this.full = full;
    this.kept = new KeptPlans(run);
    this.countsBySystem = new Map(run.systems.map(({ name }) => [name, NO_COUNTS]));
  }

  /** Handles an event of the campaign. Throws if the campaign need not continue. */
  async on(event: CampaignEvent): Promise<void> {
    const { run } = this;
    switch (event.kind) {
      case 'not counted':
        throw new ScenarioCheckFailed([
          event.why ??
            `timed out after ${run.stopwatch.timeoutMs / 1000} s while the plans of ${event.system} were counted`,
        ]);
      case 'plans counted':
        this.plans = event.plans;
        requirePlan(run, event.plans);
        break;
      case 'kept plan':
        await this.kept.judge(event.kept, event.replay);
        break;
      case 'kept plans':
        if (run.requests.seed !== null) await showSeed(this.full, run.requests.seed, this.plans);
        break;
      case 'repeated':
        if (event.difference !== null) throw notDeterministic(event.difference);
        break;
      case 'examined': {
        const { system } = event.chunk;
        const before = this.countsBySystem.get(system) ?? NO_COUNTS;
        this.countsBySystem.set(system, mergeCounts(before, event.counts));
        break;
      }
      case 'other causes':
        for (const cause of event.causes) {
          const met = `${trialOf(run)} ${event.seed} also found: ${event.claim} broke by another cause, ${cause}`;
          run.print(`fencepost: ${run.place.fullName}: ${met}`);
        }
        break;
      case 'vanished': {
        const { seed, claim, system } = event;
        const difference = `${trialOf(run)} ${seed} broke ${claim} of ${system}, and does not when it is run again`;
        throw new ScenarioCheckFailed([`✗ not deterministic: ${difference}`]);
      }
    }
  }

  /** Returns the reason to start no more seeds, or null to continue. */
  stop(): SweepEnd | null {
    const { stopwatch } = this.run;
    const countsBySystem = [...this.countsBySystem.values()];
    if (countsBySystem.some(({ failed }) => failed > 0)) return 'enough';
    if (this.run.systems.some((system) => unexpectedIn(system, this.countsOf(system)).length > 0)) {
      return 'enough';
    }
    if (stopwatch.isCancelled) return 'interrupted';
    if (stopwatch.isOver) return 'time';
    if (!this.isBetweenSeeds) return null;
    if (this.isSettled || (stopwatch.isSpent && this.mostSeeds > 0)) return 'enough';
    return null;
  }

  private countsOf({ name }: SystemScenario): SweepCounts {
    return this.countsBySystem.get(name) ?? NO_COUNTS;
  }

  private get mostSeeds(): number {
    return Math.max(0, ...[...this.countsBySystem.values()].map(({ seeds }) => seeds));
  }

  /** True if all systems have examined the same seeds, or all of their own plans. */
  private get isBetweenSeeds(): boolean {
    const most = this.mostSeeds;
    return [...this.countsBySystem].every(
      ([system, { seeds }]) => seeds === most || seeds === this.plans?.get(system)?.plans,
    );
  }

  /** True if all expected breaks have occurred and no claim is expected to hold. */
  private get isSettled(): boolean {
    if (this.mostSeeds === 0) return false;
    return this.run.systems.every((system) => {
      const { holds, breaks } = system.expect;
      const isBroken = (claim: string): boolean =>
        claimCounts(this.countsOf(system), claim).broken > 0 || this.kept.broke(system.name, claim);
      return holds.length === 0 && breaks.every(isBroken);
    });
  }

  /**
   * Returns the first claim that broke unexpectedly. If failures are to be kept, also returns the
   * claims that broke as expected and have no kept plan.
   */
  claimsToShrink(system: SystemScenario, counts: SweepCounts): readonly string[] {
    const unexpected = unexpectedIn(system, counts).slice(0, 1);
    if (!this.run.requests.isUpdate) return unexpected;
    const { breaks } = system.expect;
    const unkept = breaks.filter((claim) => !this.kept.broke(system.name, claim));
    return [...unexpected, ...unkept.filter((claim) => claimCounts(counts, claim).broken > 0)];
  }

  /** Returns the result. Throws unless every expectation is met. */
  judge({ summary, findings }: Result): CheckedScenario {
    const { run } = this;
    const [scenario] = summary.scenarios;
    if (scenario === undefined) throw new ScenarioCheckFailed(['cancelled before the first seed']);
    const isWanted = ({ system, claim }: Finding): boolean =>
      run.systems.some(({ name, expect }) => name === system && expect.breaks.includes(claim));
    for (const finding of findings.filter(isWanted)) keep(finding, run);
    const [finding] = findings.filter((candidate) => !isWanted(candidate));
    if (finding !== undefined) {
      const keptAs = run.requests.isUpdate ? keep(finding, run) : null;
      throw new ScenarioCheckFailed([seedBlock(finding, run, keptAs)]);
    }
    this.requireNoFailure(scenario.systems);
    if (run.stopwatch.isCancelled) throw this.outOfTime(0);
    const { range, cutShort } = scenario;
    const asked = range.to - range.from + 1;
    if (cutShort !== undefined) throw this.outOfTime(asked);
    const isShort = this.mostSeeds < asked && !this.isSettled;
    if (isShort) {
      const done = `${groupDigits(this.mostSeeds)} of ${countOf(asked, 'seed')}`;
      run.print(`fencepost: ${run.place.fullName}: the budget is spent after ${done}`);
    }
    for (const system of scenario.systems) this.requireMet(system);
    if (this.plans !== null && run.requests.seed === null) {
      run.print(`fencepost: ${run.place.fullName}: ${exhaustedTextOf(scenario.systems)}`);
    }
    return { systems: scenario.systems.map(checkedSystem) };
  }

  private requireNoFailure(systems: readonly SystemResult[]): void {
    const { run } = this;
    for (const { name, failures, unsimulated, output } of systems) {
      const [failure] = failures;
      if (failure === undefined) continue;
      const { seed, error } = failure;
      const command = shellWords(commandWith(`FENCEPOST_SEED=${seed}`, run.place)).join(' ');
      const trial = trialOf(run);
      const lines = [`✗ ${name} failed on ${trial} ${seed}: ${error}`];
      if (unsimulated !== undefined) lines.push(`  ${unsimulatedText(unsimulated)}`);
      lines.push(...outputBlock(output?.lines, 100), `${trial}:   ${command}`);
      throw new ScenarioCheckFailed(lines, run.mistakes.find(error));
    }
  }

  private outOfTime(asked: number): ScenarioCheckFailed {
    const { stopwatch } = this.run;
    const trial = trialOf(this.run);
    const unfinished = [...this.countsBySystem].filter(
      ([system, { seeds }]) => seeds !== this.plans?.get(system)?.plans,
    );
    const done = Math.min(this.mostSeeds, ...unfinished.map(([, { seeds }]) => seeds));
    if (stopwatch.isCancelled)
      return new ScenarioCheckFailed([`cancelled after ${countOf(done, trial)}`]);
    const examined = `${groupDigits(done)} of ${countOf(asked, trial)} examined`;
    return new ScenarioCheckFailed([
      `timed out after ${stopwatch.timeoutMs / 1000} s, with ${examined}`,
      this.plans === null
        ? 'raise `timeout`, request fewer `seeds`, or set `budgetMs` to run as many as fit'
        : 'raise `timeout`, lower `exhaust`, or limit its `clients` and `sections`',
    ]);
  }

  private requireMet(system: SystemResult): void {
    const { run } = this;
    const { name, expect, claims, unsimulated, vacuous, hints, seeds } = system;
    const { holds = [], breaks = [] } = expect;
    const examined = countOf(seeds, trialOf(run));
    const lines = breaks
      .filter((claim) => (claims[claim]?.broken ?? 0) === 0 && !this.kept.broke(name, claim))
      .map((claim) => `✗ ${claim} of ${name} should break but held on ${examined}`);
    if (lines.length > 0) lines.push(...hints.map((hint) => `  ${hint}`));
    if (unsimulated !== undefined) {
      lines.push(`? ${name} not judged: ${unsimulatedText(unsimulated)}`);
    }
    if (holds.length > 0 && vacuous.length > 0) {
      lines.push(`? ${name} not judged on ${examined}`);
      lines.push(`  vacuous: ${vacuous.join(', ')}`);
      lines.push(...adviceFor(run, system));
    }
    for (const claim of holds) {
      const found = claims[claim];
      if (found === undefined) continue;
      const { broken, unknown, firstUnknown } = found;
      if (broken > 0) lines.push(`✗ ${claim} of ${name} broke on ${examined}`);
      if (firstUnknown === undefined || isJudged(found)) continue;
      const where = `${countOf(unknown, trialOf(run))}, first on ${firstUnknown.seed}`;
      lines.push(`? ${name}: ${claim} is unknown on ${where}: ${firstUnknown.reason}`);
    }
    if (lines.length > 0) throw new ScenarioCheckFailed(lines);
  }
}

function checkedSystem({ name, seeds, expect, claims }: SystemResult): CheckedSystem {
  const expectations = (['holds', 'breaks'] as const).flatMap((expected) =>
    (expect[expected] ?? []).map((claim): MetExpectation => {
      const { exercised = 0, broken = 0 } = claims[claim] ?? {};
      return { claim, expected, exercised, broken };
    }),
  );
  return { name, seeds, expectations };
}

function requirePlan(
  { requests }: SimRun,
  plans: ReadonlyMap<string, { readonly plans: number }>,
): void {
  const last = Math.max(...[...plans.values()].map((counts) => counts.plans)) - 1;
  if (requests.seed === null || requests.seed <= last) return;
  throw new TestRefused([`FENCEPOST_SEED: there is no plan ${requests.seed}; the last is ${last}`]);
}

const MOST_SHOWN = 300;

function notDeterministic({ system, seed, what }: RunDifference): ScenarioCheckFailed {
  const shown = what.slice(0, MOST_SHOWN) + (what.length > MOST_SHOWN ? '…' : '');
  return new ScenarioCheckFailed([
    `✗ not deterministic: two runs of seed ${seed} of ${system} differ`,
    `  ${shown}`,
    'all runs share the state that a test keeps and the modules that a run imports',
  ]);
}

/**
 * Suggests how to exercise claims that no seed exercised. The comparison with twins comes last, so
 * the test may time out before it.
 */
export function adviceFor(
  { stopwatch, scenario }: Pick<SimRun, 'stopwatch'> & Partial<Pick<SimRun, 'scenario'>>,
  { expect, claims }: Pick<SystemResult, 'expect' | 'claims'>,
): readonly string[] {
  const isUntested = (claim: string): boolean => (claims[claim]?.exercised ?? 0) === 0;
  if (expect.holds?.some(isUntested) !== true) return [];
  if (!stopwatch.isOver) return [`  ${contentionAdvice(scenario)}`];
  const after = `timed out after ${stopwatch.timeoutMs / 1000} s`;
  return [`  ${after}, before avoided hazards could be counted: raise \`timeout\``];
}
