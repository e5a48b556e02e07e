/** A bug in fencepost itself. Only the top level of a command catches it. */
export class Defect extends Error {}

/**
 * Throws a `Defect` unless `condition` holds. For bugs in fencepost only: a user's mistake is a
 * `UserError`, and anything that can happen in the simulated world is returned, not thrown.
 */
export function assert(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Defect(`bug in fencepost: ${why}`);
}

/** For the `default` of a switch over a tagged union: type-checks only if no case is missing. */
export function unreachable(value: never): never {
  throw new Defect(`bug in fencepost: unexpected ${JSON.stringify(value)}`);
}
