import { describe, expect, test } from 'vitest';
import type { FaultInjected, KeyChange, TraceEvent } from '../core/history/events.ts';
import {
  acquire,
  answer,
  breachOf,
  deny,
  enter,
  fault,
  grant,
  healed,
  keyChange,
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

test('no client may be denied a lock by a grant that its owner never learned of', () => {
  const lost = fault(1, 'drop', 'lock', { target: 'alice/1/acquire/1/reply' });
  const [asked, given, unheard] = orphaned;
  if (!asked || !given || !unheard) throw new Error('the trace is too short');
  const breach = breachOf('no-orphan', [asked, given, lost, unheard, denial]);
  expect(breach.rule).toBe('orphan-denies');
  expect(breach.evidence).toEqual(['1 grant', '2 drop', '3 unanswered', '4 denial']);
  expect(breach.words).toMatchInlineSnapshot(
    `"\`db\` withheld from bob by a grant that alice never learned of. Let A be alice's grant 1 of \`db\` (from 1 ms, ttl 10 ms). Then alice stopped waiting for the answer at 3 ms, and did not release A. However, bob was denied \`db\` at 5 ms because of A: the reply to alice's acquire was lost."`,
  );
});

test('an orphan may not deny its own client either', () => {
  expect(verdictOf(deny(5, 'alice', 1))).toEqual({ kind: 'invalid', exercised: 1 });
});

test('a client is not blamed for a denial that comes before it stops waiting', () => {
  const [asked, given, unheard] = orphaned;
  if (!asked || !given || !unheard) throw new Error('the trace is too short');
  const events = [asked, given, deny(2, 'bob', 1), unheard];
  expect(verdictOn('no-orphan', events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test.each<[string, readonly TraceEvent[]]>([
  ['asks to release it, even without success', [takesBack, denial]],
  ['asks to release it after the denial', [denial, { ...takesBack, atUs: 6000 }]],
  ['is granted the lock again while it lasts', [denial, grant(6, 'alice', 2)]],
  ['crashes', [fault(4, 'crash', 'alice'), denial]],
  ['denies no other client', []],
])('an orphan does not count against a client that %s', (_, more) => {
  expect(verdictOf(...more)).toEqual({ kind: 'valid', exercised: 1 });
});

test.each<[string, readonly TraceEvent[]]>([
  ['another client releases its own grant', [{ ...takesBack, process: 'bob' }, denial]],
  ['another client crashes', [fault(4, 'crash', 'bob'), denial]],
  ['it crashes after the denial', [denial, fault(6, 'crash', 'alice')]],
  ['it is granted the lock again after the lease ended', [denial, grant(12, 'alice', 2)]],
  [
    'it releases only the later grant',
    [denial, grant(12, 'alice', 2), { ...takesBack, atUs: 13_000 }],
  ],
])('an orphan counts against its client if %s', (_, more) => {
  expect(verdictOf(...more)).toEqual({ kind: 'invalid', exercised: 1 });
});

test('a crash of the client before its acquire does not excuse an orphan', () => {
  const crash = fault(0, 'crash', 'alice', { untilMs: 0 });
  const events = [healed(0), crash, ...orphaned, denial];
  expect(verdictOn('no-orphan', events)).toMatchObject({ kind: 'invalid', exercised: 1 });
});

test('a grant that its client learned of is not an orphan', () => {
  const granted = answer(2, 'alice/1/acquire', { kind: 'granted', token: 1 });
  const events = [acquire(0, 'alice/1/acquire'), grant(1, 'alice', 1), granted, denial];
  expect(verdictOn('no-orphan', events)).toMatchObject({ kind: 'valid', exercised: 0 });
});

test('releasing an unknown grant of its own is not a release by a non-owner', () => {
  const ended = release(4, 'alice', 0, { released: 1, message: 'alice/1/withdraw/1/request' });
  const events = [...orphaned, takesBack, ended];
  expect(verdictOn('owner-only-release', events)).toMatchObject({ kind: 'valid', exercised: 0 });
  const byOther = [...orphaned, { ...ended, client: 'bob' }];
  expect(verdictOn('owner-only-release', byOther)).toMatchObject({ kind: 'invalid' });
});

describe('on a server that keeps keys', () => {
  const changed = (ms: number, client: string, more: Partial<KeyChange> = {}): KeyChange =>
    keyChange(ms, client, { untilUs: 20_000, ...more });
  const denied = { kind: 'denied', holder: '' } as const;
  const taken = changed(1, 'alice');
  const later = { message: 'alice/2/acquire/1/request' };
  const removed = { change: 'removed' } as const;
  const lost = fault(1, 'drop', 'lock', { target: 'alice/1/acquire/1/reply' });
  const unheard: readonly TraceEvent[] = [
    acquire(0, 'alice/1/acquire'),
    taken,
    lost,
    unknown(3, 'alice/1/acquire'),
  ];
  const asksAgain = [acquire(5, 'alice/1/acquire-2'), answer(7, 'alice/1/acquire-2', denied)];
  const bobAsks = [acquire(5, 'bob/1/acquire'), answer(7, 'bob/1/acquire', denied)];
  const after = (...more: readonly TraceEvent[]) => verdictOn('no-orphan', [...unheard, ...more]);

  test('no client may be denied by a key that its owner never learned of', () => {
    const breach = breachOf('no-orphan', [...unheard, ...asksAgain]);
    expect(breach.rule).toBe('orphan-key-denies');
    const shown = ['1 taking', '2 drop', '3 unanswered', '4 asked', '5 denial'];
    expect(breach.evidence).toEqual(shown);
    expect(breach.words).toMatchInlineSnapshot(
      `"\`db\` withheld from its own client by a key that alice never learned of. Then alice took \`db\` at 1 ms, until 20 ms, and had no answer by 3 ms. However, alice sent it again at 5 ms and was denied at 7 ms by its own key: the reply to alice's acquire (\`alice/1/acquire\`) was lost."`,
    );
    const nextSection = [acquire(5, 'alice/2/acquire'), answer(7, 'alice/2/acquire', denied)];
    expect(breachOf('no-orphan', [...unheard, ...nextSection]).words).toContain(
      'However, alice asked again at 5 ms and was denied at 7 ms by its own key',
    );
    expect(breachOf('no-orphan', [...unheard, ...bobAsks]).words).toContain(
      'However, bob asked at 5 ms and was denied at 7 ms by the key of alice',
    );
    // The server had denied it before its client learned of it.
    const handled = { from: 'bob', to: 'lock', message: 'bob/1/acquire/1/request', isCopy: false };
    const [asks, isDenied] = [bobAsks.slice(0, 1), bobAsks.slice(1)];
    const atServer = [...asks, { kind: 'receive', atUs: 6000, ...handled } as const, ...isDenied];
    expect(breachOf('no-orphan', [...unheard, ...atServer]).words).toContain('denied at 6 ms');
  });

  test('a key that never expires is described as such', () => {
    const events = unheard.map((event) => (event === taken ? { ...taken, untilUs: null } : event));
    expect(breachOf('no-orphan', [...events, ...bobAsks]).words).toContain(
      'alice took `db` at 1 ms, without an end, and had no answer by 3 ms',
    );
  });

  test.each<[string, readonly TraceEvent[]]>([
    ['it was removed', [changed(4, 'alice', { change: 'removed' }), ...bobAsks]],
    [
      'its client tried to remove it',
      [...bobAsks, changed(8, 'alice', { change: 'removed', isDone: false })],
    ],
    ['another client removed it', [changed(4, 'carol', { change: 'removed' }), ...bobAsks]],
    ['its client crashed', [fault(4, 'crash', 'alice'), ...bobAsks]],
    ['its client entered by it', [...asksAgain, enter(8, 'alice', 1, 20)]],
    [
      'its client entered by it after another client extended it',
      [...asksAgain, changed(8, 'carol', { change: 'prolonged' }), enter(9, 'alice', 1, 20)],
    ],
    ['its client entered by it just in time', [...asksAgain, enter(20, 'alice', 1, 20)]],
    [
      'its client removed it after a failed second acquire',
      [changed(5, 'alice', { isDone: false }), ...bobAsks, changed(8, 'alice', removed)],
    ],
    [
      'another lock was denied',
      [
        { ...acquire(5, 'bob/1/acquire'), call: { verb: 'acquire', lock: 'mail', token: 0 } },
        answer(7, 'bob/1/acquire', denied),
      ],
    ],
    ['it expired', [acquire(19, 'bob/1/acquire'), answer(21, 'bob/1/acquire', denied)]],
    ['no client asked since', []],
  ])('a client is not blamed for a denial if %s', (_, more) => {
    expect(after(...more)).toMatchObject({ kind: 'valid', exercised: 1 });
  });

  test.each<[string, readonly TraceEvent[]]>([
    [
      'it was acquired again after it expired',
      [...bobAsks, changed(22, 'alice', { message: 'alice/2/acquire/1/request' })],
    ],
    ['its client entered after it expired', [...bobAsks, enter(22, 'alice', 1, 30)]],
    [
      'its client entered after another client removed it',
      [...bobAsks, changed(8, 'carol', { change: 'removed' }), enter(9, 'alice', 1, 30)],
    ],
    ['another client extended it', [changed(4, 'carol', { change: 'prolonged' }), ...bobAsks]],
    ['another client entered', [...bobAsks, enter(8, 'bob', 1, 20)]],
    [
      'the denial came at its expiry',
      [acquire(19, 'bob/1/acquire'), answer(20, 'bob/1/acquire', denied)],
    ],
    ['another key was removed', [changed(4, 'carol', { change: 'removed', key: 'x' }), ...bobAsks]],
    [
      'that key was removed on another server',
      [changed(4, 'carol', { change: 'removed', process: 'lock-2' }), ...bobAsks],
    ],
    [
      'its client acquired it again after it expired, and removed that key',
      [
        ...bobAsks,
        changed(22, 'alice', later),
        changed(23, 'alice', { ...later, change: 'removed' }),
      ],
    ],
    [
      'another client tried to remove it',
      [changed(4, 'bob', { change: 'removed', isDone: false }), ...bobAsks],
    ],
  ])('a client is blamed for a denial if %s', (_, more) => {
    expect(after(...more)).toMatchObject({ kind: 'invalid', exercised: 1 });
  });

  test('an entry before a key was taken does not use that key', () => {
    const events = [enter(0, 'alice', 0, 9), ...unheard, ...bobAsks];
    expect(verdictOn('no-orphan', events)).toMatchObject({ kind: 'invalid', exercised: 1 });
  });

  test('a key change that failed or was not a taking does not leave an orphan', () => {
    for (const more of [{ isDone: false }, { change: 'prolonged' } as const]) {
      const events = unheard.map((event) => (event === taken ? { ...taken, ...more } : event));
      const { kind, exercised } = verdictOn('no-orphan', [...events, ...bobAsks]);
      expect({ kind, exercised }).toEqual({ kind: 'valid', exercised: 0 });
    }
  });

  test('a denial of a call from before the client stopped waiting does not count', () => {
    const [asked, denial] = bobAsks;
    if (!asked || !denial) throw new Error('the trace is too short');
    const [first, ...rest] = unheard;
    const events = [first, asked, ...rest, denial].flatMap((event) => event ?? []);
    expect(verdictOn('no-orphan', events)).toMatchObject({ kind: 'valid', exercised: 1 });
  });
});

describe('the faults that kept an answer from its client are shown', () => {
  const call = 'alice/1/request-lock';
  const message = `${call}/1/request`;
  const taken = keyChange(2, 'alice', { message, untilUs: null });
  const denied = answer(8, 'bob/1/acquire', { kind: 'denied', holder: '' });
  const given = grant(2, 'alice', 1, { message, sentAtUs: 1000 });
  const ways: readonly (readonly [TraceEvent, readonly TraceEvent[]])[] = [
    [given, [deny(8, 'bob', 1)]],
    [taken, [acquire(7, 'bob/1/acquire'), denied]],
  ];

  /** Returns, for a grant and for a key, whether the fault is shown as a cause of the orphan. */
  const causesShown = (injected: FaultInjected): readonly boolean[] =>
    ways.map(([taking, denial]) => {
      const events = [injected, acquire(1, call), taking, unknown(5, call), ...denial];
      const { evidence } = breachOf(
        'no-orphan',
        events.sort((a, b) => a.atUs - b.atUs),
      );
      return evidence.some((one) => one.endsWith(` ${injected.fault}`));
    });

  test.each<[string, FaultInjected]>([
    ['its request is late', fault(2, 'delay', 'lock', { target: message })],
    ['its reply is lost', fault(2, 'drop', 'lock', { target: `${call}/1/reply` })],
    ['it is paused itself', fault(1, 'pause', 'alice', { untilMs: 3 })],
    ['its server crashes', fault(2, 'crash', 'lock')],
    ['its server was paused until the request', fault(0, 'pause', 'lock', { untilMs: 1.5 })],
    [
      'it is partitioned from the server',
      fault(2, 'partition', '', { processes: ['alice', 'lock'] }),
    ],
  ])('a client never learns of its grant because %s', (_, injected) => {
    expect(causesShown(injected)).toEqual([true, true]);
    // A fault after its client has stopped waiting is not a cause.
    expect(causesShown({ ...injected, atUs: 6000, untilUs: null })).toEqual([false, false]);
  });

  test.each<[string, FaultInjected]>([
    [
      'the reply to another attempt is lost',
      fault(2, 'drop', 'lock', { target: `${call}/2/reply` }),
    ],
    ['a store is paused', fault(2, 'pause', 'store', { untilMs: 3 })],
    ['its server was paused only before the request', fault(0, 'pause', 'lock', { untilMs: 1 })],
    [
      'it is partitioned from a store',
      fault(2, 'partition', '', { processes: ['alice', 'store'] }),
    ],
  ])('a fault is not the cause of an orphan if %s', (_, injected) => {
    expect(causesShown(injected)).toEqual([false, false]);
  });
});

test('denials by other grants, and releases of other locks or from before, do not count', () => {
  expect(verdictOf(deny(5, 'bob', 2))).toEqual({ kind: 'valid', exercised: 1 });
  const mail: TraceEvent = {
    ...acquire(4, 'alice/1/withdraw'),
    call: { verb: 'release', lock: 'mail', token: 0 },
  };
  expect(verdictOf(mail, denial)).toEqual({ kind: 'invalid', exercised: 1 });
  const before = { ...takesBack, atUs: 0, operation: 'alice/0/release' } as const;
  const events = [before, ...orphaned, denial];
  expect(verdictOn('no-orphan', events)).toMatchObject({ kind: 'invalid', exercised: 1 });
});
