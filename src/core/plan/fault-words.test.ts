import { expect, test } from 'vitest';
import type { FaultKind } from './fault.ts';
import { FAULT_WORDS } from './fault-words.ts';

const said = {
  who: 'alice',
  processes: ['alice', 'lock'],
  target: 'db/x',
  amount: '20 ms',
  at: 'at 3 ms',
  span: 'from 3 ms to 23 ms',
  long: ' for 20 ms',
  holding: ' while it holds db',
  clock: 'her clock is late',
};

/** A kind with its words in an explanation, in a picture, and in a plain sentence. */
type Row = readonly [kind: FaultKind, prose: string, short: string, plain: string | undefined];

const ROWS: readonly Row[] = [
  [
    'pause',
    'alice was paused from 3 ms to 23 ms',
    'paused for 20 ms',
    'alice is paused for 20 ms while it holds db: it runs nothing and notices nothing',
  ],
  [
    'delay',
    'db/x came 20 ms late',
    'db/x is 20 ms late',
    'a message between alice and lock is held up for 20 ms',
  ],
  ['drop', 'db/x was lost', 'db/x will be lost', 'a message between alice and lock is lost'],
  [
    'duplicate',
    'db/x was executed again 20 ms later',
    'db/x will run twice',
    'a message between alice and lock is doubled',
  ],
  [
    'partition',
    'alice were cut off from 3 ms to 23 ms',
    'cut off: alice, lock',
    'alice, lock cannot reach each other',
  ],
  ['clock', 'her clock is late', 'her clock is late', 'her clock is late'],
  ['crash', 'alice crashed at 3 ms', '✖ crashes', 'alice crashes while it holds db'],
  [
    'reset',
    'the connections between alice were replaced at 3 ms',
    'connection replaced: alice, lock',
    undefined,
  ],
  [
    'failover',
    'alice failed over at 3 ms to a replica that lagged by 20 ms',
    'fails over to a replica 20 ms behind',
    'a replica of alice takes over that lags behind',
  ],
  ['evict', 'alice forgot db/x at 3 ms', 'forgets db/x', 'alice forgets db/x'],
  ['late-timer', 'db/x fired 20 ms late', 'timer db/x is 20 ms late', undefined],
];

test.each(ROWS)('a %s is described with its target and its amount', (kind, ...words) => {
  const { prose, short, plain } = FAULT_WORDS[kind];
  expect([prose(said), short(said), plain?.(said)]).toEqual(words);
});
