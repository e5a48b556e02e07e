import { expect, test } from 'vitest';
import { acquire, grant, read, traceOf, write } from '../../check/trace-builder.fixture.ts';
import type { TraceEvent } from './events.ts';
import { hasTokens } from './trace.ts';

const none = { token: 0 };

test.each<[string, boolean, readonly TraceEvent[]]>([
  ['nothing', false, []],
  ['a grant with a token', true, [grant(0, 'alice', 1)]],
  ['a grant without one', false, [grant(0, 'alice', 1, none)]],
  ['a write with a token', true, [grant(0, 'alice', 1, none), write(1, 'alice', 1, 7)]],
  ['a write without one', false, [write(1, 'alice', 1, 7, none)]],
  ['a read with a token', true, [read(1, 'alice', 1, 7, none), read(2, 'alice', 1, 7)]],
  ['a read without one', false, [read(1, 'alice', 1, 7, none)]],
  ['a call for a lock', false, [acquire(0, 'alice/1/acquire')]],
])('a trace of %s has tokens: %s', (_, isSo, events) => {
  expect(hasTokens(traceOf(events))).toBe(isSo);
});
