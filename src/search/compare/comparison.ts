/**
 * What the runs of one system under one condition come to, a cell of the comparison, and whether
 * what people say holds: each saying is compared on the same seeds, and holds or fails only where
 * the interval of the difference leaves no doubt.
 */
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
export interface ComparedCondition {
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

export interface ComparedCell {
  readonly system: string;
  readonly condition: ComparedCondition;
  readonly runs: readonly RunMeasures[];
  readonly figures: Figures;
}

/** The figures of the runs, whose number is that of the resamples' weights. */
export function figuresOf(runs: readonly RunMeasures[], resamples: Resamples): Figures {
  const each = (of: (run: RunMeasures) => number): readonly number[] => runs.map(of);
  const waits = runs.map(({ waitsUs }) => waitsUs);
  const per = (whole: 'begun' | 'acknowledged', of: (run: RunMeasures) => number): Estimate =>
    estimate(
      ratioOf(
        each(of),
        each((run) => run[whole]),
      ),
      resamples,
    );
  return {
    throughput: estimate(meanOf(each(throughputOf)), resamples),
    waitP50: estimate(quantileOf(waits, 0.5), resamples),
    waitP99: estimate(quantileOf(waits, 0.99), resamples),
    commitP99: estimate(commitP99Of(runs), resamples),
    retries: per('begun', (run) => run.retries),
    aborts: per('begun', (run) => run.aborts),
    deadlocks: per('begun', (run) => run.deadlocks),
    stuck: per('begun', (run) => run.stuck),
    lost: per('acknowledged', (run) => run.lost),
    repeated: per('acknowledged', (run) => run.repeated),
    wrong: wilson(runs.filter(isWrong).length, runs.length),
  };
}

function isWrong({ lost, repeated }: RunMeasures): boolean {
  return lost + repeated > 0;
}

/** Acknowledged sections per virtual second. */
function throughputOf({ acknowledged, doneUs }: RunMeasures): number {
  return (acknowledged * 1_000_000) / doneUs;
}

function commitP99Of(runs: readonly RunMeasures[]): Statistic {
  const commits = runs.map(({ commitsUs }) => commitsUs);
  return quantileOf(commits, 0.99);
}

/**
 * How sure each of two gains is of which a saying is judged by both: 97.5 % each (Bonferroni), so
 * that chance misleads about the saying in no more than 5 %.
 */
const GAIN_LEVEL = 0.975;

/** How much sooner the slowest commits of one system come than another's, on the same seeds. */
function commitGain(ours: ComparedCell, theirs: ComparedCell, resamples: Resamples): Estimate {
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
function throughputGain(ours: ComparedCell, theirs: ComparedCell, resamples: Resamples): Estimate {
  const gains = ours.runs.map((run, at) => {
    const other = theirs.runs[at];
    return throughputOf(run) - (other === undefined ? 0 : throughputOf(other));
  });
  return estimate(meanOf(gains), resamples, GAIN_LEVEL);
}

/** `mixed`: it holds by one measure and fails by another. */
export type SayingRuling = 'holds' | 'fails' | 'mixed' | 'undecided' | 'not measured';

/** What is compared: two estimates and the gain of ours, or two shares of runs. */
export type SayingEvidence =
  | {
      readonly kind: 'throughput' | 'commit-p99';
      readonly ours: Estimate;
      readonly theirs: Estimate;
      /** Positive where ours is better, in the unit of the measure. */
      readonly gain: Estimate;
    }
  | { readonly kind: 'wrong'; readonly ours: Share; readonly theirs: Share };

/** One comparison that speaks for or against a saying. */
export interface SayingFinding {
  /** The level, or `any` where all of them are taken together. */
  readonly contention: string;
  readonly hasFaults: boolean;
  readonly ruling: SayingRuling;
  readonly ours: string;
  readonly theirs: string;
  readonly evidence: SayingEvidence;
}

export interface Saying {
  readonly saying: string;
  /** Of the findings that it is about: those without faults, of fencing those with faults. */
  readonly ruling: SayingRuling;
  readonly findings: readonly SayingFinding[];
}

/** Which of the compared systems stands for which of the folklore's; null where none does. */
export interface Roles {
  readonly pessimistic: string | null;
  readonly optimistic: string | null;
  readonly fenced: string | null;
  /** A lease before a store that looks at no token. */
  readonly unfenced: string | null;
}

/** What the measurement says of the three sayings. */
export function judgeFolklore(
  cells: readonly ComparedCell[],
  { pessimistic, optimistic, fenced, unfenced }: Roles,
  resamples: Resamples,
): readonly Saying[] {
  const atHigh = { contention: 'high', ours: pessimistic, theirs: optimistic };
  const atLow = { contention: 'low', ours: optimistic, theirs: pessimistic };
  const fences = safer(cells, { ours: fenced, theirs: unfenced });
  return [
    sayingOf('pessimistic locking for high contention', faster(cells, atHigh, resamples), false),
    sayingOf('optimistic locking for low contention', faster(cells, atLow, resamples), false),
    sayingOf('fencing for safety across services', fences, true),
  ];
}

function sayingOf(
  saying: string,
  findings: readonly SayingFinding[],
  isAboutFaults: boolean,
): Saying {
  const about = findings.filter(({ hasFaults }) => hasFaults === isAboutFaults);
  return { saying, ruling: together(about.map(({ ruling }) => ruling)), findings };
}

/** What several findings come to: those that are undecided say nothing against the others. */
function together(rulings: readonly SayingRuling[]): SayingRuling {
  if (rulings.length === 0) return 'not measured';
  const has = (ruling: SayingRuling): boolean => rulings.includes(ruling);
  if (has('holds') && has('fails')) return 'mixed';
  if (has('holds')) return 'holds';
  return has('fails') ? 'fails' : 'undecided';
}

interface Pair {
  readonly ours: string | null;
  readonly theirs: string | null;
}

/** At one level: who does more a second, and whose slowest commits come sooner. */
function faster(
  cells: readonly ComparedCell[],
  { contention, ...pair }: Pair & { readonly contention: string },
  resamples: Resamples,
): readonly SayingFinding[] {
  return pairsOf(cells, pair)
    .filter(({ ours }) => ours.condition.contention === contention)
    .flatMap(({ ours, theirs }): readonly SayingFinding[] => {
      const about = {
        ...{ contention, hasFaults: ours.condition.hasFaults },
        ...{ ours: ours.system, theirs: theirs.system },
      };
      const done = throughputGain(ours, theirs, resamples);
      const sooner = commitGain(ours, theirs, resamples);
      const of = (measure: 'throughput' | 'commitP99') => ({
        ours: ours.figures[measure],
        theirs: theirs.figures[measure],
      });
      const bySpeed = { kind: 'throughput', gain: done, ...of('throughput') } as const;
      const byWait = { kind: 'commit-p99', gain: sooner, ...of('commitP99') } as const;
      return [
        { ...about, ruling: rulingOf(done), evidence: bySpeed },
        { ...about, ruling: rulingOf(sooner), evidence: byWait },
      ];
    });
}

/** A gain whose whole interval is above 0 decides for us, one that is below 0 against us. */
function rulingOf({ lower, upper }: Estimate): SayingRuling {
  if (lower === null || upper === null) return 'undecided';
  if (lower > 0) return 'holds';
  return upper < 0 ? 'fails' : 'undecided';
}

/** Over all conditions with faults, and over those without. */
function safer(cells: readonly ComparedCell[], pair: Pair): readonly SayingFinding[] {
  return [true, false].flatMap((hasFaults): readonly SayingFinding[] => {
    const pairs = pairsOf(cells, pair).filter(({ ours }) => ours.condition.hasFaults === hasFaults);
    const [first] = pairs;
    if (first === undefined) return [];
    const ours = pooled(pairs.map((one) => one.ours));
    const theirs = pooled(pairs.map((one) => one.theirs));
    return [
      {
        ...{ contention: 'any', hasFaults, ours: first.ours.system, theirs: first.theirs.system },
        ruling: saferRuling(ours, theirs),
        evidence: { kind: 'wrong', ours, theirs },
      },
    ];
  });
}

/** It fails where fencing goes wrong too, and is undecided where the other never does. */
function saferRuling(ours: Share, theirs: Share): SayingRuling {
  if (ours.hits > 0) return 'fails';
  return theirs.lower > ours.upper ? 'holds' : 'undecided';
}

function pooled(cells: readonly ComparedCell[]): Share {
  const sum = (what: 'hits' | 'runs'): number =>
    cells.reduce((total, { figures }) => total + figures.wrong[what], 0);
  return wilson(sum('hits'), sum('runs'));
}

/** The cells of both systems under the same conditions, in the order of the cells. */
function pairsOf(
  cells: readonly ComparedCell[],
  { ours, theirs }: Pair,
): readonly { readonly ours: ComparedCell; readonly theirs: ComparedCell }[] {
  return cells
    .filter(({ system }) => system === ours)
    .flatMap((cell) => {
      const other = cells.find(
        ({ system, condition }) =>
          system === theirs &&
          condition.contention === cell.condition.contention &&
          condition.hasFaults === cell.condition.hasFaults,
      );
      return other === undefined ? [] : [{ ours: cell, theirs: other }];
    });
}
