/**
 * What the run of one scenario came to, with all that its exports need: plain data, put together by
 * `run`, from which test reports, annotations and summaries of CI servers are made.
 */
import type { Difference, KeptOutcome } from '../search/sweep/shard-file.ts';
import type { Tally } from '../search/sweep/tally.ts';
import type { Finding } from './finding.ts';
import type { ScenarioSummary } from './summary.ts';

export interface ScenarioResult {
  readonly summary: ScenarioSummary;
  readonly findings: readonly Finding[];
  /** By the name of the system; absent where no seed of it was examined. */
  readonly tallies: ReadonlyMap<string, Tally>;
  /** The seeds that were asked for, both included, and whether all were examined. */
  readonly seeds: { readonly from: number; readonly to: number; readonly isWhole: boolean };
  /** The kept plans that were replayed, in the order of their files. */
  readonly keptPlans: readonly KeptOutcome[];
  /** The seed whose two runs differed, and how; null when none was found. */
  readonly difference: Difference | null;
  readonly seconds: number;
  /** The lines, from 1, on which the scenario's file names its systems. */
  readonly lines: ReadonlyMap<string, number>;
}
