/**
 * Checks the versions of peer dependencies. fencepost can be installed beside any version of a
 * peer, since running scenarios needs none of them. An unsupported version is refused when it is
 * used, before it fails with an obscure error or, like bullmq 4, waits forever. Versions newer than
 * the newest tested one are accepted.
 */
import { createRequire } from 'node:module';
import { gte, valid } from 'semver';

/** `least` is the oldest supported version, and `since` is its form in messages. */
const NEEDED = {
  bullmq: { least: '5.6.0', since: '5.6', install: 'npm install bullmq@6' },
  'fast-check': { least: '4.0.0', since: '4.0', install: 'npm install --save-dev fast-check@4' },
  ioredis: { least: '5.3.0', since: '5.3', install: 'npm install ioredis@5' },
  vitest: { least: '3.2.0', since: '3.2', install: 'npm install --save-dev vitest@4' },
} as const;

type Needed = keyof typeof NEEDED;

/** Throws a one-line error if one of these packages is installed in an unsupported version. */
export function requireVersions(
  names: readonly Needed[],
  versionOf: (name: Needed) => string | null = installedVersion,
): void {
  for (const name of names) {
    const version = versionOf(name);
    const why = version === null ? null : whyTooOld(name, version);
    if (why !== null) throw new UnsupportedVersion(why);
  }
}

export class UnsupportedVersion extends Error {}

function whyTooOld(name: Needed, version: string): string | null {
  const { least, since, install } = NEEDED[name];
  // A prerelease of 5.6.0, such as `5.6.0-beta.1`, may lack a feature that is needed.
  if (valid(version) === null || gte(version, least)) return null;
  return `${name} ${version} is installed, and fencepost works with ${since} or later: ${install}`;
}

/** Returns null if the package is not installed. Importing it then reports the problem. */
function installedVersion(name: Needed): string | null {
  const require = createRequire(import.meta.url);
  try {
    const { version }: { readonly version?: unknown } = require(`${name}/package.json`);
    return typeof version === 'string' ? version : null;
  } catch {
    return null;
  }
}
