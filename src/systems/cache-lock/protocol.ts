/**
 * djblets' CacheLock as a protocol: as it was published, with what would close its holes as
 * options.
 */
import type { ClientPlan } from '../../plan/plan.ts';
import { CLIENT_DEFAULTS } from '../../plan/plan-defaults.ts';
import type { World } from '../../world/world.ts';
import type { OptionInfo, OptionProblem, Options, Protocol } from '../protocol.ts';
import { FOR_EVER } from './arguments.ts';
import { CacheServer } from './cache-server.ts';
import { CacheLockDriver, type CacheLockOptions } from './driver.ts';

const NAME = 'lock';

const options: readonly OptionInfo[] = [
  {
    name: 'blocking',
    values: ['yes', 'no'],
    fallback: 'yes',
    about: 'whether a busy lock is waited for, with the client’s backoff, or given up at once',
  },
  {
    name: 'timeoutUs',
    values: 'integer',
    fallback: 0,
    about:
      'how long a busy lock is waited for, in microseconds, within the client’s attempts; 0 is ' +
      'djblets’ -1: as long as these last',
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
    values: ['published', 'compare-and-delete', 'delete'],
    fallback: 'published',
    about: 'touch, get and delete as three messages; or one that compares; or a plain delete',
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
  if (given.whole('timeoutUs') > 0 && given.word('blocking') === 'no') {
    return { option: 'timeoutUs', what: 'timeoutUs means nothing with blocking: no' };
  }
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

function optionsOf(given: Options): CacheLockOptions {
  const timeoutUs = given.whole('timeoutUs');
  const release = given.word('release');
  return {
    blocks: given.word('blocking') === 'yes',
    timeoutUs: timeoutUs === 0 ? FOR_EVER : timeoutUs,
    countsFrom: given.word('countsFrom') === 'request' ? 'request' : 'reply',
    extends: given.word('extends') === 'owner' ? 'owner' : 'anyone',
    release: release === 'compare-and-delete' || release === 'delete' ? release : 'published',
    isShared: given.word('instance') === 'client',
  };
}
