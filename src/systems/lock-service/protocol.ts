/** The lock service with fencing tokens as a protocol: the baseline, and as it was published. */
import type { ClientPlan } from '../../plan/plan.ts';
import type { World } from '../../world/world.ts';
import type { LockDriver, OptionInfo, Options, Protocol } from '../protocol.ts';
import { LockServiceDriver } from './driver.ts';
import { LockServer } from './lock-server.ts';

const NAME = 'lock';
const SOURCE = 'Kleppmann, Designing Data-Intensive Applications, chapters 8 and 9';

const options: readonly OptionInfo[] = [
  {
    name: 'counter',
    values: ['durable', 'volatile'],
    fallback: 'durable',
    about: 'whether the token counter survives a crash of the lock service',
  },
  {
    name: 'clock',
    values: ['monotonic', 'wall'],
    fallback: 'monotonic',
    about: 'which clock of the lock service judges expiry',
  },
  {
    name: 'firstToken',
    values: 'integer',
    fallback: 1,
    about: 'the token of the first grant',
  },
];

export const lockService: Protocol = {
  about: 'leases with fencing tokens; its own clock, a renew or release names its grant',
  source: SOURCE,
  options,
  servers: () => [NAME],
  takesSeveral: false,
  unpromised: [],
  build: (world, given) => build(world, given, false),
};

export const lockServicePublished: Protocol = {
  ...lockService,
  about: 'the same to the letter of the book: expiry by the caller’s clock, release by client id',
  build: (world, given) => build(world, given, true),
};

function build(
  world: World,
  given: Options,
  isPublished: boolean,
): (client: ClientPlan) => LockDriver {
  const server = new LockServer(NAME, {
    isPublished,
    counter: given.word('counter') === 'volatile' ? 'volatile' : 'durable',
    clock: given.word('clock') === 'wall' ? 'wall' : 'monotonic',
    firstToken: given.whole('firstToken'),
  });
  const host = world.addServer({ name: NAME, role: 'lock' }, server);
  return (client) => new LockServiceDriver(client.name, host);
}
