/** The lock service with fencing tokens as a protocol: the baseline, and as it was published. */
import type { ClientPlan } from '../../core/plan/plan.ts';
import type { ServerHost } from '../../core/world/server.ts';
import type { World } from '../../core/world/world.ts';
import type {
  CheckToken,
  LockDriver,
  OptionInfo,
  OptionProblem,
  Options,
  Protocol,
} from '../protocol.ts';
import { type DriverManner, LockServiceDriver } from './driver.ts';
import { describeLockReply, type LockReply, type LockRequest, LockServer } from './lock-server.ts';

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
    range: [1, Number.MAX_SAFE_INTEGER],
    fallback: 1,
    about: 'the token of the first grant',
  },
  {
    name: 'tokens',
    values: ['exact', 'double', '32-bit', 'random'],
    fallback: 'exact',
    about: 'the counter is exact, passes through a double, wraps at 2^31, or is no counter at all',
  },
  {
    name: 'attaches',
    values: ['own', 'at-times', 'current'],
    fallback: 'own',
    about:
      'the token of an access: its client’s own, none in every 2nd section, or the current one',
  },
  {
    name: 'renew',
    values: ['keeps', 'raises'],
    fallback: 'keeps',
    about: 'whether a renew keeps the token, or gives a new one',
  },
  {
    name: 'release',
    values: ['named', 'by-client'],
    fallback: 'named',
    about: 'whether a release names its grant, or frees whatever its client holds by then',
  },
  {
    name: 'waits',
    values: ['retry', 'in-line', 'in-line-unverified'],
    fallback: 'retry',
    about:
      'a busy lock is asked for again, or waited for in line, with or without a look at one’s own entry at the front',
  },
  {
    name: 'lockDelay',
    values: 'integer',
    fallback: 0,
    about: 'for how many ms after the end of a lease that nobody released nobody gets the lock',
  },
];

export const lockService: Protocol = {
  about: 'leases with fencing tokens; its own clock, a renew or release names its grant',
  source: SOURCE,
  options,
  servers: () => [NAME],
  takesSeveral: false,
  problem,
  unpromised: [],
  build: (world, given) => build(world, given, false).driverOf,
  buildAsked: (world, given) => build(world, given, false),
};

/** More grants than any run gives. */
const GRANTS = 1_000_000_000;

/** A line counts its tokens and hands over by itself; exact tokens need room to grow. */
function problem(given: Options): OptionProblem | null {
  const highest = Number.MAX_SAFE_INTEGER - GRANTS;
  if (given.whole('firstToken') > highest && given.word('tokens') === 'exact') {
    const what = `firstToken may be at most ${highest}, but with tokens: double`;
    return { option: 'firstToken', what };
  }
  const waits = given.word('waits');
  if (waits === 'retry') return null;
  const idle = [
    ['lockDelay', given.whole('lockDelay') !== 0],
    ['tokens', given.word('tokens') !== 'exact'],
    ['renew', given.word('renew') !== 'keeps'],
  ] as const;
  const found = idle.find(([, isGiven]) => isGiven);
  if (found === undefined) return null;
  const [option] = found;
  return { option, what: `${option} means nothing with waits: ${waits}` };
}

function publishedProblem(given: Options): OptionProblem | null {
  if (given.word('clock') === 'monotonic') return null;
  const what = 'clock means nothing to lock-service-published: its callers say what time it is';
  return { option: 'clock', what };
}

export const lockServicePublished: Protocol = {
  ...lockService,
  about: 'the same to the letter of the book: expiry by the caller’s clock, release by client id',
  problem: (given) => publishedProblem(given) ?? problem(given),
  build: (world, given) => build(world, given, true).driverOf,
  buildAsked: (world, given) => build(world, given, true),
};

function build(
  world: World,
  given: Options,
  isPublished: boolean,
): { driverOf: (client: ClientPlan) => LockDriver; check: CheckToken } {
  const waits = oneOf(given.word('waits'), ['in-line', 'in-line-unverified'], 'retry');
  const server = new LockServer(NAME, {
    isPublished,
    counter: oneOf(given.word('counter'), ['volatile'], 'durable'),
    clock: oneOf(given.word('clock'), ['wall'], 'monotonic'),
    firstToken: given.whole('firstToken'),
    rules: {
      numbering: oneOf(given.word('tokens'), ['double', '32-bit', 'random'], 'exact'),
      renewRaises: given.word('renew') === 'raises',
      lockDelay: given.whole('lockDelay') * 1000,
    },
    release: isPublished ? 'by-client' : oneOf(given.word('release'), ['by-client'], 'named'),
    waits,
  });
  const host = world.addServer({ name: NAME, role: 'lock' }, server);
  const attaches = oneOf(given.word('attaches'), ['at-times', 'current'], 'own');
  const manner: DriverManner = { attaches, waitsInLine: waits !== 'retry' };
  return {
    driverOf: (client) => new LockServiceDriver(client.name, host, manner),
    check: checkWith(host),
  };
}

/** The one of `others` that an option's value is, or else its default. */
function oneOf<const Word extends string>(
  value: string,
  others: readonly Word[],
  fallback: Word,
): Word {
  return others.find((word) => word === value) ?? fallback;
}

/** How long a store waits for the lock service before it refuses what it cannot verify. */
const CHECK_TIMEOUT_US = 100_000;

function checkWith(target: ServerHost<LockRequest, LockReply>): CheckToken {
  return (turn, { lock, token }, told) => {
    turn.ask(
      {
        label: 'check',
        call: { verb: 'check', lock, token },
        target,
        request: { kind: 'check', lock, token, nowUs: turn.wallUs },
        timeoutUs: CHECK_TIMEOUT_US,
        tries: 1,
        describe: describeLockReply,
      },
      ({ reply }, atUs) => told(reply === null ? null : reply.kind === 'current', atUs),
    );
  };
}
