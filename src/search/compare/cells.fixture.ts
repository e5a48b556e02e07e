/** Cells of a comparison with planted numbers. */
import { type ComparedCell, type ComparedCondition, figuresOf } from './comparison.ts';
import type { RunMeasures } from './measure-run.ts';
import type { Resamples } from './statistics.ts';

interface Planted {
  readonly doneMs?: number;
  readonly commitMs?: number;
  readonly lost?: number;
  readonly repeated?: number;
}

/** One run of ten acknowledged sections in `doneMs`, each committed after `commitMs`. */
export function runOf({ doneMs = 100, commitMs = 10, ...wrong }: Planted = {}): RunMeasures {
  const us = Array.from({ length: 10 }, () => commitMs * 1000);
  return {
    ...{ planned: 10, begun: 10, acknowledged: 10, doneUs: doneMs * 1000 },
    ...{
      waitsUs: us,
      commitsUs: us,
      retries: 0,
      aborts: 0,
      deadlocks: 0,
      stuck: 0,
      lost: 0,
      repeated: 0,
      ...wrong,
    },
  };
}

/** A cell of these runs. */
export function cellOf(
  system: string,
  condition: ComparedCondition,
  { runs, resamples }: { readonly runs: readonly RunMeasures[]; readonly resamples: Resamples },
): ComparedCell {
  return { system, condition, runs, figures: figuresOf(runs, resamples) };
}
