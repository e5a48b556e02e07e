/**
 * Which versions of the packages that people bring along fencepost works with. It installs beside
 * every version, since whoever runs scenarios needs none of them; what does not work is refused
 * where it is used, before it fails in words of its own or, like bullmq 4, waits for ever. What is
 * newer than the newest that was tried is let through.
 */
import { createRequire } from 'node:module';
import { gte, valid } from 'semver';

/** The oldest version that works, how it is called in a sentence, and one that CI runs. */
const NEEDED = {
  bullmq: { least: '5.6.0', since: '5.6', install: 'npm install bullmq@6' },
  'fast-check': { least: '4.0.0', since: '4.0', install: 'npm install --save-dev fast-check@4' },
  ioredis: { least: '5.3.0', since: '5.3', install: 'npm install ioredis@5' },
  vitest: { least: '3.2.0', since: '3.2', install: 'npm install --save-dev vitest@4' },
} as const;

type Needed = keyof typeof NEEDED;

/** Throws, in one line, where one of these is installed in a version that does not work. */
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
  // What precedes 5.6.0 as `5.6.0-beta.1` may lack what is needed.
  if (valid(version) === null || gte(version, least)) return null;
  return `${name} ${version} is installed, and fencepost works with ${since} or later: ${install}`;
}

/** Null where it is not installed, which whoever imports it says. */
function installedVersion(name: Needed): string | null {
  const require = createRequire(import.meta.url);
  try {
    const { version }: { readonly version?: unknown } = require(`${name}/package.json`);
    return typeof version === 'string' ? version : null;
  } catch {
    return null;
  }
}
