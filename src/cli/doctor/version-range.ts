/** Decides whether a version is in a range of a `package.json`, one alternative after the other. */
import { satisfies, valid, validRange } from 'semver';

/** Null where the version, or every alternative that it is not in, is of no form that is known. */
export function isInRange(version: string, range: string): boolean | null {
  if (valid(version) === null) return null;
  const alternatives = range.split('||').map((part) => part.trim());
  const known = alternatives.filter((part) => validRange(part) !== null);
  // A nightly build counts as what it will become.
  if (known.some((part) => satisfies(version, part, { includePrerelease: true }))) return true;
  return known.length < alternatives.length ? null : false;
}
