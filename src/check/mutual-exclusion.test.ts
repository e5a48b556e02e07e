import { describe, expect, test } from 'vitest';
import type { KeyChange, TraceEvent } from '../core/history/events.ts';
import { explain } from './explain.ts';
import { inWords } from './in-words.fixture.ts';
import {
  answer,
  breachOf,
  deny,
  enter,
  fault,
  grant,
  keyChange,
  leaseTest,
  leave,
  pause,
  release,
  renew,
  send,
  traceOf,
  unknown,
  verdictOn,
} from './trace-builder.fixture.ts';

const claim = 'mutual-exclusion';

test('a lock that denies while another is live keeps one holder', () => {
  const events = [
    grant(1, 'alice', 1, { sentAtUs: 0 }),
    deny(9.999, 'bob', 1),
    deny(10, 'bob', 1),
    grant(11, 'bob', 2),
  ];
  expect(verdictOn(claim, events)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a grant within the lease of another breaks the claim, and the clock step is shown', () => {
  const stepped = fault(1, 'clock', 'lock', { target: 'step', amount: 20_000 });
  const breach = breachOf(claim, [grant(0, 'alice', 1), stepped, grant(5, 'bob', 2)]);
  expect(breach.rule).toBe('granted-while-live');
  expect(breach.evidence).toEqual(['0 earlier grant', '1 clock', '2 later grant']);
  expect(breach.words).toMatchInlineSnapshot(
    `"\`db\` granted to bob while alice held it. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 5 ms). Then \`lock\` granted B at 5 ms. However, A was live (counted from the request, sent at 0 ms, it lasts until 10 ms): \`lock\`'s clock was set 20 ms ahead at 1 ms."`,
  );
});

test('a lease counts from the departure of its request', () => {
  const late = grant(8, 'alice', 1, { sentAtUs: 0 });
  expect(verdictOn(claim, [late, grant(10, 'bob', 2)]).kind).toBe('valid');
  expect(breachOf(claim, [late, grant(9.999, 'bob', 2)]).rule).toBe('granted-while-live');
});

test('the declared drift shortens the lease', () => {
  const events = [grant(0, 'alice', 1), grant(9.99, 'bob', 2)];
  expect(verdictOn(claim, events, { driftPpm: 1000 }).kind).toBe('valid');
  expect(verdictOn(claim, events, { driftPpm: 999 }).kind).toBe('invalid');
});

test('a release, or the next acquire of the same client, ends a grant', () => {
  const released = [grant(0, 'alice', 1), release(3, 'alice', 1), grant(4, 'bob', 2)];
  expect(verdictOn(claim, released).kind).toBe('valid');
  const again = [grant(0, 'alice', 1), grant(3, 'alice', 2), release(4, 'alice', 2)];
  expect(verdictOn(claim, [...again, grant(5, 'bob', 3)]).kind).toBe('valid');
});

test('a denied release ends the grant that it names, and no other', () => {
  const denied = [grant(0, 'alice', 1), release(3, 'alice', 1, { released: 0 })];
  expect(verdictOn(claim, [...denied, grant(4, 'bob', 2)]).kind).toBe('valid');
  const other = [grant(0, 'alice', 1), release(3, 'carol', 7, { released: 0 })];
  expect(verdictOn(claim, [...other, grant(4, 'bob', 2)]).kind).toBe('invalid');
});

test('a release by another client does not end a grant', () => {
  const breach = breachOf(claim, [
    grant(0, 'alice', 1),
    pause(5, 'alice', 13),
    grant(11, 'bob', 2),
    release(14, 'alice', 1, { released: 2 }),
    grant(15, 'carol', 3),
  ]);
  expect(breach.rule).toBe('granted-while-live');
  expect(breach.evidence).toEqual([
    '1 pause',
    '2 earlier grant',
    '3 foreign release',
    '4 later grant',
  ]);
  expect(breach.words).toMatchInlineSnapshot(
    `"\`db\` granted to carol while bob held it. Let A be bob's grant 2 of \`db\` (from 11 ms, ttl 10 ms) and B be carol's grant 3 (from 15 ms). Then \`lock\` granted B at 15 ms. However, A was live (counted from the request, sent at 11 ms, it lasts until 21 ms), and alice's release under grant 1, handled at 14 ms, was not its holder's: alice was paused from 5 ms to 13 ms."`,
  );
});

describe('of several changes by other clients', () => {
  const held = [grant(0, 'alice', 1), grant(11, 'bob', 2)];
  const byAlice = release(12, 'alice', 1, { released: 2 });
  const byCarol = release(14, 'carol', 9, { released: 2 });
  const next = grant(15, 'dave', 3);
  const wordsOf = (events: readonly TraceEvent[], cause?: TraceEvent): string => {
    const verdict = verdictOn(claim, events);
    if (verdict.kind !== 'invalid') throw new Error('it is broken');
    const event = cause === undefined ? -1 : events.indexOf(cause);
    const causes = [{ kind: 'renewal', fault: null, event, text: '' } as const];
    return inWords(explain(traceOf(events), verdict, cause === undefined ? {} : { causes }));
  };

  test('the first one is named', () => {
    const words = wordsOf([...held, byAlice, byCarol, next]);
    expect(words).toContain(
      "alice's release under grant 1, handled at 12 ms, was not its holder's",
    );
    expect(words).not.toContain('carol');
  });

  test('one is not named if its holder renewed the grant afterwards', () => {
    for (const sentAtUs of [13_000, 0]) {
      const words = wordsOf([...held, byAlice, renew(13, 'bob', 2, { sentAtUs }), byCarol, next]);
      expect(words).toContain("carol's release under grant 9, handled at 14 ms");
    }
    const byOther = renew(13, 'alice', 1, { extended: 2 });
    expect(wordsOf([...held, byAlice, byOther, byCarol, next])).toContain("alice's release under");
  });

  test('a renewal is named if a run has shown that it matters', () => {
    const theft = renew(12, 'alice', 1, { extended: 2 });
    const events = [...held, theft, { ...byAlice, atUs: 13_000 }, next];
    expect(wordsOf(events, theft)).toContain("alice's renew under grant 1, handled at 12 ms,");
    expect(wordsOf(events)).toContain("alice's release under grant 1, handled at 13 ms,");
    const byOwner = renew(12, 'bob', 2);
    expect(wordsOf([...held, byOwner, { ...byAlice, atUs: 13_000 }, next], byOwner)).toContain(
      "alice's release under grant 1, handled at 13 ms,",
    );
  });
});

test('of several servers, the one is named without which a majority kept the key', () => {
  const on = (ms: number, server: number, more: Partial<KeyChange> = {}): KeyChange =>
    keyChange(ms, 'bob', { process: `lock-${server}`, untilUs: 30_000, ...more });
  const message = 'alice/1/del/1/request';
  const theft = { change: 'removed', client: 'alice', holder: 'bob', message } as const;
  const stolen = [1, 2, 3].map((server) => on(10 + server, server, theft));
  const taken = [1, 2, 3].map((server) => on(1, server));
  const ofClient = (ms: number, client: string, ordinal: number): TraceEvent =>
    grant(ms, client, ordinal, { process: client, sentAtUs: ms * 1000, untilUs: null });
  const breach = breachOf(claim, [
    ...taken,
    ofClient(2, 'bob', 1),
    enter(2, 'bob', 1, 90),
    ...stolen,
    ofClient(20, 'carol', 2),
    enter(20, 'carol', 2, 90),
  ]);
  expect(breach.evidence).toContain('6 foreign release');
  expect(breach.words).toContain('alice had removed `db` at 12 ms');
});

test('a release under another grant of its client ends a grant, as does its own denied one', () => {
  const freed = [grant(0, 'alice', 1), grant(1, 'alice', 2)];
  const byClient = [...freed, release(3, 'alice', 1, { released: 2 })];
  expect(verdictOn(claim, [...byClient, grant(4, 'bob', 3)]).kind).toBe('valid');
  const grants = [grant(11, 'bob', 2), release(12, 'alice', 1, { released: 2 })];
  const late = release(14, 'bob', 2, { released: 0 });
  expect(verdictOn(claim, [...grants, late, grant(15, 'carol', 3)]).kind).toBe('valid');
});

describe('two grants of one client', () => {
  const given = (service: string, ordinal: number, ms: number): readonly TraceEvent[] => [
    grant(ms, 'alice', ordinal, { process: service, sentAtUs: ms * 1000 }),
    { ...enter(ms, 'alice', ordinal, ms + 10), section: `alice/${ordinal}` },
  ];

  test.each(['alice', 'lock'])('exclude each other while both are in use, given by %s', (from) => {
    const both = [...given(from, 1, 0), ...given(from, 2, 3)];
    expect(breachOf(claim, both).rule).toBe('granted-while-live');
    const inTurn = [...given(from, 1, 0), leave(3, 'alice', 1), ...given(from, 2, 3)];
    expect(verdictOn(claim, inTurn).kind).toBe('valid');
    const late = [...given(from, 1, 0), ...given(from, 2, 10)];
    expect(verdictOn(claim, late)).toMatchObject({ kind: 'valid', exercised: 1 });
  });

  test('are described by their sections, or as guards of one section', () => {
    const both = [...given('alice', 1, 0), ...given('alice', 2, 3)];
    expect(breachOf(claim, both).words).toMatchInlineSnapshot(
      `"\`alice/2\` entered \`db\` while \`alice/1\` held it. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be alice's grant 2 (from 3 ms). Then alice entered under B at 3 ms. However, A was live (alice counted on it until 10 ms): the lock let \`alice/2\` in while \`alice/1\` was inside, and no fault was needed."`,
    );
    const inOne = both.map((event) =>
      event.kind === 'enter' ? { ...event, section: 'alice/1' } : event,
    );
    expect(breachOf(claim, inOne).words).toMatchInlineSnapshot(
      `"another guard of \`alice/1\` entered \`db\` while \`alice/1\` held it. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be alice's grant 2 (from 3 ms). Then alice entered under B at 3 ms. However, A was live (alice counted on it until 10 ms): the lock let another guard of \`alice/1\` in while \`alice/1\` was inside, and no fault was needed."`,
    );
  });

  test('are each ended by their own release', () => {
    const two = [...given('lock', 1, 0), ...given('lock', 2, 11), leave(12, 'alice', 1)];
    const freed = release(13, 'alice', 1, { released: 2 });
    expect(breachOf(claim, [...two, freed, grant(14, 'bob', 3)]).evidence).toContain(
      '5 foreign release',
    );
  });
});

test('a quorum grant is live no longer than its client relies on it', () => {
  const ofQuorum = grant(0, 'alice', 1, { process: 'alice' });
  const believed = [ofQuorum, enter(0, 'alice', 1, 7)];
  const next = (ms: number): ReturnType<typeof grant> => grant(ms, 'bob', 2, { process: 'bob' });
  expect(verdictOn(claim, [...believed, next(7)]).kind).toBe('valid');
  expect(verdictOn(claim, [...believed, next(6.999)]).kind).toBe('invalid');
  const renewed = [...believed, renew(5, 'alice', 1), leaseTest(5, 'alice', 1, 12)];
  expect(verdictOn(claim, [...renewed, next(12)]).kind).toBe('valid');
  expect(verdictOn(claim, [...renewed, next(11.999)]).kind).toBe('invalid');
});

test('a client’s view of the end neither shortens a server’s grant nor extends a lease', () => {
  const short = [grant(0, 'alice', 1), enter(0, 'alice', 1, 7)];
  expect(verdictOn(claim, [...short, grant(9, 'bob', 2)]).kind).toBe('invalid');
  const long = [grant(0, 'alice', 1, { process: 'alice' }), enter(0, 'alice', 1, 20)];
  expect(verdictOn(claim, [...long, grant(10, 'bob', 2)]).kind).toBe('valid');
});

test('a renew extends a grant from its own departure', () => {
  const renewed = [grant(0, 'alice', 1), renew(6, 'alice', 1, { sentAtUs: 5000 })];
  expect(verdictOn(claim, [...renewed, grant(15, 'bob', 2)]).kind).toBe('valid');
  const breach = breachOf(claim, [...renewed, grant(14, 'bob', 2)]);
  expect(breach.evidence).toEqual(['0 earlier grant', '1 renewal', '2 later grant']);
  expect(breach.words).toMatchInlineSnapshot(
    `"\`db\` granted to bob while alice held it. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 14 ms). Then \`lock\` granted B at 14 ms. However, A was live (counted from the renew, sent at 5 ms, it lasts until 15 ms)."`,
  );
});

test('a renew that arrives after a later one does not shorten the lease', () => {
  const events = [
    grant(0, 'alice', 1),
    renew(8, 'alice', 1, { sentAtUs: 7000 }),
    renew(9, 'alice', 1, { sentAtUs: 5000 }),
  ];
  expect(verdictOn(claim, [...events, grant(16, 'bob', 2)]).kind).toBe('invalid');
});

test('a renew that revives an expired grant beside its successor breaks the claim', () => {
  const breach = breachOf(claim, [
    grant(0, 'alice', 1),
    grant(11, 'bob', 2),
    renew(12, 'alice', 1),
  ]);
  expect(breach.rule).toBe('revived-while-live');
  expect(breach.words).toMatchInlineSnapshot(
    `"Expired grant of \`db\` revived while bob held it. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms) and B be bob's grant 2 (from 11 ms). Then \`lock\` granted B at 11 ms. However, alice's renew was handled at 12 ms and A was live again."`,
  );
});

test('a grant without end is live until its release', () => {
  const endless = grant(0, 'alice', 1, { untilUs: null });
  expect(breachOf(claim, [endless, grant(1000, 'bob', 2)]).words).toMatchInlineSnapshot(
    `"\`db\` granted to bob while alice held it. Let A be alice's grant 1 of \`db\` (from 0 ms, no end) and B be bob's grant 2 (from 1 s). Then \`lock\` granted B at 1 s. However, A was live (it has no end but its release)."`,
  );
  expect(verdictOn(claim, [endless, release(9, 'alice', 1), grant(10, 'bob', 2)]).kind).toBe(
    'valid',
  );
});

test('grants of different locks never conflict', () => {
  const events = [grant(0, 'alice', 1), grant(1, 'bob', 2, { lock: 'mail' })];
  expect(verdictOn(claim, events)).toMatchObject({ kind: 'valid', exercised: 0 });
});

test('the clock fault or partition of the second client is part of the evidence', () => {
  const fast = fault(0, 'clock', 'bob', { target: 'step', amount: 20_000 });
  const stolen = breachOf(claim, [fast, grant(1, 'alice', 1), grant(5, 'bob', 2)]);
  expect(stolen.evidence).toEqual(['0 clock', '1 earlier grant', '2 later grant']);
  const partition = fault(2, 'partition', 'bob', { processes: ['bob', 'lock'], untilMs: 9 });
  const other = fault(2, 'partition', 'bob', { processes: ['bob', 'store'], untilMs: 9 });
  const past = fault(0, 'partition', 'bob', { processes: ['bob', 'lock'], untilMs: 1 });
  const paused = fault(2, 'pause', 'bob', { untilMs: 3 });
  const events = [past, grant(1, 'alice', 1), partition, other, paused];
  const standby = grant(5, 'bob', 2, { process: 'lock-standby' });
  expect(breachOf(claim, [...events, standby]).evidence).toEqual([
    '1 earlier grant',
    '2 partition',
    '5 later grant',
  ]);
});

test('a quorum is described by the servers that granted in time', () => {
  const asks = (ms: number, who: string, number: number) => ({
    ...send(ms, who, `${who}/2/acquire-${number}`),
    to: `lock-${number}`,
  });
  const says = (ms: number, who: string, number: number, kind: 'granted' | 'denied') =>
    answer(
      ms,
      `${who}/2/acquire-${number}`,
      kind === 'granted' ? { kind, token: 0 } : { kind, holder: '' },
    );
  const events = [
    grant(0, 'alice', 1, { process: 'alice', message: '' }),
    asks(1, 'bob', 9),
    says(1, 'bob', 9, 'granted'),
    ...[1, 2, 3, 4].map((number) => asks(2, 'bob', number)),
    asks(2, 'carol', 5),
    says(3, 'carol', 5, 'granted'),
    says(3, 'bob', 1, 'granted'),
    says(3, 'bob', 2, 'denied'),
    says(3, 'bob', 3, 'granted'),
    unknown(3, 'bob/2/acquire-4'),
    grant(4, 'bob', 2, { process: 'bob', message: '', sentAtUs: 2000 }),
    says(5, 'bob', 4, 'granted'),
  ];
  expect(breachOf(claim, events).words).toContain(
    'Then a quorum (`lock-1` and `lock-3`) granted B at 4 ms.',
  );
});

test.each([
  ['crash', true],
  ['failover', true],
  ['pause', false],
] as const)(
  'a %s of a lock is described with the grant that it forgot: %s',
  (kind, isForgotten) => {
    const forEver = { untilUs: null, token: 0 };
    const given = [grant(1, 'alice', 1, forEver), grant(4, 'bob', 2, forEver)] as const;
    const { words } = breachOf('mutual-exclusion', [given[0], fault(2, kind, 'lock'), given[1]]);
    expect(words.includes(", and forgot alice's grant")).toBe(isForgotten);
  },
);

test('a crash does not forget a grant that was released before', () => {
  const forEver = { untilUs: null, token: 0 };
  const events = [
    grant(1, 'alice', 1, forEver),
    release(2, 'alice', 1),
    grant(3, 'carol', 2, forEver),
    fault(4, 'crash', 'lock'),
    grant(5, 'bob', 3, forEver),
  ];
  const { words } = breachOf('mutual-exclusion', events);
  expect(words).toContain("and forgot carol's grant");
  expect(words).not.toContain("forgot alice's");
});

test.each<[string, ReturnType<typeof grant>, readonly TraceEvent[]]>([
  [
    '`lock` extended it at 5 ms until 15 ms, without a request',
    grant(0, 'alice', 1),
    [renew(5, 'alice', 1, { message: '' })],
  ],
  [
    'counted from the renew, sent at 4 ms, it lasts until 14 ms',
    grant(0, 'alice', 1, { process: 'alice', message: '' }),
    [renew(5, 'alice', 1, { process: 'alice', message: '', sentAtUs: 4000 })],
  ],
  [
    'counted from the request, sent at 0 ms, it lasts until 10 ms',
    grant(0, 'alice', 1, { message: '' }),
    [],
  ],
  [
    'counted from the request, sent at 0 ms, it lasts until 10 ms',
    grant(1, 'alice', 1, { process: 'alice', message: '', sentAtUs: 0 }),
    [],
  ],
  ['alice counted on it until 10 ms', grant(0, 'alice', 1, { process: 'alice' }), []],
  [
    'alice counted on it until its release',
    grant(0, 'alice', 1, { process: 'alice', untilUs: null }),
    [],
  ],
  [
    'it has no end but its release',
    grant(1, 'alice', 1, { process: 'alice', sentAtUs: 0, untilUs: null }),
    [],
  ],
  ['it has no end but its release', grant(1, 'alice', 1, { untilUs: null }), []],
])('an explanation says why the grant was live: %s', (why, given, since) => {
  const { words } = breachOf(claim, [given, ...since, grant(8, 'bob', 2)]);
  expect(words).toMatch(/^`db` granted to bob while alice held it\./);
  expect(words).toContain(`However, A was live (${why}).`);
});

test('a lease that its server ends early is described as ended from then on', () => {
  const words = (untilUs: number): string =>
    breachOf(claim, [grant(0, 'alice', 1, { untilUs }), grant(8, 'bob', 2)]).words;
  expect(words(8000)).toBe(
    "`db` granted to bob before alice's ttl was over. Let A be alice's grant 1 of `db` (from 0 ms, " +
      "ttl 10 ms) and B be bob's grant 2 (from 8 ms). Then `lock` granted B at 8 ms. However, " +
      '`lock` had ended A too early, at 8 ms (counted from the request, sent at 0 ms, it lasts until ' +
      '10 ms).',
  );
  expect(words(8001)).toContain('granted to bob while alice held it.');
});

describe('a key that its holder took', () => {
  const taking = 'alice/1/set/1/request';
  const byClient = { process: 'alice', message: '', untilUs: null } as const;
  const inside = [
    keyChange(1, 'alice', { message: taking, untilUs: 50_000 }),
    grant(2, 'alice', 1, byClient),
    enter(2, 'alice', 1, 1e12),
  ];
  const byBob = (ms: number, more: Parameters<typeof keyChange>[2]): TraceEvent =>
    keyChange(ms, 'bob', { holder: 'alice', taking, message: 'bob/1/set/1/request', ...more });

  test('exercises the claim whenever another client is denied while the holder is inside', () => {
    const denied = byBob(5, { isDone: false });
    expect(verdictOn(claim, [...inside, denied])).toMatchObject({ kind: 'valid', exercised: 1 });
    const left = [...inside, leave(4, 'alice', 1)];
    expect(verdictOn(claim, [...left, denied])).toMatchObject({ exercised: 0 });
  });

  test('may be overwritten once all sections that entered under it have left', () => {
    const stolen = byBob(9, { change: 'overwritten' });
    expect(breachOf(claim, [...inside, stolen]).rule).toBe('overwrote-key');
    const left = [...inside, leave(4, 'alice', 1)];
    expect(verdictOn(claim, [...left, stolen]).kind).toBe('valid');
    // A later section of the client uses the same key.
    const again = [grant(6, 'alice', 2, byClient), enter(6, 'alice', 2, 1e12)];
    expect(breachOf(claim, [...left, ...again, stolen]).rule).toBe('overwrote-key');
  });
});

test('neither a renewal that is over when handled nor one of a key revives a grant', () => {
  const [mine, next] = [grant(0, 'alice', 1), grant(11, 'bob', 2)];
  const renewal = (sentAtMs: number) =>
    renew(15, 'alice', 1, { sentAtUs: sentAtMs * 1000, untilUs: (sentAtMs + 10) * 1000 });
  expect(breachOf(claim, [mine, next, renewal(12)]).rule).toBe('revived-while-live');
  expect(verdictOn(claim, [mine, next, renewal(5)]).kind).toBe('valid');
  const byClient = (client: string) => ({ process: client, message: '' });
  const keyed = [
    keyChange(0, 'alice'),
    grant(1, 'alice', 1, byClient('alice')),
    enter(1, 'alice', 1, 10),
    keyChange(11, 'bob'),
    grant(12, 'bob', 2, byClient('bob')),
    enter(12, 'bob', 2, 21),
    renew(15, 'alice', 1, { process: 'alice', message: '' }),
  ].map(
    (event, at): TraceEvent =>
      'message' in event && event.kind === 'key-change'
        ? { ...event, message: `${event.client}/${at === 0 ? 1 : 2}/set/1/request` }
        : event,
  );
  expect(verdictOn(claim, keyed).kind).toBe('valid');
});
