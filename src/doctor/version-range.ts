/**
 * Decides whether a version is in a range, in the forms that a `package.json` of ours and of most
 * others uses: `>=20.19`, `^5.0.0`, `~1.2`, `4.1`, `*`, several joined by spaces or `||`.
 */

type Version = readonly [major: number, minor: number, patch: number];

/** Null where the version or the range is of a form that is not known here. */
export function isInRange(version: string, range: string): boolean | null {
  const given = versionOf(version);
  if (given === null) return null;
  const answers = range.split('||').map((part) => isInAll(given, part.trim()));
  if (answers.includes(true)) return true;
  return answers.includes(null) ? null : false;
}

/** Whether it is in each of the comparisons of one alternative. */
function isInAll(given: Version, range: string): boolean | null {
  const joined = range.replace(/([<>=^~])\s+/g, '$1');
  const parts = joined.split(/\s+/).filter((part) => part !== '');
  const answers = parts.map((part) => isIn(given, part));
  if (answers.includes(null)) return null;
  return !answers.includes(false);
}

const COMPARISON = /^(\^|~|>=|<=|>|<|=)?v?(\d+|[x*])(?:\.(\d+|[x*]))?(?:\.(\d+|[x*]))?$/i;

function isIn(given: Version, comparison: string): boolean | null {
  const [, sign = '', ...texts] = COMPARISON.exec(comparison) ?? [];
  if (texts.length === 0) return null;
  const numbers = texts
    .slice(0, 3)
    .map((text) => (text === undefined || /[x*]/i.test(text) ? null : Number(text)));
  const [major = null, minor = null, patch = null] = numbers;
  if (major === null) return true;
  const lower: Version = [major, minor ?? 0, patch ?? 0];
  const named = minor === null ? 1 : patch === null ? 2 : 3;
  return compare(given, lower, sign, named);
}

function compare(given: Version, lower: Version, sign: string, named: number): boolean {
  const isFrom = order(given, lower) >= 0;
  const after = (places: number): boolean => order(given, next(lower, places)) >= 0;
  switch (sign) {
    case '>=':
      return isFrom;
    case '<':
      return !isFrom;
    case '>':
      return after(named);
    case '<=':
      return !after(named);
    case '^':
      return isFrom && !after(Math.min(named, firstNotZero(lower)));
    case '~':
      return isFrom && !after(Math.min(named, 2));
    default:
      return isFrom && !after(named);
  }
}

/** The lowest version that differs in one of its first `places`. */
function next([major, minor, patch]: Version, places: number): Version {
  if (places === 1) return [major + 1, 0, 0];
  return places === 2 ? [major, minor + 1, 0] : [major, minor, patch + 1];
}

function firstNotZero([major, minor]: Version): number {
  if (major > 0) return 1;
  return minor > 0 ? 2 : 3;
}

function order(left: Version, right: Version): number {
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}

/** Of `22.3.0-rc.1+build` the three numbers. */
function versionOf(text: string): Version | null {
  const [, major, minor, patch] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(text) ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return null;
  return [Number(major), Number(minor), Number(patch)];
}
