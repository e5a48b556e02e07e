/**
 * Descriptions of each fault kind for everything that people read: the schema and `fencepost list`,
 * explanations, pictures and their captions, and the shapes by which the corpus compares plans.
 * Each caller formats names and times in its own way.
 */
import type { FaultKind } from './fault.ts';

/** The parts of an injected fault, formatted by the caller. */
export interface FaultSaid {
  /** The affected processes: all of them, or only the first, as the caller decides. */
  readonly who: string;
  readonly processes: readonly string[];
  /** The message, timer or key. */
  readonly target: string;
  /** Length, delay or lag: `20 ms`. */
  readonly amount: string;
  /** `at 3 ms` and `from 3 ms to 20 ms`; for prose only. */
  readonly at?: string;
  readonly span?: string;
  /** ` for 20 ms` and ` while it holds db`, or ''; for plain sentences only. */
  readonly long?: string;
  readonly holding?: string;
  /** The complete sentence about a clock, because the caller knows the details. */
  readonly clock: string;
}

type Words = (said: FaultSaid) => string;

interface FaultWords {
  /** The effect, for the JSON Schema of scenarios and `fencepost list`. */
  readonly about: string;
  /** An example in a scenario as a YAML map, for `fencepost explain`. */
  readonly example: string;
  /** For an explanation: `alice was paused from 3 ms to 20 ms`. */
  readonly prose: Words;
  /** For a step of a picture: `paused for 17 ms`. */
  readonly short: Words;
  /** A sentence for readers who do not know the terms, or null if a picture is clearer. */
  readonly plain: Words | null;
  /** Start of the fault's shape, before the affected process or target: `pause `. */
  readonly shape: string;
}

/** A new kind without words does not type-check. */
export const FAULT_WORDS: { readonly [Kind in FaultKind]: FaultWords } = {
  pause: {
    about: 'A process runs nothing for a while (a garbage collection, a VM that is suspended).',
    example: '{ process: clients, before: write, for: 1ms..40ms, chance: 1/2 }',
    prose: ({ who, span }) => `${who} was paused ${span}`,
    short: ({ amount }) => `paused for ${amount}`,
    plain: ({ who, long, holding }) =>
      `${who} is paused${long}${holding}: it runs nothing and notices nothing`,
    shape: 'pause ',
  },
  delay: {
    about: 'A message arrives late.',
    example: '{ message: write, by: 1ms..20ms, chance: 1/4 }',
    prose: ({ target, amount }) => `${target} came ${amount} late`,
    short: ({ target, amount }) => `${target} is ${amount} late`,
    plain: ({ processes, long }) =>
      `a message between ${processes.join(' and ')} is held up${long}`,
    shape: 'delay ',
  },
  drop: {
    about: 'A message is lost.',
    example: '{ message: acquire, leg: reply, chance: 1/4 }',
    prose: ({ target }) => `${target} was lost`,
    short: ({ target }) => `${target} will be lost`,
    plain: ({ processes }) => `a message between ${processes.join(' and ')} is lost`,
    shape: 'drop ',
  },
  duplicate: {
    about: 'A datagram is executed twice; needs link: datagram.',
    example: '{ by: 1ms..20ms, chance: 1/20 }',
    prose: ({ target, amount }) => `${target} was executed again ${amount} later`,
    short: ({ target }) => `${target} will run twice`,
    plain: ({ processes }) => `a message between ${processes.join(' and ')} is doubled`,
    shape: 'duplicate ',
  },
  partition: {
    about: 'No message crosses. A word (clients) cuts each off by itself, a list all together.',
    example: '{ from: clients, to: locks, for: 5ms..40ms, chance: 1/2 }',
    prose: ({ who, span }) => `${who} were cut off ${span}`,
    short: ({ processes }) => `cut off: ${processes.join(', ')}`,
    plain: ({ processes }) => `${processes.join(', ')} cannot reach each other`,
    shape: 'partition ',
  },
  clock: {
    about: 'A process believes another time.',
    example: '{ process: clients, at: 0ms..50ms, step: -20ms..20ms, chance: 1/2 }',
    prose: ({ clock }) => clock,
    short: ({ clock }) => clock,
    plain: ({ clock }) => clock,
    shape: 'clock ',
  },
  crash: {
    about: 'Volatile state is gone; pending calls never answer.',
    example: '{ process: clients, after: acquire, restart: 1ms..20ms, chance: 1/4 }',
    prose: ({ who, at }) => `${who} crashed ${at}`,
    short: () => '✖ crashes',
    plain: ({ who, holding }) => `${who} crashes${holding}`,
    shape: 'crash ',
  },
  reset: {
    about: 'The connections between two processes are replaced.',
    example: '{ from: clients, to: stores, chance: 1/4 }',
    prose: ({ who, at }) => `the connections between ${who} were replaced ${at}`,
    short: ({ processes }) => `connection replaced: ${processes.join(', ')}`,
    plain: null,
    shape: 'reset ',
  },
  failover: {
    about: 'A replica takes over that lags behind.',
    example: '{ process: stores, at: 0ms..50ms, lag: 1ms..20ms }',
    prose: ({ who, at, amount }) =>
      `${who} failed over ${at} to a replica that lagged by ${amount}`,
    short: ({ amount }) => `fails over to a replica ${amount} behind`,
    plain: ({ who }) => `a replica of ${who} takes over that lags behind`,
    shape: 'failover ',
  },
  evict: {
    about: 'A cache forgets a key.',
    example: '{ process: locks, key: db, chance: 1/2 }',
    prose: ({ who, target, at }) => `${who} forgot ${target} ${at}`,
    short: ({ target }) => `forgets ${target}`,
    plain: ({ who, target }) => `${who} forgets ${target}`,
    shape: '',
  },
  'late-timer': {
    about: 'A timer fires later than asked.',
    example: '{ by: 1ms..20ms, chance: 1/10 }',
    prose: ({ target, amount }) => `${target} fired ${amount} late`,
    short: ({ target, amount }) => `timer ${target} is ${amount} late`,
    plain: null,
    shape: 'late timer ',
  },
};
