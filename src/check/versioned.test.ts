/** Tests `linearizable` for stores with versions and with timestamps, on handwritten histories. */
import { describe, expect, test } from 'vitest';
import type { Answer } from '../core/history/call.ts';
import type { TraceEvent } from '../core/history/events.ts';
import { accepted, answer, invoke, unknown, verdictOn, write } from './trace-builder.fixture.ts';
import type { Verdict } from './verdict.ts';

const counted = { model: 'versioned-register' };
const stamped = { model: 'cas-register' };

/** A read of `x`, from its call to its answer. */
function reads(ms: number, operation: string, value: number, version: number | null): TraceEvent[] {
  const found = { kind: 'value', value, version } as const;
  return [invoke(ms, operation, { verb: 'read', value: null }), answer(ms + 1, operation, found)];
}

function writes(
  ms: number,
  operation: string,
  { value, version, given }: { value: number; version?: number | null; given: Answer | null },
): TraceEvent[] {
  const call = invoke(ms, operation, {
    value,
    adds: 1,
    ...(version === undefined ? {} : { version }),
  });
  return [call, given === null ? unknown(ms + 1, operation) : answer(ms + 1, operation, given)];
}

const becomes = (version: number): Answer => ({ kind: 'accepted', version });

describe('a store that counts its changes', () => {
  test('fits if every accepted write makes the version after the one that it expected', () => {
    const events = [
      ...reads(0, 'alice/1/read', 0, null),
      ...writes(2, 'alice/1/write', { value: 1, version: null, given: becomes(1) }),
      ...reads(4, 'bob/1/read', 1, 1),
      ...writes(6, 'bob/1/write', { value: 2, version: 1, given: becomes(2) }),
    ];
    expect(verdictOn('linearizable', events, counted).kind).toBe('valid');
  });

  test('does not fit if two writes make the same version', () => {
    const events = [
      ...writes(2, 'alice/1/write', { value: 1, version: null, given: becomes(1) }),
      ...writes(6, 'bob/1/write', { value: 1, version: null, given: becomes(1) }),
    ];
    expect(verdictOn('linearizable', events, counted).kind).toBe('invalid');
  });

  test('does not fit if a read returns a version that no write may have made', () => {
    const events = [
      ...writes(2, 'alice/1/write', { value: 1, version: null, given: becomes(1) }),
      ...reads(4, 'bob/1/read', 1, 2),
    ];
    expect(verdictOn('linearizable', events, counted).kind).toBe('invalid');
  });

  test('fits if a write without an answer may have made the version', () => {
    const events = [
      ...writes(0, 'alice/1/write', { value: 1, version: null, given: null }),
      ...reads(4, 'bob/1/read', 1, 1),
    ];
    expect(verdictOn('linearizable', events, counted).kind).toBe('valid');
  });

  const outrun = reads(0, 'alice/1/read', 0, null).concat(
    writes(2, 'bob/1/write', { value: 1, version: null, given: becomes(1) }),
    writes(4, 'carol/1/write', { value: 2, version: 1, given: becomes(2) }),
  );

  test('does not fit if it accepted a write whose expected version was gone', () => {
    const late = writes(6, 'alice/1/write', { value: 1, version: null, given: becomes(3) });
    expect(verdictOn('linearizable', [...outrun, ...late], counted).kind).toBe('invalid');
  });

  const instead = (version: number, more: { check?: string } = {}): Answer => {
    return { kind: 'refused', highest: 0, version, ...more };
  };

  test.each([
    ['fits', 'that write', { version: null, given: instead(2) }, 'valid'],
    [
      'does not fit',
      'that write for a version that it never had',
      { version: null, given: instead(3) },
      'invalid',
    ],
    [
      'does not fit',
      'a write whose version was right',
      { version: 2, given: instead(2) },
      'invalid',
    ],
    [
      'fits',
      'such a write by a rule of its table',
      { version: 2, given: instead(2, { check: 'stock >= 0' }) },
      'valid',
    ],
  ])('%s if it refused %s', (_fits, _what, late, kind) => {
    const events = [...outrun, ...writes(6, 'alice/1/write', { value: 1, ...late })];
    expect(verdictOn('linearizable', events, counted).kind).toBe(kind);
  });

  const repeated: Answer = { kind: 'accepted', version: 2, isRepeated: true };

  test('may answer that a write was already applied, by an earlier attempt or this one', () => {
    const byFirst = [
      ...writes(0, 'alice/1/write', { value: 1, version: null, given: null }),
      ...writes(2, 'alice/1/write-again', { value: 2, version: 1, given: repeated }),
      ...reads(4, 'bob/1/read', 1, 1),
    ];
    const byItself = [
      ...writes(2, 'alice/1/write', { value: 1, version: null, given: repeated }),
      ...reads(4, 'bob/1/read', 1, 1),
    ];
    for (const events of [byFirst, byItself]) {
      expect(verdictOn('linearizable', events, counted).kind).toBe('valid');
    }
  });
});

describe('a store that does not count its changes', () => {
  const verdict = (events: TraceEvent[], terms = counted): Verdict =>
    verdictOn('linearizable', events, terms);

  test('is not judged by versions if it reports none', () => {
    const write = [invoke(0, 'alice/1/write', { value: 1 }), accepted(1, 'alice/1/write')];
    const read = [
      invoke(2, 'bob/1/read', { verb: 'read', value: null }),
      answer(3, 'bob/1/read', { kind: 'value', value: 1 }),
    ];
    for (const events of [read, write, [...write, ...read]]) {
      const reason = 'store reports no versions';
      expect(verdict(events)).toMatchObject({ kind: 'unknown', reason });
    }
    expect(verdict(read, { model: 'register' }).kind).toBe('invalid');
  });

  test('is not judged by versions if it reports timestamps', () => {
    const given = write(1, 'alice', 0, 1, { version: { by: 'timestamp', found: null, given: 7 } });
    const events = [
      invoke(0, 'alice/1/write', { value: 1, version: null }),
      { ...given, operation: 'alice/1/write' },
      answer(2, 'alice/1/write', becomes(7)),
    ];
    const reason = 'store reports timestamps, which a counting model does not have';
    expect(verdict(events)).toMatchObject({ kind: 'unknown', reason });
    expect(verdict(events, stamped).kind).toBe('valid');
  });
});

describe('a store that compares timestamps', () => {
  /** Both read version 3; bob's write leaves the timestamp `stamp`, and alice still expects 3. */
  const sameTick = (stamp: number): TraceEvent[] => [
    ...writes(0, 'carol/1/write', { value: 1, version: null, given: becomes(3) }),
    ...reads(2, 'alice/1/read', 1, 3),
    ...reads(4, 'bob/1/read', 1, 3),
    ...writes(6, 'bob/1/write', { value: 2, version: 3, given: becomes(stamp) }),
  ];

  test('does not fit if it accepts a write over a change that left the same timestamp', () => {
    const late = writes(8, 'alice/1/write', { value: 2, version: 3, given: becomes(3) });
    const verdict = verdictOn('linearizable', [...sameTick(3), ...late], stamped);
    expect(verdict.kind).toBe('invalid');
  });

  test('fits if it refuses a write after a change within the same tick', () => {
    const given: Answer = { kind: 'refused', highest: 0, version: 4 };
    const late = writes(8, 'alice/1/write', { value: 2, version: 3, given });
    expect(verdictOn('linearizable', [...sameTick(4), ...late], stamped).kind).toBe('valid');
  });

  test('fits if two changes share a timestamp and no client relied on the first', () => {
    const next = [
      ...reads(8, 'alice/2/read', 2, 3),
      ...writes(10, 'alice/2/write', { value: 3, version: 3, given: becomes(3) }),
    ];
    expect(verdictOn('linearizable', [...sameTick(3), ...next], stamped).kind).toBe('valid');
  });

  test('fits any write that names no timestamp', () => {
    const plain = [invoke(8, 'alice/1/write', { value: 9 }), accepted(9, 'alice/1/write')];
    expect(verdictOn('linearizable', [...sameTick(3), ...plain], stamped).kind).toBe('valid');
  });
});
