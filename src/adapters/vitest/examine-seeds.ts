/**
 * Fresh seeds, one after the other, until one breaks what should hold; it is shrunk. At the end it
 * is judged, as `run` does, whether what should break broke and whether anything was tested; where
 * not, it says what to do about it.
 */
import type { ShrinkResult } from '../../core/shrink/shrink.ts';
import { shrinkFailureAsync } from '../../host/async/run-async.ts';
import { exhaustedTextOf, scopeOf } from '../../report/exhausted.ts';
import { type Finding, shellWords } from '../../report/finding.ts';
import type { SystemScenario } from '../../scenario/scenario.ts';
import { examineChunk } from '../../search/sweep/chunk.ts';
import { type AvoidedSeeds, countAvoided } from '../../search/sweep/counterfactual.ts';
import { examinerOf } from '../../search/sweep/examiner.ts';
import { judgeSystem } from '../../search/sweep/expectation.ts';
import type { SeedRange } from '../../search/sweep/shards.ts';
import { claimTally, EMPTY_TALLY, mergeTallies, type Tally } from '../../search/sweep/tally.ts';
import { countOf, groupDigits } from '../../text/prose.ts';
import { findingOf, seedBlock } from './failure-block.ts';
import { keep } from './kept-plans.ts';
import { letOthersRun, planOf, type SimRun, trialOf } from './sim-run.ts';
import { commandWith, SimTestError } from './test-place.ts';
import { namedInTest, seedOf } from './watchdog.ts';

/** Claims that a kept plan broke, as `<system> <claim>`. */
type Known = ReadonlySet<string>;

/** By the name of the system. */
type Tallies = ReadonlyMap<string, Tally>;

/** Throws a `SimTestError` unless every expectation is met. */
export async function examineSeeds(run: SimRun, seeds: SeedRange, known: Known): Promise<void> {
  const tallies = await tallySeeds(run, seeds, known);
  const { scenario, catalogue, stopwatch } = run;
  const shouldStop = (): boolean => stopwatch.isOver;
  const { plans } = run;
  const numbered =
    plans === null
      ? {}
      : { numbered: new Map([...plans].map(([name, one]) => [name, one.numbered])) };
  const avoided = await countAvoided(scenario, tallies, { catalogue, shouldStop, ...numbered });
  for (const system of run.systems) {
    const tally = tallies.get(system.name) ?? EMPTY_TALLY;
    judge(run, system, { tally, avoided, seeds, known });
  }
  tellScope(run, tallies);
}

/** What was exhausted, as nobody sees it of a test that passes. */
function tellScope({ plans, scenario, place, print, wishes }: SimRun, tallies: Tallies): void {
  if (plans === null || wishes.seed !== null) return;
  const systems = [...plans].map(([name, counted]) => {
    return { seeds: tallies.get(name)?.seeds ?? 0, exhausted: scopeOf(scenario, counted) };
  });
  print(`fencepost: ${place.fullName}: ${exhaustedTextOf(systems)}`);
}

/** Until all are done, or nothing is left to learn; throws where what should hold breaks. */
async function tallySeeds(
  run: SimRun,
  { from, to }: SeedRange,
  known: Known,
): Promise<ReadonlyMap<string, Tally>> {
  const examiners = new Map(
    run.systems.map(({ name }) => {
      const blocks = run.plans?.get(name)?.blocks;
      return [name, examinerOf(run.scenario, run.catalogue, [], blocks)];
    }),
  );
  const tallies = new Map(run.systems.map(({ name }) => [name, EMPTY_TALLY]));
  for (let seed = from; seed <= to; seed += 1) {
    for (const system of run.systems) {
      const examiner = examiners.get(system.name);
      const isLess = seed >= (run.plans?.get(system.name)?.plans ?? Infinity);
      if (isLess || examiner === undefined) continue;
      await letOthersRun();
      requireTime(run, { done: seed - from, of: to - from + 1 });
      const chunk = { system: system.name, from: seed, to: seed, skip: [] };
      const examine = (): Promise<Tally> => examineChunk(chunk, system.expect, examiner, () => {});
      const tally = await namedInTest(run.place, seedOf(system.name, seed), examine);
      const before = tallies.get(system.name) ?? EMPTY_TALLY;
      tallies.set(system.name, mergeTallies(before, tally));
      await requireUnbroken(run, system, { seed, tally });
      await keepBroken(run, system, { seed, tally, before, known });
    }
    if (isSettled(run, tallies, known)) break;
    if (run.stopwatch.isSpent && seed < to) {
      const done = `${groupDigits(seed - from + 1)} of ${countOf(to - from + 1, 'seed')}`;
      run.print(`fencepost: ${run.place.fullName}: the budget is spent after ${done}`);
      break;
    }
  }
  return tallies;
}

function requireTime(run: SimRun, { done, of }: { done: number; of: number }): void {
  const { stopwatch, plans } = run;
  const trial = trialOf(run);
  if (stopwatch.isCancelled) throw new SimTestError([`cancelled after ${countOf(done, trial)}`]);
  if (!stopwatch.isOver) return;
  const seconds = stopwatch.timeoutMs / 1000;
  throw new SimTestError([
    `timed out after ${seconds} s, with ${groupDigits(done)} of ${countOf(of, trial)} examined`,
    plans === null
      ? 'raise `timeout`, ask for fewer `seeds`, or set `budgetMs` to take as many as fit'
      : 'raise `timeout`, or take a smaller `exhaust`, of fewer `clients` and `sections`',
  ]);
}

async function requireUnbroken(
  run: SimRun,
  system: SystemScenario,
  { seed, tally }: { seed: number; tally: Tally },
): Promise<void> {
  const [failure] = tally.failures;
  if (failure !== undefined) {
    const command = commandWith(`FENCEPOST_SEED=${seed}`, run.place);
    const lines = [
      `✗ ${system.name} failed on ${trialOf(run)} ${seed}: ${failure.error}`,
      `${trialOf(run)}:   ${shellWords(command).join(' ')}`,
    ];
    throw new SimTestError(lines, run.mistakes.find(failure.error));
  }
  const claim = system.expect.holds.find((one) => claimTally(tally, one).broken > 0);
  if (claim === undefined) return;
  const finding = await shrunkFinding(run, { system: system.name, claim, seed });
  const keptAs = run.wishes.isUpdate ? keep(finding, run) : null;
  throw new SimTestError([seedBlock(finding, run, keptAs)]);
}

/** Keeps what should break, if that is wished for: the first seed of each claim. */
async function keepBroken(
  run: SimRun,
  { name: system, expect }: SystemScenario,
  { seed, tally, before, known }: { seed: number; tally: Tally; before: Tally; known: Known },
): Promise<void> {
  if (!run.wishes.isUpdate) return;
  for (const claim of expect.breaks) {
    const isNew = claimTally(before, claim).broken === 0 && !known.has(`${system} ${claim}`);
    if (!isNew || claimTally(tally, claim).broken === 0) continue;
    keep(await shrunkFinding(run, { system, claim, seed }), run);
  }
}

/** The counterexample that a seed shrinks to; as it was found, where no time is left. */
async function shrunkFinding(
  run: SimRun,
  { system, claim, seed }: { system: string; claim: string; seed: number },
): Promise<Finding> {
  const { catalogue } = run;
  const original = planOf(run, system, seed);
  const shouldStop = (): boolean => run.stopwatch.isOver;
  const options = { catalogue, shouldStop, breathe: letOthersRun };
  const shrink = (): Promise<ShrinkResult> => shrinkFailureAsync(original, claim, options);
  const piece = seedOf(system, seed);
  const named = { ...piece, what: `shrinking ${piece.what}` };
  const result = await namedInTest(run.place, named, shrink);
  for (const { cause } of result.others) {
    const met = `${trialOf(run)} ${seed} met besides: ${claim} breaks by another cause, ${cause}`;
    run.print(`fencepost: ${run.place.fullName}: ${met}`);
  }
  const finding = await findingOf({ claim, seed, original, result }, run);
  if (finding !== null) return finding;
  const what = `${trialOf(run)} ${seed} broke ${claim} of ${system}, and does not when it is run again`;
  throw new SimTestError([`✗ not deterministic: ${what}`]);
}

/** Whether more seeds would tell nothing: all that should break broke, and nothing should hold. */
function isSettled(
  { systems }: SimRun,
  tallies: ReadonlyMap<string, Tally>,
  known: Known,
): boolean {
  return systems.every(({ name, expect: { holds, breaks } }) => {
    const tally = tallies.get(name) ?? EMPTY_TALLY;
    const isBroken = (claim: string): boolean =>
      claimTally(tally, claim).broken > 0 || known.has(`${name} ${claim}`);
    return holds.length === 0 && breaks.every(isBroken);
  });
}

interface Tallied {
  readonly tally: Tally;
  readonly avoided: AvoidedSeeds;
  readonly seeds: SeedRange;
  readonly known: Known;
}

function judge(
  run: SimRun,
  system: SystemScenario,
  { tally, avoided, seeds, known }: Tallied,
): void {
  const coverage = { isWhole: true, isSingle: seeds.from === seeds.to, avoided };
  const { missing, vacuous, hints } = judgeSystem(run.scenario, system, tally, coverage);
  const { name, expect } = system;
  const trial = trialOf(run);
  const examined = countOf(tally.seeds, trial);
  const lines = missing
    .filter((claim) => !known.has(`${name} ${claim}`))
    .map((claim) => `✗ ${claim} of ${name} should break, and did not on ${examined}`);
  if (lines.length > 0) lines.push(...hints.map((hint) => `  ${hint}`));
  if (expect.holds.length > 0 && vacuous.length > 0) {
    lines.push(`? ${name} is not judged on ${examined}`);
    lines.push(`  vacuous, tested nothing: ${vacuous.join(', ')}`);
    lines.push(...adviceFor(run, system, tally));
  }
  for (const claim of expect.holds) {
    const { unknown, firstUnknown } = claimTally(tally, claim);
    if (firstUnknown === null) continue;
    const where = `${countOf(unknown, trial)}, first on ${firstUnknown.seed}`;
    lines.push(`? ${name}: ${claim} is unknown on ${where}: ${firstUnknown.reason}`);
  }
  if (lines.length > 0) throw new SimTestError(lines);
}

/**
 * What would put to the test what nothing did. Looking again at what siblings broke comes last: the
 * time may be over by then, although all seeds are done.
 */
export function adviceFor(
  { stopwatch }: Pick<SimRun, 'stopwatch'>,
  { expect }: SystemScenario,
  tally: Tally,
): readonly string[] {
  const isUntested = (claim: string): boolean => claimTally(tally, claim).exercised === 0;
  if (!expect.holds.some(isUntested)) return [];
  if (!stopwatch.isOver) return [`  ${CONTEND}`];
  const after = `timed out after ${stopwatch.timeoutMs / 1000} s`;
  return [`  ${after}, before it was known what is avoided here: raise \`timeout\``];
}

const CONTEND = 'take more `clients` on fewer `locks`, faults that outlast `ttl`, or more `seeds`';
