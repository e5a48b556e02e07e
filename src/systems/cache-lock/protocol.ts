/**
 * djblets' CacheLock as a protocol: as it was published, with what would close its holes as
 * options.
 */
import type { ClientPlan } from '../../core/plan/plan.ts';
import { CLIENT_DEFAULTS } from '../../core/plan/plan-defaults.ts';
import type { World } from '../../core/world/world.ts';
import type { OptionInfo, OptionProblem, Options, Protocol } from '../protocol.ts';
import { FOR_EVER } from './arguments.ts';
import { CacheServer } from './cache-server.ts';
import { CacheLockDriver, type CacheLockOptions } from './driver.ts';
import { RELEASES } from './release.ts';

const NAME = 'lock';

/** So many ms are still a safe number of microseconds. */
const LONGEST_MS = 1_000_000_000_000;

const options: readonly OptionInfo[] = [
  {
    name: 'blocking',
    values: ['yes', 'no'],
    fallback: 'yes',
    about: 'whether a busy lock is waited for, with the client’s backoff, or given up at once',
  },
  {
    name: 'timeout',
    values: 'integer',
    range: [FOR_EVER, LONGEST_MS],
    fallback: FOR_EVER,
    about:
      'for how many ms a busy lock is waited for, within the client’s attempts; -1: as long as ' +
      'these last',
  },
  {
    name: 'timeoutUs',
    values: 'integer',
    fallback: 0,
    about: 'the same in microseconds, as plans of fencepost 0.1 say it; 0: as long as these last',
  },
  {
    name: 'countsFrom',
    values: ['reply', 'request'],
    fallback: 'reply',
    about: 'from when the holder counts its expiration; a reply may be arbitrarily late',
  },
  {
    name: 'extends',
    values: ['anyone', 'owner'],
    fallback: 'anyone',
    about: 'whether a touch prolongs whatever key is there, or only the holder’s own',
  },
  {
    name: 'release',
    values: RELEASES,
    fallback: 'published',
    about:
      'touch, get and delete as three messages; or add the same key again, get and delete; or ' +
      'one that compares; or a plain delete',
  },
  {
    name: 'expired',
    values: ['after', 'at'],
    fallback: 'after',
    about: 'whether a release does nothing only after its time (>), or from its very end on (>=)',
  },
  {
    name: 'instance',
    values: ['section', 'client'],
    fallback: 'section',
    about: 'whether each section makes a lock of its own, or a client keeps one for all of them',
  },
];

export const cacheLock: Protocol = {
  about: 'a lossy lock on a cache: add, touch, get, delete; the cache may evict it at any time',
  source: 'djblets, djblets.protect.locks.CacheLock, which calls itself imperfect and lossy',
  options,
  servers: () => [NAME],
  takesSeveral: false,
  // djblets waits for its interval and up to a quarter more.
  jitter: { numerator: 1, denominator: 4 },
  problem,
  unpromised: ['tokens-unique', 'tokens-increase', 'lease-conservative'],
  build: (world: World, given: Options) => {
    const host = world.addServer({ name: NAME, role: 'lock' }, new CacheServer(NAME));
    const settings = optionsOf(given);
    // What the probe is to find out is whether the lock can be had, not how long one waits for it.
    const patient = { ...settings, blocks: true, timeoutUs: FOR_EVER };
    return (_client, role) => new CacheLockDriver(role === 'probe' ? patient : settings, host);
  },
};

function problem(
  given: Options,
  clients: readonly Pick<ClientPlan, 'countsLeaseFrom'>[],
): OptionProblem | null {
  const wait = waitProblem(given);
  if (wait !== null) return wait;
  const from = given.word('countsFrom');
  const meant = { reply: 'reply', sent: 'request', issued: 'issued' } as const;
  const other = clients.find(
    ({ countsLeaseFrom: one }) => one !== CLIENT_DEFAULTS.countsLeaseFrom && meant[one] !== from,
  );
  if (other === undefined) return null;
  const said = `countsLeaseFrom: ${other.countsLeaseFrom} of its clients`;
  const what = `countsFrom: ${from} is what cache-lock goes by, and not ${said}`;
  return { option: 'countsFrom', what };
}

/** Which of the options that say how long it waits cannot be meant. */
function waitProblem(given: Options): OptionProblem | null {
  const timeout = given.whole('timeout');
  const timeoutUs = given.whole('timeoutUs');
  if (timeout === 0) {
    const what = `a timeout is longer than 0, or ${FOR_EVER} for ever; blocking: no does not wait at all`;
    return { option: 'timeout', what };
  }
  if (timeoutUs > 0 && timeout !== FOR_EVER) {
    return { option: 'timeoutUs', what: 'timeout says it already' };
  }
  if (given.word('blocking') === 'yes') return null;
  if (timeout !== FOR_EVER) {
    return { option: 'timeout', what: 'timeout means nothing with blocking: no' };
  }
  if (timeoutUs > 0) {
    return { option: 'timeoutUs', what: 'timeoutUs means nothing with blocking: no' };
  }
  return null;
}

function timeoutUsOf(given: Options): number {
  const timeout = given.whole('timeout');
  if (timeout !== FOR_EVER) return timeout * 1000;
  const timeoutUs = given.whole('timeoutUs');
  return timeoutUs === 0 ? FOR_EVER : timeoutUs;
}

function optionsOf(given: Options): CacheLockOptions {
  const release = RELEASES.find((rule) => rule === given.word('release')) ?? 'published';
  return {
    blocks: given.word('blocking') === 'yes',
    timeoutUs: timeoutUsOf(given),
    countsFrom: given.word('countsFrom') === 'request' ? 'request' : 'reply',
    extends: given.word('extends') === 'owner' ? 'owner' : 'anyone',
    release,
    expired: given.word('expired') === 'at' ? 'at' : 'after',
    isShared: given.word('instance') === 'client',
  };
}
