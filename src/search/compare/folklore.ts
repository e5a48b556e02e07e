/**
 * Whether what people say holds, from the measurement: each saying is compared on the same seeds,
 * and holds or fails only where the interval of the difference leaves no doubt.
 */
import { type Cell, commitGain, throughputGain } from './comparison.ts';
import { type Estimate, type Resamples, type Share, wilson } from './statistics.ts';

/** `mixed`: it holds by one measure and fails by another. */
export type Ruling = 'holds' | 'fails' | 'mixed' | 'undecided' | 'not measured';

/** What is compared: two estimates and the gain of ours, or two shares of runs. */
export type Evidence =
  | {
      readonly kind: 'throughput' | 'commit-p99';
      readonly ours: Estimate;
      readonly theirs: Estimate;
      /** Positive where ours is better, in the unit of the measure. */
      readonly gain: Estimate;
    }
  | { readonly kind: 'wrong'; readonly ours: Share; readonly theirs: Share };

/** One comparison that speaks for or against a saying. */
export interface Finding {
  /** The level, or `any` where all of them are taken together. */
  readonly contention: string;
  readonly hasFaults: boolean;
  readonly ruling: Ruling;
  readonly ours: string;
  readonly theirs: string;
  readonly evidence: Evidence;
}

export interface Saying {
  readonly saying: string;
  /** Of the findings that it is about: those without faults, of fencing those with faults. */
  readonly ruling: Ruling;
  readonly findings: readonly Finding[];
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
  cells: readonly Cell[],
  { pessimistic, optimistic, fenced, unfenced }: Roles,
  resamples: Resamples,
): readonly Saying[] {
  const atHigh = { contention: 'high', ours: pessimistic, theirs: optimistic };
  const atLow = { contention: 'low', ours: optimistic, theirs: pessimistic };
  return [
    sayingOf('pessimistic locking for high contention', faster(cells, atHigh, resamples), false),
    sayingOf('optimistic locking for low contention', faster(cells, atLow, resamples), false),
    sayingOf(
      'fencing for safety across services',
      safer(cells, { ours: fenced, theirs: unfenced }),
      true,
    ),
  ];
}

function sayingOf(saying: string, findings: readonly Finding[], isAboutFaults: boolean): Saying {
  const about = findings.filter(({ hasFaults }) => hasFaults === isAboutFaults);
  return { saying, ruling: together(about.map(({ ruling }) => ruling)), findings };
}

/** What several findings come to: those that are undecided say nothing against the others. */
function together(rulings: readonly Ruling[]): Ruling {
  if (rulings.length === 0) return 'not measured';
  const has = (ruling: Ruling): boolean => rulings.includes(ruling);
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
  cells: readonly Cell[],
  { contention, ...pair }: Pair & { readonly contention: string },
  resamples: Resamples,
): readonly Finding[] {
  return pairsOf(cells, pair)
    .filter(({ ours }) => ours.condition.contention === contention)
    .flatMap(({ ours, theirs }): readonly Finding[] => {
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
function rulingOf({ lower, upper }: Estimate): Ruling {
  if (lower === null || upper === null) return 'undecided';
  if (lower > 0) return 'holds';
  return upper < 0 ? 'fails' : 'undecided';
}

/** Over all conditions with faults, and over those without. */
function safer(cells: readonly Cell[], pair: Pair): readonly Finding[] {
  return [true, false].flatMap((hasFaults): readonly Finding[] => {
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
function saferRuling(ours: Share, theirs: Share): Ruling {
  if (ours.hits > 0) return 'fails';
  return theirs.lower > ours.upper ? 'holds' : 'undecided';
}

function pooled(cells: readonly Cell[]): Share {
  const sum = (of: (share: Share) => number): number =>
    cells.reduce((total, { figures }) => total + of(figures.wrong), 0);
  return wilson(
    sum(({ hits }) => hits),
    sum(({ runs }) => runs),
  );
}

/** The cells of both systems under the same conditions, in the order of the cells. */
function pairsOf(
  cells: readonly Cell[],
  { ours, theirs }: Pair,
): readonly { readonly ours: Cell; readonly theirs: Cell }[] {
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
