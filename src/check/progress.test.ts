import { describe, expect, test } from 'vitest';
import type { KeyChange, TraceEvent, Write } from '../core/history/events.ts';
import { judge } from './claims.ts';
import type { Terms } from './terms.ts';
import {
  accepted,
  acquire,
  breachOf,
  deny,
  enter,
  fault,
  grant,
  healed,
  invoke,
  keyChange,
  read,
  renew,
  terms,
  traceOf,
  verdictOn,
  write,
} from './trace-builder.fixture.ts';
import type { Verdict } from './verdict.ts';

const planned = { probeWrites: new Set(['db']) };
const asked = [healed(100), acquire(100, 'probe/1/acquire')];
/** A client sends the write of its section, so the probe's section has one as well. */
const askedAfterWrite = [invoke(90, 'alice/1/write'), ...asked];

test('a probe that is granted in time and whose write is accepted shows progress', () => {
  const events = [
    ...asked,
    grant(121, 'probe', 1),
    invoke(122, 'probe/1/write'),
    write(123, 'probe', 1, 9),
    accepted(124, 'probe/1/write'),
  ];
  expect(verdictOn('progress', events)).toMatchObject({ kind: 'valid', exercised: 2 });
});

test('a probe that is granted later than twice the ttl plus the slack breaks the claim', () => {
  const breach = breachOf('progress', [...asked, grant(121.001, 'probe', 1)]);
  expect(breach.rule).toBe('probe-granted-late');
  expect(breach.evidence).toEqual(['1 first try', '2 grant']);
  expect(breach.words).toMatchInlineSnapshot(
    `"\`db\` is granted late to a fresh client after healing. Let A be probe's grant 1 of \`db\` (from 121.001 ms, ttl 10 ms). Then probe requested \`db\` from 100 ms on. However, it was granted it only at 121.001 ms."`,
  );
});

test('a probe that notes its own grant may enter late, but must send its write', () => {
  const clientGrant = (ms: number): TraceEvent =>
    grant(ms, 'probe', 1, { process: 'probe', message: '' });
  const { words } = breachOf('progress', [...askedAfterWrite, clientGrant(101)], planned);
  expect(words).toContain('Then probe entered under A at 101 ms, after healing');
  expect(verdictOn('progress', [...asked, clientGrant(500)])).toMatchObject({
    kind: 'valid',
    exercised: 1,
  });
});

describe('a key that keeps the probe out', () => {
  /** Alice takes a key at 1 ms; the probe asks from 100 ms on, and never enters. */
  const keptOut = (more: Partial<KeyChange>, ...later: readonly TraceEvent[]): Verdict => {
    const key = { holder: 'alice', taking: 'alice/1/acquire/1/request', ...more };
    const taken = [
      keyChange(1, 'alice', key),
      grant(2, 'alice', 1, BY_CLIENT),
      enter(2, 'alice', 1, 99),
    ];
    const sections = [
      { process: 'probe', section: 'probe/1', beganUs: 100_000, end: UNGUARDED },
    ] as const;
    const trace = { ...traceOf([...taken, ...asked, ...later, healed(200)]), sections };
    const [verdict = expect.fail('there is no verdict')] = judge(trace, terms, ['progress']);
    return verdict;
  };
  const BY_CLIENT = { process: 'alice', message: '', untilUs: null } as const;
  const UNGUARDED = { kind: 'returned', atUs: 150_000, isUnguarded: true } as const;
  const prolonged = (ms: number, key = 'db'): KeyChange =>
    keyChange(ms, 'alice', {
      key,
      change: 'prolonged',
      holder: 'alice',
      taking: 'alice/1/acquire/1/request',
      untilUs: 500_000,
    });

  test('breaks the claim if it never expires', () => {
    expect(keptOut({ untilUs: null })).toMatchObject({
      kind: 'invalid',
      rule: 'probe-not-granted',
      evidence: [
        { role: 'key kept', event: 0 },
        { role: 'holder grant', event: 1 },
        { role: 'first try', event: 4 },
      ],
    });
  });

  test('with an end breaks the claim only if a client extends it', () => {
    expect(keptOut({ untilUs: 500_000 })).toMatchObject({ kind: 'valid', exercised: 0 });
    expect(keptOut({ untilUs: 115_000 }, prolonged(110)).kind).toBe('invalid');
  });

  test('does not count if it is not a lock, unless another client released it before', () => {
    const seen = { key: 'seen:7', isNamed: false, untilUs: null };
    expect(keptOut(seen)).toMatchObject({ kind: 'valid', exercised: 0 });
    const removed = keyChange(3, 'bob', { ...seen, change: 'removed', holder: 'bob' });
    const again = keyChange(4, 'alice', { ...seen, holder: 'alice' });
    expect(keptOut(seen, removed, again).kind).toBe('invalid');
  });

  test('leaves the claim unknown if the run was truncated before the probe’s deadline', () => {
    const open = { kind: 'open', wait: null } as const;
    const key = keyChange(1, 'alice', { holder: 'alice', untilUs: null });
    const entered = [key, grant(2, 'alice', 1, BY_CLIENT), enter(2, 'alice', 1, 99)];
    const kindAt = (endMs: number): string => {
      const sections = [{ process: 'probe', section: 'probe/1', beganUs: 100_000, end: open }];
      const events = [...entered, ...asked, fault(endMs, 'pause', 'bob', { untilMs: endMs })];
      const trace = { ...traceOf(events, truncated), sections };
      return judge(trace, terms, ['progress'])[0]?.kind ?? '';
    };
    expect([kindAt(121), kindAt(121.001)]).toEqual(['unknown', 'invalid']);
  });

  test('exercises the claim if the probe enters', () => {
    const entered = [
      grant(110, 'probe', 2, { ...BY_CLIENT, process: 'probe' }),
      enter(110, 'probe', 1, 999),
    ];
    expect(keptOut({}, ...entered)).toMatchObject({ kind: 'valid', exercised: 2 });
  });

  test('does not count once it was removed or has expired', () => {
    expect(keptOut({}).kind).toBe('valid');
    const removal = keyChange(50, 'alice', { change: 'removed', holder: 'alice' });
    expect(keptOut({ untilUs: null }, removal).kind).toBe('valid');
  });
});

test('a lock that a crashed holder keeps forever is never granted to the probe', () => {
  const breach = breachOf('progress', [
    grant(0, 'alice', 1, { untilUs: null }),
    fault(5, 'crash', 'alice'),
    ...asked,
    { ...deny(130, 'bob', 1), client: 'probe' },
  ]);
  expect(breach.rule).toBe('probe-not-granted');
  expect(breach.evidence).toEqual(['0 holder grant', '1 crash', '3 first try', '4 denial']);
  expect(breach.words).toMatchInlineSnapshot(
    `"\`db\` is not granted to a fresh client after healing. Let A be alice's grant 1 of \`db\` (from 0 ms, no end). Then probe requested \`db\` from 100 ms on. However, it was never granted it, last denied at 130 ms, because A held it: alice crashed at 5 ms."`,
  );
});

test('a run that was truncated before the deadline proves nothing', () => {
  const truncated = { kind: 'cut', limit: 'maxEvents' } as const;
  const [verdict] = judge(traceOf(asked, truncated), terms, ['progress']);
  expect(verdict).toMatchObject({ kind: 'unknown' });
  const [late] = judge(traceOf([...asked, healed(200)], truncated), terms, ['progress']);
  expect(late).toMatchObject({ kind: 'invalid', rule: 'probe-not-granted' });
});

test('a probe that is granted the lock and never sends its write breaks the claim', () => {
  const breach = breachOf('progress', [...askedAfterWrite, grant(101, 'probe', 1)], planned);
  expect(breach.rule).toBe('probe-did-not-write');
  expect(breach.evidence).toEqual(['2 first try', '3 grant']);
  expect(breach.words).toMatchInlineSnapshot(
    `"probe holds \`db\` and does not write. Let A be probe's grant 1 of \`db\` (from 101 ms, ttl 10 ms). Then probe was granted A at 101 ms, after healing. However, it never sent the write of its section."`,
  );
});

test('a probe need not send a write if its section has none, or if the run was truncated', () => {
  const granted = [...asked, grant(101, 'probe', 1)];
  // Nor does a probe of user code whose clients send none.
  expect(verdictOn('progress', granted, planned).kind).toBe('valid');
  const events = [...askedAfterWrite, grant(101, 'probe', 1)];
  expect(verdictOn('progress', events)).toMatchObject({ kind: 'valid', exercised: 1 });
  const truncated = { kind: 'cut', limit: 'maxEvents' } as const;
  const [verdict] = judge(traceOf(events, truncated), { ...terms, ...planned }, ['progress']);
  expect(verdict).not.toMatchObject({ kind: 'invalid' });
});

test('a probe whose first write is refused breaks the claim', () => {
  const breach = breachOf('progress', [
    write(1, 'alice', 0, 1, { token: 7 }),
    ...asked,
    grant(101, 'probe', 1),
    invoke(102, 'probe/1/write'),
    write(103, 'probe', 1, 9, { isAccepted: false, highest: 7 }),
  ]);
  expect(breach.rule).toBe('probe-refused');
  expect(breach.words).toMatchInlineSnapshot(
    `"Rightful holder refused by \`store\`. Let A be probe's grant 1 of \`db\` (from 101 ms, ttl 10 ms). Then probe held A, the latest grant of \`db\`. However, the store refused the write that came at 103 ms with token 1, because alice wrote 1 to \`x\` with token 7 at 1 ms, which it accepted."`,
  );
});

test('a probe whose first write is never handled breaks the claim', () => {
  const breach = breachOf('progress', [
    ...asked,
    grant(101, 'probe', 1),
    invoke(102, 'probe/1/write'),
  ]);
  expect(breach.rule).toBe('probe-unheard');
  expect(breach.words).toMatchInlineSnapshot(
    `"First write by probe never handled. Then probe sent \`probe/1/write\` at 102 ms, after healing. However, no store handled it."`,
  );
});

const second = { issue: 2, operation: 'alice/1/write-2' };
const written = [grant(0, 'alice', 1), write(1, 'alice', 1, 1)];

test('a refused access of a rightful holder breaks the claim', () => {
  const refused = write(2, 'alice', 1, 2, { ...second, isAccepted: false, highest: 1 });
  const breach = breachOf('progress', [...written, refused]);
  expect(breach.rule).toBe('holder-refused');
  expect(breach.evidence).toEqual(['0 grant', '1 earlier access', '2 refused access']);
  expect(breach.words).toMatchInlineSnapshot(
    `"Rightful holder refused by \`store\`. Let A be alice's grant 1 of \`db\` (from 0 ms, ttl 10 ms). Then alice held A, the latest grant of \`db\`. However, the store refused the write that came at 2 ms with token 1, because alice wrote 1 to \`x\` with token 1 at 1 ms, which it accepted."`,
  );
});

test('a repeated, reordered, stale or expired access may be refused', () => {
  const no = { isAccepted: false };
  const again = [...written, write(2, 'alice', 1, 1, no)];
  expect(verdictOn('progress', again)).toMatchObject({ kind: 'valid', exercised: 2 });
  const expired = [...written, write(10, 'alice', 1, 2, { ...second, ...no })];
  expect(verdictOn('progress', expired)).toMatchObject({ kind: 'valid', exercised: 1 });
  const stale = [...written, grant(5, 'bob', 2), write(6, 'alice', 1, 2, { ...second, ...no })];
  expect(verdictOn('progress', stale)).toMatchObject({ kind: 'valid', exercised: 1 });
});

test('a run that ends while the probe waits breaks the claim', () => {
  expect(breachOf('progress', asked).rule).toBe('probe-not-granted');
});

test('a probe is judged by its own grants and denials, not by those of others', () => {
  const denied = [
    grant(99, 'alice', 1),
    ...asked,
    deny(101, 'probe', 1),
    deny(102, 'bob', 1),
    grant(103, 'bob', 2),
    healed(130),
  ];
  expect(breachOf('progress', denied).evidence).toEqual([
    '0 holder grant',
    '2 first try',
    '3 denial',
  ]);
  const silent = [...askedAfterWrite, grant(101, 'probe', 1), grant(111, 'alice', 2)];
  expect(breachOf('progress', silent, planned).evidence).toEqual(['2 first try', '3 grant']);
});

test('a holder that keeps the lock from the probe is described with its last renewal', () => {
  const words = (untilUs: number | null): string =>
    breachOf('progress', [
      grant(90, 'alice', 1, { untilUs }),
      renew(99, 'alice', 1, { untilUs }),
      ...asked,
      { ...deny(130, 'bob', 1), client: 'probe' },
    ]).words;
  expect(words(200_000)).toContain('because A held it, renewed at 99 ms to last until 200 ms');
  expect(words(null)).toContain('because A held it');
  expect(words(null)).not.toContain('renewed');
  // A renewal after that denial did not cause it.
  const since = breachOf('progress', [
    grant(90, 'alice', 1),
    renew(99, 'alice', 1, { untilUs: 200_000 }),
    ...asked,
    deny(130, 'probe', 1),
    renew(140, 'alice', 1, { untilUs: 300_000 }),
  ]);
  expect(since.words).toContain('renewed at 99 ms to last until 200 ms');
});

test('a grant that the probe notes itself counts, whatever its servers call the lock', () => {
  const called = acquire(100, 'probe/1/acquire');
  const asks: TraceEvent = { ...called, call: { verb: 'acquire', lock: 'lock:db', token: 0 } };
  const takes = (ms: number): TraceEvent =>
    grant(ms, 'probe', 1, { process: 'probe', message: '', sentAtUs: 100_000 });
  expect(verdictOn('progress', [healed(100), asks, takes(121)])).toMatchObject({
    kind: 'valid',
    exercised: 1,
  });
  expect(breachOf('progress', [healed(100), asks, takes(122)]).rule).toBe('probe-granted-late');
  const given = grant(121, 'probe', 1);
  expect(breachOf('progress', [healed(100), asks, given]).rule).toBe('probe-not-granted');
});

const truncated = { kind: 'cut', limit: 'maxEvents' } as const;
const served = [...asked, grant(101, 'probe', 1)];
const no = { isAccepted: false };

function rulesOf(events: readonly TraceEvent[], more: Partial<Terms> = {}): string {
  const verdict = verdictOn('progress', events, more);
  return verdict.kind === 'invalid' ? verdict.rule : `${verdict.kind} ${verdict.exercised}`;
}

test('the time of a probe runs from its first attempt, end included', () => {
  expect(rulesOf([...asked, acquire(110, 'probe/1/acquire-2'), grant(122, 'probe', 1)])).toBe(
    'probe-granted-late',
  );
  expect(rulesOf([...asked, acquire(110, 'probe/1/acquire-2'), grant(121, 'probe', 1)])).toBe(
    'valid 1',
  );
  const [verdict] = judge(traceOf([...asked, healed(121)], truncated), terms, ['progress']);
  expect(verdict).toMatchObject({ kind: 'unknown' });
});

test('a write of another client does not count as the probe’s write', () => {
  const others = [invoke(102, 'alice/2/write'), accepted(103, 'alice/2/write')];
  expect(rulesOf([...served, ...others], planned)).toBe('probe-did-not-write');
  const writes = [invoke(102, 'probe/1/write'), accepted(103, 'probe/1/write')];
  expect(rulesOf([...served, ...writes], planned)).toBe('valid 1');
});

test('only the first write of a probe to each store, or its repetition, must be accepted', () => {
  const first = [invoke(102, 'probe/1/write'), write(102, 'probe', 1, 9)];
  const second = { operation: 'probe/1/write-2' };
  const refused = write(104, 'probe', 1, 9, { ...second, ...no });
  expect(rulesOf([...served, ...first, invoke(103, 'probe/1/write-2'), refused])).toBe('valid 3');
  const elsewhere = invoke(103, 'probe/1/write-2', { store: 'other' });
  expect(rulesOf([...served, ...first, elsewhere])).toBe('probe-unheard');
  const again = invoke(103, 'probe/1/write-2', { repeats: 'probe/1/write' });
  const asks = [...served, invoke(102, 'probe/1/write'), again];
  expect(rulesOf([...asks, accepted(104, 'probe/1/write-2')])).toBe('valid 1');
  expect(rulesOf(asks)).toBe('probe-unheard');
  const [verdict] = judge(traceOf(asks, truncated), terms, ['progress']);
  expect(verdict).toMatchObject({ kind: 'unknown' });
});

test('a write that violates a table constraint may be refused', () => {
  const forbidden = { ...no, refusal: { kind: 'check', rule: 'stock' } } as const;
  const other = { ...no, refusal: { kind: 'version' } } as const;
  const probes = (more: Partial<Write>): string =>
    rulesOf([...served, invoke(102, 'probe/1/write'), write(103, 'probe', 1, 9, more)]);
  expect(probes(forbidden)).toBe('valid 2');
  expect(probes(other)).toBe('probe-refused');
  const holds = (more: Partial<Write>): string =>
    rulesOf([...written, write(2, 'alice', 1, 2, { ...second, ...more })]);
  expect(holds(forbidden)).toBe('valid 2');
  expect(holds(other)).toBe('holder-refused');
});

test('a refusal is shown with the last access of an equal or higher token, or the last one', () => {
  const refused = write(9, 'alice', 1, 2, { ...second, ...no });
  const by = (ms: number, token: number, more: Partial<Write> = {}): Write =>
    write(ms, 'bob', 0, ms, { token, operation: `bob/0/write-${ms}`, ...more });
  const earlier = (...events: readonly TraceEvent[]): readonly string[] => {
    const all = [grant(0, 'alice', 1), ...events, refused, by(10, 7)];
    return breachOf('progress', all).evidence.filter((one) => one.endsWith('earlier access'));
  };
  expect(earlier(by(1, 1), by(2, 7), by(3, 0))).toEqual(['2 earlier access']);
  expect(earlier(by(1, 1), by(2, 0))).toEqual(['1 earlier access']);
  expect(earlier(by(1, 0), by(2, 0), by(3, 0))).toEqual(['3 earlier access']);
  const looked = read(3, 'bob', 0, 1, { token: 7, operation: 'bob/0/read' });
  expect(earlier(by(1, 7), by(2, 7, no), looked)).toEqual(['1 earlier access']);
  expect(earlier()).toEqual([]);
});

test('a probe that waits in line is described so; a noted grant of another lock is ignored', () => {
  const waits = { ...deny(130, 'probe', 1), waits: true } as const;
  const events = [grant(90, 'alice', 1, { untilUs: null }), ...asked, waits];
  expect(breachOf('progress', events).words).toContain(', queued at 130 ms, because A held it');
  const call = { verb: 'acquire', lock: 'lock:db', token: 0 } as const;
  const asks: TraceEvent = { ...acquire(100, 'probe/1/acquire'), call };
  const mail = grant(90, 'alice', 7, { process: 'alice', lock: 'mail' });
  expect(rulesOf([mail, asks, grant(101, 'probe', 1, { process: 'probe' })])).toBe('valid 1');
});
