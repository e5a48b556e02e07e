/** Finds what the text of a scenario cannot say: all but texts, numbers, lists and maps of them. */
import { type PathStep, renderPath } from '../../text/problem.ts';

/** `clients.ttl: expected plain data, not a function`; each once. */
export function unplainParts(value: unknown, path: readonly PathStep[]): readonly string[] {
  const what = whyUnplain(value);
  if (what !== null) return [`${renderPath(path)}: expected plain data, not ${what}`];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((one, at) => unplainParts(one, [...path, at]));
  return Object.entries(value).flatMap(([key, one]) => unplainParts(one, [...path, key]));
}

function whyUnplain(value: unknown): string | null {
  switch (typeof value) {
    case 'function':
    case 'symbol':
    case 'bigint':
      return `a ${typeof value}`;
    case 'number':
      return Number.isFinite(value) ? null : String(value);
    case 'object': {
      if (value === null || Array.isArray(value)) return null;
      const kind: unknown = Reflect.getPrototypeOf(value);
      return kind === Object.prototype || kind === null ? null : 'an object of a class';
    }
    default:
      return null;
  }
}
