/** fencepost itself is wrong. Nothing but the top of a command catches it. */
export class Defect extends Error {}

/**
 * Stops the run when fencepost itself is wrong. Never for a user's mistake (that is a `UserError`)
 * and never for what the simulated world may do (that is a value). Nothing catches it.
 */
export function assert(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Defect(`fencepost is wrong: ${why}`);
}

/** For the `default` of a switch over a tagged union: type-checks only if no case is missing. */
export function unreachable(value: never): never {
  throw new Defect(`fencepost is wrong: unexpected ${JSON.stringify(value)}`);
}
