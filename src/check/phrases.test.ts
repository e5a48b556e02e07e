/** Tests the phrases of explanations one by one. */
import { describe, expect, test } from 'vitest';
import type { FaultInjected, TraceEvent } from '../core/history/events.ts';
import { explain } from './explain.ts';
import { Contradiction } from './explanation.ts';
import {
  accessPhrase,
  at,
  causePhrase,
  giverOf,
  grantsOf,
  latePhrase,
  whileFaults,
  withCauses,
} from './phrases.ts';
import {
  acquire,
  enter,
  fault,
  grant,
  invoke,
  keyChange,
  leave,
  pause,
  read,
  send,
  traceOf,
  write,
} from './trace-builder.fixture.ts';
import type { Invalid } from './verdict.ts';

/** Puts all events into the evidence, each with its kind as its role. */
function shown(...events: readonly TraceEvent[]): Contradiction {
  const evidence = events.map(({ kind }, event) => ({ role: kind, event }));
  return new Contradiction(traceOf(events), { claim: 'c', rule: 'r', evidence });
}

describe('grants', () => {
  test.each<[string, readonly TraceEvent[]]>([
    ['', []],
    ["A be alice's grant 1 of `db` (from 0 ms, ttl 10 ms)", [grant(0, 'alice', 1)]],
    ["A be alice's grant 1 of `db` (token 7, from 0 ms, ttl 10 ms)", [tokened(7)]],
    ["A be alice's grant 1 of `db` (from 0 ms, ttl 10 ms)", [tokened(0)]],
    ["A be alice's grant 1 of `db` (from 0 ms, no end)", [grant(0, 'alice', 1, { untilUs: null })]],
    [
      "A be alice's grant 1 of `db` (from 0 ms, ttl 10 ms), B be bob's grant 2 of `b` (from 1 ms) " +
        "and C be bob's grant 3 (from 2 ms, ttl 5 ms)",
      [
        grant(0, 'alice', 1),
        grant(1, 'bob', 2, { lock: 'b' }),
        grant(2, 'bob', 3, { lock: 'b', ttlUs: 5000 }),
      ],
    ],
  ])('are introduced as %j', (words, events) => {
    expect(grantsOf(shown(...events))).toBe(words);
  });

  test('of a quorum end when the key expires that its client held as the next was granted', () => {
    const byClient = { process: 'alice', untilUs: null } as const;
    const taken = keyChange(1, 'alice', { untilUs: 21_000 });
    const next = grant(30, 'bob', 2);
    const entry = enter(2, 'alice', 1, 1e12);
    expect(
      grantsOf(shown(taken, grant(2, 'alice', 1, byClient), entry, next)),
    ).toMatchInlineSnapshot(
      `"A be alice's grant 1 of \`db\` (from 2 ms, its key until 21 ms) and B be bob's grant 2 (from 30 ms)"`,
    );
  });

  test('have letters up to Z, then numbers', () => {
    const many = shown(...Array.from({ length: 27 }, (_, place) => grant(0, 'a', place + 1)));
    expect([1, 26, 27, 99].map((number) => many.letterOf(number))).toEqual([
      'A',
      'Z',
      'grant 27',
      'grant 99',
    ]);
  });

  test('are given by a server, by a quorum, or by the unnamed server of a user’s lock', () => {
    expect(giverOf(grant(0, 'alice', 1))).toBe('`lock`');
    expect(giverOf(grant(2, 'alice', 1, { process: 'alice', sentAtUs: 0 }))).toBe('a quorum');
    expect(giverOf(grant(2, 'alice', 1, { process: 'alice' }))).toBe('its server');
  });
});

function tokened(token: number): TraceEvent {
  return grant(0, 'alice', 1, { token });
}

describe('an access', () => {
  const held = grant(0, 'alice', 1);

  test.each([
    ['alice wrote 7 to `x` with token 1 at 5 ms', write(5, 'alice', 1, 7)],
    ['alice wrote 7 to `x` without a token at 5 ms', write(5, 'alice', 1, 7, { token: 0 })],
    ['alice announced token 1 at 5 ms', write(5, 'alice', 1, null)],
    ['alice read 7 from `x` with token 1 at 5 ms', read(5, 'alice', 1, 7)],
    ['alice read nothing from `x` with token 1 at 5 ms', read(5, 'alice', 1, null)],
  ])('is described as %j', (words, access) => {
    expect(accessPhrase(shown(held, access), access)).toBe(words);
  });

  test('is described without a token if no grant has one', () => {
    const access = write(5, 'alice', 0, 7);
    expect(accessPhrase(shown(access), access)).toBe('alice wrote 7 to `x` at 5 ms');
  });

  const call = invoke(3, 'alice/1/write');
  const sent = send(4, 'alice', 'alice/1/write');
  const message = 'alice/1/write/1/request';
  const transit = (kind: FaultInjected['fault'], target = message): TraceEvent => {
    return fault(4, kind, 'alice', { target, amount: 2000 });
  };
  const came = "alice's write of 7 to `x`, sent with token 1 at 3 ms";
  test.each<[string, readonly TraceEvent[]]>([
    ["alice's write of 7 to `x` came with token 1 at 9 ms", []],
    ["alice's write of 7 to `x` came with token 1 at 9 ms", [invoke(3, 'bob/2/write')]],
    [`${came}, arrived at 9 ms`, [call]],
    ["alice's write of 7 to `x`, sent with token 1 at 4 ms, arrived at 9 ms", [call, sent]],
    [`${came}, arrived at 9 ms`, [call, send(4, 'bob', 'bob/2/write')]],
    [`${came} and delayed by 2 ms, arrived at 9 ms`, [call, transit('delay')]],
    [`${came} and executed again 2 ms later, arrived at 9 ms`, [call, transit('duplicate')]],
    [`${came} and drop, arrived at 9 ms`, [call, transit('drop')]],
    [`${came}, arrived at 9 ms`, [call, transit('delay', 'bob/2/write/1/request')]],
    [
      'alice, paused from 1 ms to 2 ms, sent the write of 7 to `x` with token 1 ' +
        'at 3 ms; it arrived at 9 ms',
      [pause(1, 'alice', 2), call],
    ],
    [
      'alice, paused from 9 ms, sent the write of 7 to `x` with token 1 at 9 ms',
      [fault(9, 'pause', 'alice')],
    ],
    [`${came}, arrived at 9 ms`, [pause(4, 'alice', 5), call]],
    [`${came}, arrived at 9 ms`, [pause(1, 'bob', 2), call]],
    [`${came}, arrived at 9 ms`, [fault(1, 'crash', 'alice'), call]],
  ])('is described as late: %s', (words, before) => {
    const access = write(9, 'alice', 1, 7);
    expect(latePhrase(shown(held, ...before, access), access)).toBe(words);
  });

  test.each([
    ['read of `x`', read(9, 'alice', 1, 7)],
    ['announcement of its token', write(9, 'alice', 1, null)],
  ])('is described as the %s', (noun, access) => {
    expect(latePhrase(shown(held, access), access)).toBe(
      `alice's ${noun} came with token 1 at 9 ms`,
    );
  });
});

describe('faults', () => {
  test.each<[string, readonly FaultInjected[]]>([
    ['', []],
    [': bob was paused from 1 ms to 2 ms', [pause(1, 'bob', 2)]],
    [': bob was paused from 1 ms', [fault(1, 'pause', 'bob')]],
    [
      ": bob's clock ran 200 ppm too fast from 1 ms",
      [fault(1, 'clock', 'bob', { target: 'rate', amount: 200 })],
    ],
    [
      ": bob's clock was set 3 ms ahead at 1 ms",
      [fault(1, 'clock', 'bob', { target: 'step', amount: 3000 })],
    ],
    [': `m` came 3 ms late', [fault(1, 'delay', 'bob', { target: 'm', amount: 3000 })]],
    [
      ': bob and `lock` were cut off from 1 ms to 2 ms and `lock` crashed at 3 ms',
      [
        fault(1, 'partition', '', { processes: ['bob', 'lock'], untilMs: 2 }),
        fault(3, 'crash', 'lock'),
      ],
    ],
  ])('are described as %j', (words, faults) => {
    expect(whileFaults(shown(...faults))).toBe(words);
  });

  test('are left out if an earlier phrase mentioned them', () => {
    const both = shown(pause(1, 'bob', 2), fault(3, 'crash', 'lock'));
    const access = write(9, 'bob', 1, 7);
    expect(latePhrase(both, access)).toMatch(/^bob, paused from 1 ms to 2 ms/);
    expect(whileFaults(both)).toBe(': `lock` crashed at 3 ms');
    expect(whileFaults(both)).toBe('');
  });
});

describe('the cause', () => {
  const grantOf = (ms: number, client: string, ordinal: number): TraceEvent =>
    grant(ms, client, ordinal, { process: client });
  const [alice, bob] = [grantOf(1, 'alice', 1), grantOf(5, 'bob', 2)];
  const letIn = ': the lock let bob in while alice was inside, and no fault was needed';
  test.each<[string, readonly TraceEvent[]]>([
    [letIn, [alice, bob]],
    [letIn, [alice, bob, leave(7, 'alice', 1)]],
    [letIn, [alice, bob, leave(2, 'carol', 3)]],
    [letIn, [keyChange(0, 'alice', { untilUs: null }), alice, bob]],
    [
      ": bob entered although the lock had denied bob's acquire at 2 ms",
      [alice, keyChange(2, 'bob', { isDone: false, holder: 'alice' }), bob],
    ],
    [
      ': the key of alice had ended at 4 ms',
      [keyChange(0, 'alice', { untilUs: 4000 }), alice, bob],
    ],
    ['', [alice, bob, leave(4, 'alice', 1)]],
    ['', [alice, grantOf(5, 'alice', 2)]],
    ['', [alice, grant(5, 'bob', 2)]],
    ['', [grant(1, 'alice', 1), bob]],
    ['', [alice]],
    ['', []],
    [': bob was paused from 2 ms to 3 ms', [alice, pause(2, 'bob', 3), bob]],
  ])('is described as %j if clients note their grants', (words, events) => {
    expect(withCauses(shown(...events))).toBe(words);
  });

  const removed = (holder: string): TraceEvent =>
    keyChange(4, 'alice', { change: 'removed', holder, message: 'alice/1/release/1/request' });

  test.each<[string, string, readonly TraceEvent[]]>([
    [": alice's release removed its own key", 'alice', []],
    [": alice's release removed bob's key", 'bob', []],
    [
      ": bob was paused from 2 ms to 3 ms, and alice's release removed bob's key",
      'bob',
      [pause(2, 'bob', 3)],
    ],
  ])('is described as %j if runs show that a key of %s was removed', (words, holder, faults) => {
    const trace = traceOf([...faults, removed(holder)]);
    const causes = trace.events.map(({ kind }, event) => {
      const cause = { kind: kind === 'fault' ? 'fault' : 'release', event } as const;
      return { ...cause, fault: null, text: causePhrase(trace, { ...cause, named: '' }) };
    });
    const broken = { claim: 'c', rule: 'r', evidence: [] };
    expect(withCauses(new Contradiction(trace, broken, { causes }))).toBe(words);
  });

  test('is not described again if a sentence has its event', () => {
    const trace = traceOf([removed('alice')]);
    const causes = [{ kind: 'release', event: 0, fault: null, text: 'a release' }] as const;
    const evidence = [{ role: 'key end', event: 0 }];
    const broken = { claim: 'c', rule: 'r', evidence };
    expect(withCauses(new Contradiction(trace, broken, { causes }))).toBe('');
  });

  const arrival: TraceEvent = {
    kind: 'receive',
    atUs: 5000,
    from: 'bob',
    to: 'lock',
    message: 'bob/1/acquire/1/request',
    isCopy: false,
  };

  test.each<[Parameters<typeof causePhrase>[1]['kind'], TraceEvent, string]>([
    ['expiry', grant(5, 'bob', 2), "the lease of alice's acquire had expired at 5 ms"],
    ['order', arrival, "alice's acquire was handled before bob's acquire"],
    ['message', arrival, "bob's acquire arrived at 5 ms"],
    ['release', arrival, "bob's acquire was executed at 5 ms"],
    [
      'timer',
      grant(5, 'bob', 2),
      'the timer `alice/1/acquire/1/request` was drawn longer than its base length',
    ],
  ])('of kind %s is a clause', (kind, event, words) => {
    const named = 'alice/1/acquire/1/request';
    expect(causePhrase(traceOf([event]), { kind, event: 0, named })).toBe(words);
  });

  test('of a forgotten record states a time by which it was gone', () => {
    const record = { kind: 'expiry', event: 0, named: 'alice/1/release/1/request' } as const;
    expect(causePhrase(traceOf([grant(5, 'bob', 2)]), { ...record, isRecord: true })).toBe(
      "the record left by alice's release had expired by 5 ms",
    );
  });
});

describe('the events of a contradiction', () => {
  const one = write(1, 'alice', 1, 1);
  const events = [one, write(2, 'alice', 1, 2), read(3, 'alice', 1, 2), pause(4, 'bob', 5)];
  const evidence = [0, 1, 2, 9].map((event) => ({ role: event < 2 ? 'two' : 'seen', event }));
  const found = new Contradiction(traceOf(events), { claim: 'c', rule: 'r', evidence });

  test('are found by role and kind', () => {
    expect(found.parts.map(({ event }) => event.atUs)).toEqual([1000, 2000, 3000]);
    expect(found.findAll('two', 'write')).toEqual(events.slice(0, 2));
    expect(found.find('two', 'write')).toBe(one);
    expect(found.find('two', 'read')).toBeUndefined();
    expect(found.find('seen', 'write')).toBeUndefined();
    expect(found.find('seen', 'write', 'read')).toBe(events[2]);
    expect(found.faults).toEqual([]);
  });

  test('are required by `need`, which throws if one is missing', () => {
    expect(found.need('two', 'write')).toBe(one);
    expect(() => found.need('three', 'write')).toThrow('a breach of r shows its three');
  });
});

describe('without words for its rule', () => {
  const events = [grant(0, 'alice', 1), enter(1, 'bob', 2, 3)];
  const evidence = [0, 1].map((event) => ({ role: `part ${event}`, event }));
  const plain = {
    headline: '`c` broke by its rule `r`',
    given: "A be alice's grant 1 of `db` (from 0 ms, ttl 10 ms)",
    next: 'the run shows the part 0 at 0 ms and the part 1 at 1 ms',
    however: '',
    cure: '',
  };
  const broken: Invalid = { kind: 'invalid', claim: 'c', exercised: 1, rule: 'r', evidence };

  test('a breach is described by its evidence', () => {
    expect(explain(traceOf(events), broken)).toEqual(plain);
    expect(explain(traceOf(events), { ...broken, rule: 'c' }).headline).toBe('`c` broke');
    expect(explain(traceOf(events), { ...broken, evidence: [] }).next).toBe('');
    expect(explain(traceOf(events), { ...broken, rule: 'toString' }).headline).toBe(
      '`c` broke by its rule `toString`',
    );
  });

  test('is described by its evidence if the words of its rule do not fit it', () => {
    expect(explain(traceOf(events), { ...broken, rule: 'stale-write' })).toEqual({
      ...plain,
      headline: '`c` broke by its rule `stale-write`',
    });
  });
});

test('a headline names the system, or the server if the system is unknown', () => {
  const broken = { claim: 'c', rule: 'r', evidence: [] };
  const found = (system: string): string =>
    new Contradiction(traceOf([]), broken, { system }).systemOr('store');
  expect([found('unfenced'), found('')]).toEqual(['`unfenced`', '`store`']);
});

test('a time is formatted in its natural unit', () => {
  expect(at({ atUs: 1500 })).toBe('at 1.5 ms');
});

describe('the end of a lease', () => {
  const ofClient = grant(36, 'alice', 1, { process: 'alice', sentAtUs: 36_000, untilUs: null });
  const given = (...events: readonly TraceEvent[]): string => {
    const trace = traceOf([...events, enter(36, 'alice', 1, 90)]);
    const part = { role: 'grant', event: events.length - 1 };
    const ttlUs = new Map([['alice', 10_000]]);
    return grantsOf(
      new Contradiction(trace, { claim: 'c', rule: 'r', evidence: [part] }, { ttlUs }),
    );
  };

  test('is the end of its key, also for the last grant', () => {
    const taken = (ms: number): TraceEvent =>
      keyChange(ms, 'alice', { untilUs: ms * 1000 + 10_000 });
    expect(given(taken(30), ofClient)).toBe(
      "A be alice's grant 1 of `db` (from 36 ms, its key until 40 ms)",
    );
    expect(given(taken(24), ofClient)).toBe(
      "A be alice's grant 1 of `db` (from 36 ms, its key until 34 ms), entered when that key was gone",
    );
  });

  test('is the release of its key, if its client released it by then', () => {
    const released = (ms: number): TraceEvent =>
      keyChange(ms, 'alice', { change: 'removed', holder: 'alice', message: 'alice/1/del' });
    const taken = keyChange(30, 'alice');
    const before = grant(35, 'alice', 1, { process: 'alice', sentAtUs: 35_000, untilUs: null });
    const left = [taken, before, enter(35, 'alice', 1, 90), released(38), grant(39, 'bob', 2)];
    const evidence = [1, left.length - 1].map((event) => ({ role: 'grant', event }));
    const words = (events: readonly TraceEvent[]): string =>
      grantsOf(new Contradiction(traceOf(events), { claim: 'c', rule: 'r', evidence }));
    expect(words(left)).toContain('(from 35 ms, its key until its release at 38 ms) and B');
    const late = left.with(3, released(40));
    expect(words(late)).toContain('(from 35 ms, its key until 40 ms) and B');
  });

  test('is not called unknown if the lease is known to have ended before the entry', () => {
    const answered = (ms: number, client: string): readonly TraceEvent[] => {
      const names = { from: 'lock', to: client, message: `${client}/1/acquire/1/reply` };
      return [
        acquire(ms - 1, `${client}/1/acquire`),
        { kind: 'send', atUs: ms * 1000, ...names, body: 'OK' },
        { kind: 'receive', atUs: ms * 1000, ...names, isCopy: false },
      ];
    };
    const his = [...answered(28, 'bob'), { ...enter(28, 'bob', 1, 40), ordinal: 2 }];
    expect(given(...answered(20, 'alice'), ...his, ofClient)).toBe(
      "A be alice's grant 1 of `db` (from 36 ms), although it had ended at 30 ms",
    );
    expect(given(...answered(20, 'alice'), ofClient)).toBe(
      "A be alice's grant 1 of `db` (from 36 ms, no end known)",
    );
  });
});

describe('a client that entered after its lease ended', () => {
  const held = grant(1, 'alice', 1);
  const described = (last: TraceEvent, ...events: readonly TraceEvent[]): string => {
    const trace = traceOf([held, ...events, last]);
    const evidence = [held, last].map((event) => ({
      role: event.kind,
      event: trace.events.indexOf(event),
    }));
    const found = new Contradiction(trace, { claim: 'c', rule: 'r', evidence });
    return grantsOf(found).replace("A be alice's grant 1 of `db` (from 1 ms, ttl 10 ms)", '…');
  };

  test('is described as such, with the time', () => {
    expect(described(write(25, 'bob', 0, 1), enter(20, 'alice', 1, 30))).toBe(
      '…, entered at 20 ms, although it had ended at 11 ms',
    );
    expect(described(enter(20, 'alice', 1, 30))).toBe(
      '…, entered at 20 ms, although it had ended at 11 ms',
    );
  });

  test('is not mentioned if the evidence is all earlier than the entry', () => {
    expect(described(write(15, 'bob', 0, 1), enter(20, 'alice', 1, 30))).toBe(
      '…, which ended at 11 ms',
    );
  });

  test('is not mentioned if it entered in time', () => {
    expect(described(write(25, 'bob', 0, 1), enter(2, 'alice', 1, 30))).toBe('…');
  });
});
