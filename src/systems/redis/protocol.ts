/** The lock on a single Redis instance as a protocol, with what may be done wrong as options. */
import type { ClientPlan } from '../../core/plan/plan.ts';
import type { World } from '../../core/world/world.ts';
import type { LockDriver, OptionInfo, Options, Protocol } from '../protocol.ts';
import { RedisDriver, type RedisDriverOptions } from './driver.ts';
import { RedisServer, type RedisServerOptions } from './server.ts';
import { GrantWitness } from './witness.ts';

const NAME = 'lock';

/** Those that every Redis node has, alone or as one of several. */
export const nodeOptions: readonly OptionInfo[] = [
  {
    name: 'persistence',
    values: ['none', 'always'],
    fallback: 'none',
    about: 'whether a node finds its keys again after a crash: always is AOF with fsync=always',
  },
  {
    name: 'expiry',
    values: ['wall', 'monotonic'],
    fallback: 'wall',
    about: 'which clock of a node judges expiry; in Redis it is the wall clock',
  },
];

const options: readonly OptionInfo[] = [
  {
    name: 'release',
    values: ['compare-and-delete', 'get-then-delete', 'delete'],
    fallback: 'compare-and-delete',
    about: 'how the lock is given back: by a script that compares, a GET and a DEL, or just a DEL',
  },
  {
    name: 'renew',
    values: ['compare', 'any'],
    fallback: 'compare',
    about: 'whether a renew compares the value in a script, or is a PEXPIRE of whatever is there',
  },
  {
    name: 'token',
    values: ['none', 'value'],
    fallback: 'none',
    about: 'whether the random value is sent along as if it were a fencing token',
  },
  ...nodeOptions,
];

export const redis: Protocol = {
  about: 'one Redis instance: SET NX PX with a random value, deleted by a script that compares it',
  source: 'redis.io, Distributed Locks with Redis: Correct Implementation with a Single Instance',
  options,
  servers: () => [NAME],
  takesSeveral: false,
  unpromised: ['tokens-unique', 'tokens-increase'],
  build,
};

function build(world: World, given: Options): (client: ClientPlan) => LockDriver {
  const token = given.word('token') === 'value' ? 'value' : 'none';
  const witness = new GrantWitness(NAME, token === 'value');
  const parts = nodeSettings(given, 'at-once');
  const host = world.addServer({ name: NAME, role: 'lock' }, new RedisServer(parts, witness));
  const renew = given.word('renew') === 'any' ? 'any' : 'compare';
  const settings: RedisDriverOptions = { release: releaseOf(given), renew, token };
  return () => new RedisDriver(settings, host);
}

/** How a node is run by the values of `nodeOptions`. */
export function nodeSettings(
  given: Options,
  restart: RedisServerOptions['restart'],
): RedisServerOptions {
  return {
    restart,
    persistence: given.word('persistence') === 'always' ? 'always' : 'none',
    expiry: given.word('expiry') === 'monotonic' ? 'monotonic' : 'wall',
  };
}

function releaseOf(given: Options): RedisDriverOptions['release'] {
  const word = given.word('release');
  return word === 'delete' || word === 'get-then-delete' ? word : 'compare-and-delete';
}
