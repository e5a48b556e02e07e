/** Redlock as a protocol: as it is specified, and with each of its precautions left out. */
import type { ClientPlan } from '../../core/plan/plan.ts';
import type { World } from '../../core/world/world.ts';
import type { LockDriver, OptionInfo, OptionProblem, Options, Protocol } from '../protocol.ts';
import { nodeOptions, nodeSettings } from '../redis/protocol.ts';
import { RedisServer } from '../redis/server.ts';
import { RedlockDriver } from './driver.ts';
import { majorityOf } from './quorum.ts';
import { NodeWitness, TenureBook } from './tenure-book.ts';

const options: readonly OptionInfo[] = [
  {
    name: 'nodes',
    values: 'integer',
    range: [1, 100],
    fallback: 5,
    about: 'how many Redis nodes there are, from 1 to 100: lock-1, lock-2, …',
  },
  {
    name: 'asks',
    values: ['together', 'in-turn'],
    fallback: 'together',
    about: 'whether all nodes are asked at once, as its page advises, or one after the other',
  },
  {
    name: 'quorum',
    values: ['majority', 'half'],
    fallback: 'majority',
    about: 'how many nodes are enough: ⌊n/2⌋ + 1, or ⌊n/2⌋',
  },
  {
    name: 'validity',
    values: ['checked', 'unchecked'],
    fallback: 'checked',
    about: 'whether answers that come when the ttl is used up still count (npm redlock 5: they do)',
  },
  {
    name: 'drift',
    values: ['counted', 'ignored'],
    fallback: 'counted',
    about: 'whether the lock ends for its client before its keys expire, by the margin for drift',
  },
  {
    name: 'driftFactorPpm',
    values: 'integer',
    fallback: 10_000,
    about: 'the part of the margin for drift that grows with the ttl, in parts per million of it',
  },
  {
    name: 'driftMarginUs',
    values: 'integer',
    fallback: 2_000,
    about: 'the constant part of the margin for drift, in microseconds',
  },
  {
    name: 'elapsed',
    values: ['monotonic', 'wall'],
    fallback: 'monotonic',
    about: 'by which of its clocks a client counts the time that asking took, and its lease',
  },
  {
    name: 'partial',
    values: ['released', 'kept'],
    fallback: 'released',
    about: 'whether an attempt that failed unlocks every node, or leaves its keys to expire',
  },
  {
    name: 'restart',
    values: ['delayed', 'at-once'],
    fallback: 'delayed',
    about: 'whether a node that lost its keys stays out of service for the longest ttl in use',
  },
  ...nodeOptions,
];

export const redlock: Protocol = {
  about: 'Redlock as specified: a majority of independent Redis nodes, within the time of validity',
  source: 'redis.io, Distributed Locks with Redis: The Redlock Algorithm',
  options,
  servers: nodeNames,
  takesSeveral: false,
  // "After a random delay", says its page, and not how long: up to twice the backoff.
  jitter: { numerator: 1, denominator: 1 },
  problem,
  unpromised: ['tokens-unique', 'tokens-increase'],
  build,
};

const MARGIN = [
  ['driftFactorPpm', 10_000],
  ['driftMarginUs', 2_000],
] as const;

function problem(given: Options): OptionProblem | null {
  const margin = MARGIN.find(([option, fallback]) => given.whole(option) !== fallback);
  if (margin === undefined || given.word('drift') !== 'ignored') return null;
  const [option] = margin;
  return { option, what: `${option} means nothing with drift: ignored` };
}

function nodeNames(given: Options): readonly string[] {
  return Array.from({ length: given.whole('nodes') }, (_, index) => `lock-${index + 1}`);
}

function build(world: World, given: Options): (client: ClientPlan) => LockDriver {
  const tenures = new TenureBook();
  const restart = given.word('restart') === 'at-once' ? 'at-once' : 'delayed';
  const parts = nodeSettings(given, restart);
  const nodes = nodeNames(given).map((name) =>
    world.addServer({ name, role: 'lock' }, new RedisServer(parts, new NodeWitness(name, tenures))),
  );
  const isHalf = given.word('quorum') === 'half';
  const margin = {
    factorPpm: given.whole('driftFactorPpm'),
    constantUs: given.whole('driftMarginUs'),
  };
  const settings = {
    nodes,
    quorum: isHalf ? Math.max(1, Math.floor(nodes.length / 2)) : majorityOf(nodes.length),
    asks: given.word('asks') === 'in-turn' ? 'in-turn' : 'together',
    validity: given.word('validity') === 'unchecked' ? 'unchecked' : 'checked',
    partial: given.word('partial') === 'kept' ? 'kept' : 'released',
    margin: given.word('drift') === 'ignored' ? null : margin,
    elapsed: given.word('elapsed') === 'wall' ? 'wall' : 'monotonic',
  } as const;
  return () => new RedlockDriver(settings, tenures);
}
