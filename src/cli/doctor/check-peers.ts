/** Looks at the packages that fencepost works with where a project has them. */
import { type Check, ok, warning } from './check.ts';
import { findPackage, readManifest } from './manifest.ts';
import { isInRange } from './version-range.ts';

/** One check for each package in `peers`, a map from names to ranges. */
export function checkPeers(
  peers: Readonly<Record<string, string>>,
  workFolder: string,
): readonly Check[] {
  return Object.entries(peers).map(([name, range]) => {
    const found = findPackage(name, workFolder);
    if (found === null) return ok(name, `${name} is not installed here; it is not needed`);
    const version = readManifest(found)?.version ?? '';
    const what = `${name} ${version === '' ? 'of no version' : version}, wanted ${range}`;
    if (isInRange(version, range) === true) return ok(name, what);
    return warning(name, what, `npm install --save-dev '${name}@${range}'`);
  });
}
