/** The words of each kind of fault. */
import type { FaultKind } from './fault.ts';

interface FaultWords {
  /** What it does, as the JSON Schema of scenarios and `fencepost list` say it. */
  readonly about: string;
}

export const FAULT_WORDS: { readonly [Kind in FaultKind]: FaultWords } = {
  pause: {
    about: 'A process runs nothing for a while (a garbage collection, a VM that is suspended).',
  },
  delay: { about: 'A message arrives late.' },
  drop: { about: 'A message is lost.' },
  duplicate: { about: 'A datagram is executed twice; needs link: datagram.' },
  partition: {
    about: 'No message crosses. A word (clients) cuts each off by itself, a list all together.',
  },
  clock: { about: 'A process believes another time.' },
  crash: { about: 'Volatile state is gone; pending calls never answer.' },
  reset: { about: 'The connections between two processes are replaced.' },
  failover: { about: 'A replica takes over that lags behind.' },
  evict: { about: 'A cache forgets a key.' },
  'late-timer': { about: 'A timer fires later than asked.' },
};
