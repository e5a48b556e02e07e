import { expect, test } from 'vitest';
import type { FaultKind } from './fault.ts';
import { faultClause } from './fault-words.ts';

type Row = readonly [kind: FaultKind, now: string, past: string];

const ROWS: readonly Row[] = [
  ['pause', 'alice is paused for 20 ms', 'alice was paused from 3 ms to 23 ms'],
  ['delay', '"db/x" arrives 20 ms late', '"db/x" came 20 ms late'],
  ['drop', '"db/x" is lost', '"db/x" was lost'],
  ['duplicate', '"db/x" is executed again 20 ms later', '"db/x" was executed again 20 ms later'],
  [
    'partition',
    'alice and lock are cut off from each other',
    'alice and lock were cut off from 3 ms to 23 ms',
  ],
  ['clock', "alice's clock is set 20 ms ahead", "alice's clock was set 20 ms ahead at 3 ms"],
  ['crash', 'alice crashes', 'alice crashed at 3 ms'],
  [
    'reset',
    'the connections between alice and lock are replaced',
    'the connections between alice and lock were replaced at 3 ms',
  ],
  [
    'failover',
    'alice fails over to a replica that lags by 20 ms',
    'alice failed over at 3 ms to a replica that lagged by 20 ms',
  ],
  ['evict', 'alice forgets "db/x"', 'alice forgot "db/x" at 3 ms'],
  ['late-timer', '"db/x" fires 20 ms late', '"db/x" fired 20 ms late'],
];

const names = { process: (name: string) => name, target: (name: string) => `"${name}"` };
const span = { atUs: 3000, untilUs: 23_000 };

test.each(ROWS)('a %s is described with its target and its amount', (fault, now, past) => {
  const isPair = fault === 'partition' || fault === 'reset';
  const processes = isPair ? ['alice', 'lock'] : ['alice'];
  const injected = { ...span, processes, fault, target: 'db/x', amount: 20_000 };
  const inTense = (tense: 'now' | 'past'): string => {
    const { subject, predicate } = faultClause(injected, tense, names);
    return `${subject} ${predicate}`;
  };
  expect([inTense('now'), inTense('past')]).toEqual([now, past]);
});

test.each([
  [-200, "alice's clock runs 200 ppm too slow", "alice's clock ran 200 ppm too slow from 3 ms"],
  [200, "alice's clock runs 200 ppm too fast", "alice's clock ran 200 ppm too fast from 3 ms"],
])('a clock rate of %s ppm is described by its side', (amount, ...clauses) => {
  const injected = { fault: 'clock', atUs: 3000, untilUs: null, target: 'rate', amount } as const;
  const found = (['now', 'past'] as const).map((tense) => {
    const clause = faultClause({ ...injected, processes: ['alice'] }, tense, names);
    return `${clause.subject} ${clause.predicate}`;
  });
  expect(found).toEqual(clauses);
});
