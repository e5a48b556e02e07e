/**
 * Lists the findings of fencepost in each lock package of `fixtures/packages`, and renders them as
 * `reports/packages.md`. Causes were traced event by event in the source of the package;
 * `packages.slow.test.ts` runs each scenario and compares the counts.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** One claim of one system in one scenario, and how many of its first 20 seeds break it. */
export interface Count {
  readonly scenario: string;
  readonly system: string;
  readonly claim: string;
  readonly seeds: number;
}

interface Finding {
  /** The packages in the heading, as in the lock file of the folder. */
  readonly packages: readonly string[];
  readonly breaks: readonly Count[];
  readonly cause: string;
  readonly cure: string;
}

const home: string = fileURLToPath(new URL('../../fixtures/packages/', import.meta.url));

/** Findings by the folder in `fixtures/packages`. */
export const findings: Readonly<Record<string, Finding>> = {
  ioredis: {
    packages: ['ioredis'],
    breaks: [{ scenario: 'resent-set', system: 'waits', claim: 'no-orphan', seeds: 6 }],
    cause:
      'When a connection closes, `closeHandler` in `built/redis/event_handler.js` keeps the unanswered commands, and `readyHandler` sends them again. The server executed the first `SET NX` and answers the second with nil, so `redis.set` resolves with null, as if another client held the lock.',
    cure: 'A denied client reads the key and enters if the value is its own (`acquireOrFind`). Disabling `autoResendUnfulfilledCommands` gives an error instead, but leaves the key.',
  },
  'node-redis': {
    packages: ['redis'],
    breaks: [{ scenario: 'unheard-set', system: 'throws', claim: 'no-orphan', seeds: 6 }],
    cause:
      'The driver sends no command twice: `flushWaitingForReply` in `dist/lib/client/commands-queue.js` rejects commands that were sent but not answered. A lock that only passes the error on leaves the key until its ttl ends.',
    cure: 'Send the release script before passing the error on (`acquireOrGiveBack`); it waits for the new connection.',
  },
  'redlock-5': {
    packages: ['redlock', 'ioredis'],
    breaks: [{ scenario: 'resent-acquire', system: 'published', claim: 'no-orphan', seeds: 8 }],
    cause:
      'ioredis sends the script again. `ACQUIRE_SCRIPT` returns 0 for any existing key, its own included, and `_execute` retries with the same value until `retryCount` is used up.',
    cure: 'An `acquireScript` that counts a key with its own value as taken (`repeatable`).',
  },
  'redlock-4': {
    packages: ['redlock', 'ioredis'],
    breaks: [
      { scenario: 'paused-holder', system: 'without-token', claim: 'grant-order', seeds: 9 },
    ],
    cause:
      'A pause after the check of `expiration` and before the write, as with any lock without a token. A lost answer is harmless here: `_lock` unlocks after each failed attempt, so `no-orphan` holds.',
    cure: 'A number drawn by `INCR` while the lock is held, compared by the store (`lockWithToken`).',
  },
  'redlock-universal': {
    packages: ['redlock-universal', 'ioredis'],
    breaks: [{ scenario: 'late-answer', system: 'from-answer', claim: 'grant-order', seeds: 4 }],
    cause:
      '`SimpleLock.acquire` counts the lease from the answer to `SET NX`, but the server from the time when it set the key. After a late answer, the handle outlives the key.',
    cure: 'Count from before the request, one attempt at a time (`acquireInTime`).',
  },
  'redis-lock': {
    packages: ['redis-lock', 'redis'],
    breaks: [{ scenario: 'late-del', system: 'published', claim: 'owner-only-release', seeds: 7 }],
    cause:
      'The release compares `lockTimeoutValue` with `Date.now()` and then sends a plain `DEL`. A pause between the two removes the key of the next client.',
    cure: 'A unique value, compared by the script that deletes it (`acquireOwned`).',
  },
  'redis-semaphore': {
    packages: ['redis-semaphore', 'ioredis'],
    breaks: [{ scenario: 'late-answer', system: 'published', claim: 'grant-order', seeds: 3 }],
    cause:
      '`tryAcquire` in `lib/Lock.js` counts its lease and its first renewal (`REFRESH_INTERVAL_COEF`, four fifths of `lockTimeout`) from the answer, so `isAcquired` stays true after the key has expired.',
    cure: 'Count from before the request, one attempt at a time (`acquireInTime`).',
  },
  'simple-redis-mutex': {
    packages: ['simple-redis-mutex', 'redis'],
    breaks: [
      { scenario: 'late-token', system: 'published', claim: 'tokens-increase', seeds: 2 },
      { scenario: 'late-token', system: 'published', claim: 'grant-order', seeds: 2 },
      { scenario: 'late-refresh', system: 'published', claim: 'renew-live', seeds: 9 },
    ],
    cause:
      '`tryLock` sends `SET NX PX` and then `INCR` for the token, so tokens follow the order of `INCR` instead of the order of grants, and no clock is read afterwards. `refreshTimeout` sends `GET` and then a plain `PEXPIRE`, which may extend the lock of the next client. A lost answer ends the process: `attempt` leaves the rejection of `tryLock` unhandled.',
    cure: 'Attempts counted from before the request (`acquireInTime`); one script each for `SET` with `INCR` and for `GET` with `PEXPIRE` (`acquireCompared`).',
  },
};

/** Returns the name and version of a package in the lock file of a folder. */
function versioned(folder: string, name: string): string {
  const lock: { readonly packages: Readonly<Record<string, { readonly version?: string }>> } =
    JSON.parse(readFileSync(join(home, folder, 'package-lock.json'), 'utf8'));
  return `${name}@${lock.packages[`node_modules/${name}`]?.version}`;
}

const INTRODUCTION = `# Lock packages of npm, unmodified

Written by \`npx vitest run tools/docs/packages.slow.test.ts -u\`, which runs every scenario on 20 seeds and replays every
kept plan. Each package runs unmodified, on its usual driver. With the cure, each claim holds on all 20 seeds.

The folder of a package in the repository has its scenarios, user code and kept counterexamples (\`plans\`). To run one in
a checkout after \`npm ci\`:

\`\`\`sh
npm ci --ignore-scripts --prefix fixtures/packages/ioredis
npx --no-install fencepost run fixtures/packages/ioredis/resent-set.yaml --seeds 20
npx --no-install fencepost replay fixtures/packages/ioredis/plans/resent-set-waits-no-orphan.yaml --modules fixtures/packages/ioredis
\`\`\`
`;

function sectionOf([folder, { packages, breaks, cause, cure }]: [string, Finding]): string {
  const counts = breaks.map(
    ({ scenario, claim, seeds }) => `\`${claim}\` on ${seeds} seeds of \`${scenario}.yaml\``,
  );
  return [
    `## ${packages.map((name) => versioned(folder, name)).join(' on ')}`,
    '',
    `- \`fixtures/packages/${folder}\` breaks ${counts.join(', ')}.`,
    `- Cause: ${cause}`,
    `- Cure: ${cure}`,
  ].join('\n');
}

/** The text of `reports/packages.md`. */
export function renderPackages(): string {
  const sections = Object.entries(findings).map(sectionOf);
  return `${[INTRODUCTION.trim(), ...sections].join('\n\n')}\n`;
}
