/** Tests the order of two noted grants if no server records takings. */
import { describe, expect, test } from 'vitest';
import type { TraceEvent } from '../core/history/events.ts';
import type { Json } from '../core/kernel/json.ts';
import {
  acquire,
  breachOf,
  enter,
  grant,
  keyChange,
  read,
  verdictOn,
} from './trace-builder.fixture.ts';

/** A client sends a call in its section `section`. */
const asks = (ms: number, client: string, section: number, call = 'eval'): TraceEvent =>
  acquire(ms, `${client}/${section}/${call}`);

/** The server answers that call. */
function answered(
  ms: number,
  client: string,
  section: number,
  body: Json,
  call = 'eval',
): readonly TraceEvent[] {
  const names = { from: 'lock', to: client, message: `${client}/${section}/${call}/1/reply` };
  return [
    { kind: 'send', atUs: ms * 1000, ...names, body },
    { kind: 'receive', atUs: ms * 1000, ...names, isCopy: false },
  ];
}

function guard(ms: number, client: string, ordinal: number, token: number): readonly TraceEvent[] {
  const byClient = { process: client, message: '', token, untilUs: null };
  return [grant(ms, client, ordinal, byClient), enter(ms, client, ordinal, ms + 10)];
}

/** Bob enters with token 2 at 25 ms; carol, who asked at `ms` and got 1, enters after him. */
const after = (ms: number, body: Json = 1): readonly TraceEvent[] => {
  const his = [asks(23, 'bob', 1), ...answered(24, 'bob', 1, 2), ...guard(25, 'bob', 1, 2)];
  const hers = [...answered(28, 'carol', 2, body), ...guard(28, 'carol', 2, 1)];
  const asked = asks(ms, 'carol', 2);
  return ms < 25 ? [asked, ...his, ...hers] : [...his, asked, ...hers];
};

describe('a lower token', () => {
  test('proves nothing if it was requested before the higher one had arrived', () => {
    const verdict = verdictOn('tokens-increase', after(3));
    expect(verdict).toMatchObject({ kind: 'valid', exercised: 0 });
  });

  test.each<[string, Json]>([
    ['as the body', 1],
    ['among others', [1, 1, 30]],
    ['in a text', 'token-1'],
  ])('that was requested afterwards, and arrived %s, breaks the claim', (_, body) => {
    const breach = breachOf('tokens-increase', after(26, body));
    expect(breach.rule).toBe('token-not-higher');
    expect(breach.words).toContain('Then carol entered under B after A, at 28 ms.');
  });

  test('counts for the section that it was given to, even if another received it before', () => {
    const others = [asks(1, 'dave', 1), ...answered(2, 'dave', 1, 1)];
    const breach = breachOf('tokens-increase', [...others, ...after(26)]);
    expect(breach.rule).toBe('token-not-higher');
  });

  test('proves nothing if no answer contains it', () => {
    for (const body of [0, [10, 21], 'OK']) {
      expect(verdictOn('tokens-increase', after(26, body)).exercised).toBe(0);
    }
  });

  test('that was drawn early breaks the claim if its client repeats the request afterwards', () => {
    const first = [asks(1, 'carol', 2, 'incr'), ...answered(2, 'carol', 2, 1, 'incr')];
    const asked = (ms: number, call: string, words: string): readonly TraceEvent[] => {
      const names = { from: 'carol', to: 'lock', message: `carol/2/${call}/1/request` };
      return [asks(ms, 'carol', 2, call), { kind: 'send', atUs: ms * 1000, ...names, body: words }];
    };
    const denied = [...asked(3, 'set', 'mine?'), ...answered(4, 'carol', 2, 0, 'set')];
    const [, ...his] = after(3);
    const early = [...first, ...denied, ...his.slice(0, 5)];
    const last = (words: string): readonly TraceEvent[] => [
      ...asked(26, 'set-2', words),
      ...answered(28, 'carol', 2, 'OK', 'set-2'),
      ...guard(28, 'carol', 2, 1),
    ];
    expect(breachOf('tokens-increase', [...early, ...last('mine?')]).rule).toBe('token-not-higher');
    expect(verdictOn('tokens-increase', [...early, ...last('other')]).exercised).toBe(0);
  });

  test('may have arrived with the first answer that contains it', () => {
    const [asked, ...others] = after(3, 'OK');
    if (asked === undefined) throw new Error('nobody asked');
    const again = [asks(26, 'carol', 2, 'get'), ...answered(27, 'carol', 2, 1, 'get')];
    const events = [asked, ...answered(4, 'carol', 2, 1), ...others];
    const at = events.findIndex(({ kind, atUs }) => kind === 'send' && atUs === 28_000);
    const both = [...events.slice(0, at), ...again, ...events.slice(at)];
    expect(verdictOn('tokens-increase', both).exercised).toBe(0);
  });
});

describe('a fence that refuses the last client to enter', () => {
  const refused = read(30, 'carol', 2, null, { token: 1 });
  const kind = (...events: readonly TraceEvent[]): string =>
    verdictOn('progress', [...events, refused]).kind;

  test('is right if another with a higher token may be newer', () => {
    expect(kind(...after(3))).toBe('valid');
  });

  test('is wrong if no other can be newer', () => {
    expect(kind(...after(26))).toBe('invalid');
    expect(kind(...guard(28, 'carol', 2, 1))).toBe('invalid');
  });

  test('is right if the client’s lease was over at its entry', () => {
    const taken = keyChange(15, 'carol', { message: 'carol/2/eval/1/request' });
    expect(kind(taken, ...guard(28, 'carol', 2, 1))).toBe('valid');
    expect(kind({ ...taken, untilUs: 40_000 }, ...guard(28, 'carol', 2, 1))).toBe('invalid');
  });

  test('is wrong if a server granted the lock', () => {
    const given = [grant(25, 'bob', 1, { token: 2 }), grant(28, 'carol', 2, { token: 1 })];
    expect(kind(...given)).toBe('invalid');
  });
});
