/** Tests the line that compares a twin with the system that broke. */
import { expect, test } from 'vitest';
import { grant, traceOf } from '../check/trace-builder.fixture.ts';
import type { Grant } from '../core/history/events.ts';
import { planOf } from '../systems/plan.fixture.ts';
import { siblingLine } from './sibling-text.ts';

test.each<[string, Partial<Grant>, string]>([
  ['a server gave', {}, 'lock never grants db to alice'],
  ['a program takes itself', { process: 'alice' }, 'alice never enters db'],
])('names a grant that %s and that the twin never had', (_, more, words) => {
  const replay = {
    claim: 'grant-order',
    outcome: 'fixed',
    divergedAt: null,
    digest: '',
    trace: traceOf([]),
    verdict: { kind: 'valid', claim: 'grant-order', exercised: 1 },
    cause: null,
  } as const;
  const fate = { kind: 'ran', plan: planOf({ clients: [] }), replay } as const;
  const sibling = { system: 'fenced', claim: 'grant-order', fate };
  const { text } = siblingLine(sibling, traceOf([grant(1, 'alice', 1, more)]));
  expect(text).toContain(words);
});
