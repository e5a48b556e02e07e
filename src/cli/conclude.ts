/**
 * What the seeds of a scenario came to: expectations judged, counterexamples shrunk, and the exit
 * codes that apply. It does not matter whether one machine examined them or several.
 */
import type { Finding } from '../report/finding.ts';
import type { ScenarioSummary, SystemSummary } from '../report/summary.ts';
import type { SystemScenario } from '../scenario/scenario.ts';
import { claimsToShrink, type Judgement, judgeSystem } from '../search/sweep/expectation.ts';
import type { SeedRange } from '../search/sweep/shard.ts';
import type { Difference, KeptOutcome } from '../search/sweep/shard-file.ts';
import { claimTally, EMPTY_TALLY, type Tally } from '../search/sweep/tally.ts';
import { groupDigits } from '../text/prose.ts';
import { type Exit, exits } from './exit.ts';
import type { LoadedScenario } from './files.ts';
import { type Failing, findCounterexample, type ShrunkBefore } from './find.ts';
import { exitsOfKept } from './kept-plans.ts';
import { summarizeSystem } from './summarize.ts';
import type { Terminal } from './terminal.ts';

/** What is known of a scenario once its seeds are done. */
export interface Examined {
  /** By the name of the system. */
  readonly tallies: ReadonlyMap<string, Tally>;
  /** The seeds that were asked for; of a shard, those of all shards. */
  readonly range: SeedRange;
  /** Whether every seed that was to be examined here was. */
  readonly isWhole: boolean;
  /** Whether this is one shard of several, so that only the merge can tell what never happened. */
  readonly isPart: boolean;
  readonly milliseconds: number;
  readonly keptPlans: readonly KeptOutcome[];
  /** How many runs were repeated to see whether they are deterministic, and what differed. */
  readonly repeated: number;
  readonly difference: Difference | null;
  /** The folder of kept plans; absent or null for `plans` beside the scenario. */
  readonly corpus?: string | null;
}

/** What the run of one scenario came to. */
export interface ScenarioOutcome {
  readonly summary: ScenarioSummary;
  /** Of the scenario's file. */
  readonly text: string;
  readonly findings: readonly Finding[];
  readonly exits: readonly Exit[];
  readonly seeds: number;
  readonly events: number;
  readonly milliseconds: number;
  readonly examined: Examined;
}

export interface ConcludeContext {
  /** The folder that counterexamples will be written to. */
  readonly output: string;
  readonly terminal: Terminal;
  readonly isInterrupted: () => boolean;
  /** What a seed shrinks to, where a worker did that before; absent where none did. */
  readonly shrunkBefore?: (
    kind: Pick<Failing, 'system' | 'claim'>,
    seed: number,
  ) => Promise<ShrunkBefore | null>;
}

/** Judges every system, and shrinks what broke unless a merge will; writes nothing. */
export async function concludeScenario(
  loaded: LoadedScenario,
  examined: Examined,
  context: ConcludeContext,
): Promise<ScenarioOutcome> {
  const { terminal, isInterrupted } = context;
  const { scenario, file, text } = loaded;
  const { range, isWhole, isPart, milliseconds, keptPlans, difference, corpus = null } = examined;
  const coverage = { isWhole: isWhole && !isPart, isSingle: range.from === range.to };
  const codes = exitsOfKept(keptPlans);
  if (difference !== null) codes.push(exits.nondeterministic);
  const systems: SystemSummary[] = [];
  const findings: Finding[] = [];
  let seeds = 0;
  let events = 0;
  for (const system of scenario.systems) {
    const tally = examined.tallies.get(system.name) ?? EMPTY_TALLY;
    const judgement = judgeSystem(scenario, system, tally, coverage);
    const found = isPart ? [] : await shrinkFirst(loaded, system, { tally, corpus }, context);
    findings.push(...found);
    systems.push(summarizeSystem(system, tally, judgement, found[0] ?? null));
    codes.push(...codesOf(tally, judgement, !isWhole && !isInterrupted()));
    noteFailures(system, tally, terminal);
    seeds += tally.seeds;
    events += tally.events;
  }
  const summary = { name: scenario.name, file, systems };
  return { summary, text, findings, exits: codes, seeds, events, milliseconds, examined };
}

async function shrinkFirst(
  loaded: LoadedScenario,
  system: SystemScenario,
  { tally, corpus }: { tally: Tally; corpus: string | null },
  { output, terminal, isInterrupted, shrunkBefore }: ConcludeContext,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const claim of claimsToShrink(system, tally)) {
    const startedMs = performance.now();
    const kind = { system: system.name, claim };
    const before = shrunkBefore && { shrunkBefore: (seed: number) => shrunkBefore(kind, seed) };
    const failing = { ...kind, seeds: claimTally(tally, claim).brokenSeeds, ...before };
    const finding = await findCounterexample(loaded, failing, { output, corpus }, isInterrupted);
    if (finding === null) continue;
    findings.push(finding);
    const { originalEvents, events } = finding.size;
    const took = `${groupDigits(performance.now() - startedMs)} ms`;
    terminal.note(
      `  shrink: ${system.name}, ${claim}: ${originalEvents} → ${events} events in ${took}`,
    );
  }
  return findings;
}

function codesOf(tally: Tally, judgement: Judgement, isSpent: boolean): Exit[] {
  const codes: Exit[] = [];
  if (tally.failed > 0) codes.push(exits.failed);
  if (judgement.met === false) codes.push(exits.broken);
  const isOpen = judgement.met === null && tally.failed === 0;
  if (isOpen && (judgement.isIncomplete || isSpent)) codes.push(exits.incomplete);
  return codes;
}

function noteFailures(system: SystemScenario, tally: Tally, terminal: Terminal): void {
  for (const claim of system.expect.holds) {
    const { unknown, firstUnknown } = claimTally(tally, claim);
    if (firstUnknown === null) continue;
    const where = `${groupDigits(unknown)} seeds, first on ${firstUnknown.seed}`;
    terminal.print(`? ${system.name}: ${claim} is unknown on ${where}: ${firstUnknown.reason}`);
  }
  for (const { seed, error } of tally.failures) {
    terminal.print(`✗ ${system.name} failed on seed ${seed}: ${error}`);
  }
  if (tally.failed > tally.failures.length) {
    terminal.print(`  and on ${groupDigits(tally.failed - tally.failures.length)} more seeds`);
  }
}
