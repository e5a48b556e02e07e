/** What a caller of the checker may ask for. */

export interface CheckOptions {
  /**
   * How many configurations each part may need, 1,000,000 by default; from 1 on. It is counted, so
   * that a verdict is the same on every machine.
   */
  readonly maxConfigurations?: number;
  /**
   * How many bytes each part's search may take, 2 GB by default; from 1 on. It ends before it would
   * take more.
   */
  readonly maxBytes?: number;
  /** Asked now and then; for limits in time or memory, which this code cannot measure. */
  readonly shouldStop?: () => boolean;
  /**
   * What a failed operation says. `drop`, the default: it did not happen. `strict`: that too, and
   * why, where the model knows a reason, e.g. that a cas did not match.
   */
  readonly failed?: 'drop' | 'strict';
}

/** Throws a `RangeError` that names the option, where it is none of those above. */
export function refuseOptions({ maxConfigurations, maxBytes, failed }: CheckOptions): void {
  refuseLimit('maxConfigurations', maxConfigurations);
  refuseLimit('maxBytes', maxBytes);
  if (failed !== undefined && failed !== 'drop' && failed !== 'strict') {
    throw new RangeError(`failed must be drop or strict, not ${String(failed)}`);
  }
}

function refuseLimit(name: string, limit: number | undefined): void {
  if (limit === undefined || limit === Number.POSITIVE_INFINITY) return;
  if (Number.isInteger(limit) && limit >= 1) return;
  throw new RangeError(`${name} must be a whole number from 1 on, not ${limit}`);
}
