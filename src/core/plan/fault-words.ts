/**
 * The words for each kind of fault, for everything that people read: the schema and `fencepost
 * list`, explanations, and the steps and sentences of a story.
 */
import { listOf } from '../../text/prose.ts';
import { proseDuration } from './duration.ts';
import type { FaultKind } from './fault.ts';

/** An injected fault, as a trace records it. */
interface InjectedFault {
  readonly fault: FaultKind;
  readonly atUs: number;
  readonly untilUs: number | null;
  readonly processes: readonly string[];
  /** The message, timer or key; `step` or `rate` for a clock. */
  readonly target: string;
  /** A duration, delay, lag or step in microseconds, or a clock rate in ppm. */
  readonly amount: number;
}

/** The caller's names for processes and for the affected message, timer or key. */
export interface FaultNames {
  readonly process: (name: string) => string;
  readonly target: (name: string) => string;
}

interface FaultParts {
  /** `20 ms`. */
  readonly amount: string;
  /** `at 3 ms`, and `from 3 ms to 20 ms` or `from 3 ms`. */
  readonly at: string;
  readonly span: string;
  readonly target: string;
  /**
   * For a clock: true if its rate changes, and a description: `10 ms back` or `200 ppm too slow`.
   */
  readonly isRate: boolean;
  readonly change: string;
}

type Predicate = (parts: FaultParts) => string;

interface FaultWords {
  /** The effect, for the JSON Schema of scenarios and `fencepost list`. */
  readonly about: string;
  /** Default: the affected processes. */
  readonly subject?: 'target' | 'clock' | 'connections';
  /** Predicates in the present tense for a story, and in the past tense for an explanation. */
  readonly now: Predicate;
  readonly past: Predicate;
}

/** A kind that is missing here does not type-check. */
export const FAULT_WORDS: { readonly [Kind in FaultKind]: FaultWords } = {
  pause: {
    about: 'A process is suspended for a while (a garbage collection, a suspended VM).',
    now: ({ amount }) => `is paused for ${amount}`,
    past: ({ span }) => `was paused ${span}`,
  },
  delay: {
    about: 'A message arrives late.',
    subject: 'target',
    now: ({ amount }) => `arrives ${amount} late`,
    past: ({ amount }) => `came ${amount} late`,
  },
  drop: {
    about: 'A message is lost.',
    subject: 'target',
    now: () => 'is lost',
    past: () => 'was lost',
  },
  duplicate: {
    about: 'A datagram is executed twice; needs link: datagram.',
    subject: 'target',
    now: ({ amount }) => `is executed again ${amount} later`,
    past: ({ amount }) => `was executed again ${amount} later`,
  },
  partition: {
    about: 'No message passes. `clients` isolates each client; a list is isolated as a group.',
    now: () => 'are cut off from each other',
    past: ({ span }) => `were cut off ${span}`,
  },
  clock: {
    about: 'A clock of a process is set, or runs at another rate.',
    subject: 'clock',
    now: ({ isRate, change }) => (isRate ? `runs ${change}` : `is set ${change}`),
    past: ({ isRate, change, at, span }) =>
      isRate ? `ran ${change} ${span}` : `was set ${change} ${at}`,
  },
  crash: {
    about: 'Volatile state is gone; pending calls never answer.',
    now: () => 'crashes',
    past: ({ at }) => `crashed ${at}`,
  },
  reset: {
    about: 'The connections between two processes are replaced.',
    subject: 'connections',
    now: () => 'are replaced',
    past: ({ at }) => `were replaced ${at}`,
  },
  failover: {
    about: 'A replica that lags behind takes over.',
    now: ({ amount }) => `fails over to a replica that lags by ${amount}`,
    past: ({ at, amount }) => `failed over ${at} to a replica that lagged by ${amount}`,
  },
  evict: {
    about: 'A cache forgets a key.',
    now: ({ target }) => `forgets ${target}`,
    past: ({ target, at }) => `forgot ${target} ${at}`,
  },
  'late-timer': {
    about: 'A timer fires later than requested.',
    subject: 'target',
    now: ({ amount }) => `fires ${amount} late`,
    past: ({ amount }) => `fired ${amount} late`,
  },
};

/** Returns the subject and the predicate of a clause about a fault: `alice`, `crashed at 3 ms`. */
export function faultClause(
  injected: InjectedFault,
  tense: 'now' | 'past',
  names: FaultNames,
): { readonly subject: string; readonly predicate: string } {
  const { fault, atUs, untilUs, amount } = injected;
  const words = FAULT_WORDS[fault];
  const processes = listOf(injected.processes.map(names.process));
  const target = names.target(injected.target);
  const from = `from ${proseDuration(atUs)}`;
  const isRate = injected.target === 'rate';
  const size = isRate ? `${Math.abs(amount)} ppm` : proseDuration(Math.abs(amount));
  const [less, more] = isRate ? ['too slow', 'too fast'] : ['back', 'ahead'];
  const subjects = {
    target,
    clock: `${processes}'s clock`,
    connections: `the connections between ${processes}`,
  };
  const predicate = words[tense]({
    amount: proseDuration(amount),
    at: `at ${proseDuration(atUs)}`,
    span: untilUs === null ? from : `${from} to ${proseDuration(untilUs)}`,
    target,
    isRate,
    change: `${size} ${amount < 0 ? less : more}`,
  });
  return { subject: words.subject ? subjects[words.subject] : processes, predicate };
}
