/** What the runs of one system under one condition come to: a cell of the comparison. */
import type { RunMeasures } from './measure-run.ts';
import {
  type Estimate,
  estimate,
  meanOf,
  quantileOf,
  type Resamples,
  ratioOf,
  type Share,
  type Statistic,
  wilson,
} from './statistics.ts';

/** What a condition is called, and what it means in words. */
export interface Condition {
  /** `low`, `medium`, `high`, or `as written` in a scenario file. */
  readonly contention: string;
  readonly hasFaults: boolean;
  readonly about: string;
}

export interface Figures {
  /** Acknowledged sections per virtual second. */
  readonly throughput: Estimate;
  /** In microseconds. */
  readonly waitP50: Estimate;
  readonly waitP99: Estimate;
  readonly commitP99: Estimate;
  /** Per section that began. */
  readonly retries: Estimate;
  readonly aborts: Estimate;
  readonly deadlocks: Estimate;
  readonly stuck: Estimate;
  /** Per acknowledged section. */
  readonly lost: Estimate;
  readonly repeated: Estimate;
  /** Runs that lost an update, or applied one twice. */
  readonly wrong: Share;
}

export interface Cell {
  readonly system: string;
  readonly condition: Condition;
  readonly runs: readonly RunMeasures[];
  readonly figures: Figures;
}

/** The figures of the runs, whose number is that of the resamples' weights. */
export function figuresOf(runs: readonly RunMeasures[], resamples: Resamples): Figures {
  const each = (of: (run: RunMeasures) => number): readonly number[] => runs.map(of);
  const begun = each((run) => run.begun);
  const waits = runs.map(({ waitsUs }) => waitsUs);
  const perSection = (of: (run: RunMeasures) => number): Estimate =>
    estimate(ratioOf(each(of), begun), resamples);
  const acknowledged = each((run) => run.acknowledged);
  const perAcknowledged = (of: (run: RunMeasures) => number): Estimate =>
    estimate(ratioOf(each(of), acknowledged), resamples);
  return {
    throughput: estimate(meanOf(each(throughputOf)), resamples),
    waitP50: estimate(quantileOf(waits, 0.5), resamples),
    waitP99: estimate(quantileOf(waits, 0.99), resamples),
    commitP99: estimate(commitP99Of(runs), resamples),
    retries: perSection((run) => run.retries),
    aborts: perSection((run) => run.aborts),
    deadlocks: perSection((run) => run.deadlocks),
    stuck: perSection((run) => run.stuck),
    lost: perAcknowledged((run) => run.lost),
    repeated: perAcknowledged((run) => run.repeated),
    wrong: wilson(runs.filter(isWrong).length, runs.length),
  };
}

function isWrong({ lost, repeated }: RunMeasures): boolean {
  return lost + repeated > 0;
}

/** Acknowledged sections per virtual second. */
export function throughputOf({ acknowledged, doneUs }: RunMeasures): number {
  return (acknowledged * 1_000_000) / doneUs;
}

function commitP99Of(runs: readonly RunMeasures[]): Statistic {
  return quantileOf(
    runs.map(({ commitsUs }) => commitsUs),
    0.99,
  );
}

/**
 * How sure each of two gains is of which a saying is judged by both: 97.5 % each (Bonferroni), so
 * that chance misleads about the saying in no more than 5 %.
 */
export const GAIN_LEVEL = 0.975;

/** How much sooner the slowest commits of one system come than another's, on the same seeds. */
export function commitGain(ours: Cell, theirs: Cell, resamples: Resamples): Estimate {
  const our = commitP99Of(ours.runs);
  const their = commitP99Of(theirs.runs);
  const gain = (weights: readonly number[]): number | null => {
    const from = their(weights);
    const to = our(weights);
    return from === null || to === null ? null : from - to;
  };
  return estimate(gain, resamples, GAIN_LEVEL);
}

/** How much more a second one system does than another on the same seeds, in pairs. */
export function throughputGain(ours: Cell, theirs: Cell, resamples: Resamples): Estimate {
  const gains = ours.runs.map((run, at) => {
    const other = theirs.runs[at];
    return throughputOf(run) - (other === undefined ? 0 : throughputOf(other));
  });
  return estimate(meanOf(gains), resamples, GAIN_LEVEL);
}
