/** Finds elements that the page was written with; one that is missing is a mistake of ours. */
import { assert } from '../../core/kernel/assert.ts';

/** The first element of a kind below `root`. */
export function one<T extends Element>(
  root: ParentNode,
  selector: string,
  kind: abstract new () => T,
): T {
  const found = root.querySelector(selector);
  assert(found instanceof kind, `the page has a ${selector}`);
  return found;
}

/** All elements of a kind below `root`. */
export function all<T extends Element>(
  root: ParentNode,
  selector: string,
  kind: abstract new () => T,
): readonly T[] {
  return [...root.querySelectorAll(selector)].filter((found): found is T => found instanceof kind);
}
