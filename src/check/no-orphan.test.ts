import { expect, test } from 'vitest';
import type { TraceEvent } from '../core/history/trace.ts';
import {
  acquire,
  answer,
  breachOf,
  deny,
  fault,
  grant,
  release,
  unknown,
  verdictOn,
} from './trace-builder.fixture.ts';

const orphaned: readonly TraceEvent[] = [
  acquire(0, 'alice/1/acquire'),
  grant(1, 'alice', 1),
  unknown(3, 'alice/1/acquire'),
];
const denial = deny(5, 'bob', 1);
const takesBack: TraceEvent = {
  ...acquire(4, 'alice/1/withdraw'),
  call: { verb: 'release', lock: 'db', token: 0 },
};

function verdictOf(...more: readonly TraceEvent[]) {
  const { kind, exercised } = verdictOn('no-orphan', [...orphaned, ...more]);
  return { kind, exercised };
}

test('nobody may be denied a lock for a grant that its client never heard of', () => {
  const lost = fault(1, 'drop', 'lock', { target: 'alice/1/acquire/1/reply' });
  const [asked, given, unheard] = orphaned;
  if (!asked || !given || !unheard) throw new Error('the trace is too short');
  const breach = breachOf('no-orphan', [asked, given, lost, unheard, denial]);
  expect(breach.rule).toBe('orphan-denies');
  expect(breach.evidence).toEqual(['1 grant', '2 drop', '3 unanswered', '4 denial']);
  expect(breach.words).toMatchInlineSnapshot(
    `"\`db\` kept from bob by a grant that alice never heard of. Let A be alice's grant 1 of \`db\` (from 1 ms, ttl 10 ms). Then alice stopped waiting for the answer at 3 ms, and did not give A back. However bob was denied \`db\` at 5 ms because of A: the reply to alice's acquire was lost."`,
  );
});

test('its own client is as badly off', () => {
  expect(verdictOf(deny(5, 'alice', 1))).toEqual({ kind: 'invalid', exercised: 1 });
});

test('a denial before its client stopped waiting is none of its faults', () => {
  const [asked, given, unheard] = orphaned;
  if (!asked || !given || !unheard) throw new Error('the trace is too short');
  const events = [asked, given, deny(2, 'bob', 1), unheard];
  expect(verdictOn('no-orphan', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test.each<[string, readonly TraceEvent[]]>([
  ['asks for it back, even in vain', [takesBack, denial]],
  ['asks for it back after the denial', [denial, { ...takesBack, atUs: 6000 }]],
  ['is granted the lock again while it lasts', [denial, grant(6, 'alice', 2)]],
  ['crashes', [fault(4, 'crash', 'alice'), denial]],
  ['turns nobody away', []],
])('an orphan is not held against a client that %s', (_, more) => {
  expect(verdictOf(...more)).toEqual({ kind: 'valid', exercised: 1 });
});

test.each<[string, readonly TraceEvent[]]>([
  ['another gives its own grant back', [{ ...takesBack, process: 'bob' }, denial]],
  ['another crashes', [fault(4, 'crash', 'bob'), denial]],
  ['it crashes when the harm is done', [denial, fault(6, 'crash', 'alice')]],
  ['it is granted the lock again when the lease was over', [denial, grant(12, 'alice', 2)]],
  [
    'it gives back only the grant that came after',
    [denial, grant(12, 'alice', 2), { ...takesBack, atUs: 13_000 }],
  ],
])('and it is when %s', (_, more) => {
  expect(verdictOf(...more)).toEqual({ kind: 'invalid', exercised: 1 });
});

test('a crash before its client asked is no excuse', () => {
  const events = [fault(0, 'crash', 'alice', { untilMs: 0 }), ...orphaned, denial];
  expect(verdictOn('no-orphan', events)).toMatchObject({ kind: 'invalid', exercised: 1 });
});

test('a grant that its client heard of is no orphan', () => {
  const granted = answer(2, 'alice/1/acquire', { kind: 'granted', token: 1 });
  const events = [acquire(0, 'alice/1/acquire'), grant(1, 'alice', 1), granted, denial];
  expect(verdictOn('no-orphan', events)).toMatchObject({ kind: 'valid', exercised: 0 });
});

test('to take back what one was granted unheard is no release of somebody else’s', () => {
  const ended = release(4, 'alice', 0, { released: 1, message: 'alice/1/withdraw/1/request' });
  const events = [...orphaned, takesBack, ended];
  expect(verdictOn('owner-only-release', events)).toMatchObject({ kind: 'valid', exercised: 0 });
  const foreign = [...orphaned, { ...ended, client: 'bob' }];
  expect(verdictOn('owner-only-release', foreign)).toMatchObject({ kind: 'invalid' });
});
