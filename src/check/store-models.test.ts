/** Tests the history that each model gets of the operations on one resource in one store. */
import { describe, expect, test } from 'vitest';
import type { Answer } from '../core/history/call.ts';
import type { TraceEvent } from '../core/history/events.ts';
import { assert } from '../core/kernel/assert.ts';
import { mix } from '../core/kernel/chance.ts';
import { checkHistory } from '../linearizability/check-history.ts';
import {
  asSeen,
  type ClientHistory,
  casHistory,
  checkStore,
  counterHistory,
  fencedHistory,
  type ModelDefinition,
  type ModelVerdict,
  registerHistory,
  type StoreOperation,
  storeModels,
  storeOperations,
  versionedHistory,
} from './store-models.ts';
import { accepted, acquire, answer, invoke, traceOf, unknown } from './trace-builder.fixture.ts';
import { indexTrace } from './trace-index.ts';

type Fields = Parameters<typeof invoke>[2];

/** Returns an operation that is called and, unless its answer is null, answered at once. */
function called(operation: string, fields: Fields, given: Answer | null): readonly TraceEvent[] {
  const call = invoke(0, operation, fields);
  return given === null ? [call] : [call, answer(0, operation, given)];
}

function operationsOf(events: readonly TraceEvent[]): readonly StoreOperation[] {
  return storeOperations(indexTrace(traceOf(events)))[0] ?? [];
}

/** Returns the calls of a history, with the outcome of those that did not end as `ok`. */
function callsIn<C>(
  seenAs: (operations: readonly StoreOperation[]) => ClientHistory<C>,
  ...events: readonly (readonly TraceEvent[])[]
): readonly unknown[] {
  const { history } = seenAs(operationsOf(events.flat()));
  return history.map(({ call, outcome }) => (outcome === 'ok' ? call : { ...call, outcome }));
}

const key = 'x';
const resource = 'db';
const yes: Answer = { kind: 'accepted' };
const no: Answer = { kind: 'refused', highest: 2 };
const value = (seen: number, version?: number | null): Answer => {
  return { kind: 'value', value: seen, ...(version === undefined ? {} : { version }) };
};
const info = { outcome: 'info' };

describe('the operations of one resource in one store', () => {
  test('are those that may have taken effect there, in call order', () => {
    const failed = { ...unknown(3, 'bob/1/write'), outcome: 'fail' as const };
    const all = storeOperations(
      indexTrace(
        traceOf([
          acquire(0, 'alice/1/acquire'),
          invoke(0, 'alice/1/write'),
          invoke(1, 'bob/1/write'),
          invoke(1, 'alice/1/write-2', { verb: 'fence' }),
          failed,
          invoke(4, 'alice/1/read'),
          invoke(4, 'alice/2/read', { store: 'other' }),
          invoke(4, 'alice/3/read', { resource: 'disk' }),
          accepted(5, 'alice/1/write'),
          unknown(5, 'alice/1/read'),
        ]),
      ),
    );
    const names = all.map((one) => one.map(({ log }) => log.invoke.event.operation));
    expect(names).toEqual([['alice/1/write', 'alice/1/read'], ['alice/3/read'], ['alice/2/read']]);
    expect(all[0]?.map((one) => [one.isAnswered, one.answer])).toEqual([
      [true, yes],
      [false, null],
    ]);
  });

  test('end at their answers; unanswered ones never end', () => {
    const events = [
      invoke(0, 'alice/1/write'),
      invoke(0, 'bob/1/write'),
      unknown(1, 'bob/1/write'),
    ];
    const { history, sources } = registerHistory(
      operationsOf([...events, accepted(2, 'alice/1/write')]),
    );
    expect(
      history.map(({ client, invoke: at, return: end, outcome }) => [client, at, end, outcome]),
    ).toEqual([
      ['alice', 0, 3, 'ok'],
      ['bob', 1, null, 'info'],
    ]);
    expect(sources.map(({ log }) => log.invoke.index)).toEqual([0, 1]);
  });
});

/** Writes and reads that were accepted, refused and never answered, and an announcement. */
const ALL_ENDINGS = [
  called('a/1/write', { value: 1 }, yes),
  called('a/2/write', { value: 2 }, no),
  called('a/3/write', { value: 3 }, null),
  called('a/4/read', {}, value(3)),
  called('a/5/read', {}, no),
  called('a/6/read', {}, null),
  called('a/7/open', {}, yes),
];

test('a register sees accepted reads and writes, and nothing that was refused', () => {
  expect(callsIn(registerHistory, ...ALL_ENDINGS)).toEqual([
    { name: 'write', key, value: 1 },
    { name: 'write', key, value: 3, ...info },
    { name: 'read', key, value: 3 },
  ]);
});

test('a write that was already applied may be from this attempt or an earlier one', () => {
  const repeated: Answer = { kind: 'accepted', isRepeated: true };
  const again = called('a/1/write', { value: 1, adds: 1 }, repeated);
  expect(callsIn(registerHistory, again)).toEqual([{ name: 'write', key, value: 1, ...info }]);
  expect(callsIn(counterHistory, again)).toEqual([{ name: 'increment', key, by: 1, ...info }]);
});

test('a fenced register also sees tokens, announcements and refusals', () => {
  expect(callsIn(fencedHistory, ...ALL_ENDINGS, called('a/8/open', {}, no))).toEqual([
    { name: 'write', resource, key, value: 1, token: 1, answer: 'accepted' },
    { name: 'write', resource, key, value: 2, token: 2, answer: 'refused' },
    { name: 'write', resource, key, value: 3, token: 3, answer: 'unknown', ...info },
    { name: 'read', resource, key, token: 4, value: 3 },
    { name: 'read', resource, key, token: 5, value: 'refused' },
    { name: 'read', resource, key, token: 6, value: 'unknown', ...info },
    { name: 'open', resource, token: 7, answer: 'accepted' },
    { name: 'open', resource, token: 8, answer: 'refused' },
  ]);
});

describe('a counter sees', () => {
  test('each read with the next write as one increment, from the call of the read', () => {
    const events = [
      called('a/1/read', {}, value(0)),
      called('b/1/read', {}, value(0)),
      called('a/1/write', { value: 1, adds: 1 }, yes),
      called('b/1/write', { value: 9, adds: 9 }, no),
      called('a/2/write', { value: 3, adds: 2 }, null),
      called('c/1/read', {}, value(1)),
      called('c/2/read', {}, no),
      called('c/3/open', {}, yes),
    ].flat();
    const { history } = counterHistory(operationsOf(events));
    expect(history.map(({ call, invoke: at, return: end }) => [call, at, end])).toEqual([
      [{ name: 'increment', key, by: 1 }, 0, 5],
      [{ name: 'increment', key, by: 2 }, 8, null],
      [{ name: 'read', key, value: 1 }, 9, 10],
    ]);
  });

  test('nothing of a key that a client overwrites', () => {
    const overwritten = called('b/1/write', { value: 4 }, yes);
    const increment = called('a/1/write', { value: 1, adds: 1 }, yes);
    const other = called('a/2/write', { key: 'y', value: 1, adds: 1 }, yes);
    expect(callsIn(counterHistory, increment, overwritten, other)).toEqual([
      { name: 'increment', key: 'y', by: 1 },
    ]);
  });

  test('the read of one key separately from the write of another', () => {
    const read = called('a/1/read', {}, value(0));
    const other = called('a/1/write', { key: 'y', value: 1, adds: 1 }, yes);
    expect(callsIn(counterHistory, read, other)).toEqual([
      { name: 'read', key, value: 0 },
      { name: 'increment', key: 'y', by: 1 },
    ]);
  });
});

test('a versioned register sees the version of each read and of each write', () => {
  const refused = (version?: number | null, check?: string): Answer => ({
    kind: 'refused',
    highest: 0,
    ...(version === undefined ? {} : { version }),
    ...(check === undefined ? {} : { check }),
  });
  const written = { name: 'write', key, version: null };
  expect(
    callsIn(
      versionedHistory,
      called('a/1/write', { value: 1 }, { kind: 'accepted', version: 4 }),
      called('a/2/write', { value: 2, version: 4 }, { kind: 'accepted', version: 5 }),
      called('a/3/write', { value: 3, version: null }, yes),
      called('a/4/write', { value: 4, version: 5 }, null),
      called('a/5/write', { value: 5, version: 4 }, refused(5)),
      called('a/6/write', { value: 6, version: 4 }, refused(null)),
      called('a/7/write', { value: 7, version: 4 }, refused()),
      called('a/8/write', { value: 8, version: 4 }, refused(4, 'stock')),
      called('a/9/write', { value: 9 }, refused(4)),
      called('a/10/write', { value: 10 }, { kind: 'accepted', version: 6, isRepeated: true }),
      called('a/11/read', {}, value(3, 6)),
      called('a/12/read', {}, value(0, null)),
      called('a/13/read', {}, no),
      called('a/14/open', {}, yes),
    ),
  ).toEqual([
    { ...written, value: 1, version: 4 },
    { ...written, value: 2, version: 5, expected: 4 },
    { ...written, value: 3, expected: 0 },
    { ...written, value: 4, expected: 5, ...info },
    { ...written, value: 5, version: 5, expected: 4, answer: 'refused' },
    { ...written, value: 6, version: 0, expected: 4, answer: 'refused' },
    { ...written, value: 10, ...info },
    { name: 'read', key, value: 3, version: 6 },
    { name: 'read', key, value: 0, version: 0 },
  ]);
});

describe('a compare-and-set register', () => {
  const cas = { name: 'cas', key };
  const made = (version: number | null): Answer => ({ kind: 'accepted', version });

  test('expects the value that its client knows under the version', () => {
    expect(
      callsIn(
        casHistory,
        called('a/1/read', {}, value(7, 3)),
        called('a/1/write', { value: 8, version: 3 }, made(4)),
        called('a/2/write', { value: 9, version: 4 }, null),
        called('b/1/write', { value: 5, version: 4 }, made(5)),
        called('a/3/write', { value: 6, version: 2 }, made(6)),
        called('a/4/write', { value: 1 }, made(7)),
        called('a/5/write', { value: 2, version: 7 }, no),
        called('a/6/write', { value: 3, version: 7 }, made(8)),
        called('a/7/read', {}, no),
        called('a/8/open', {}, yes),
      ),
    ).toEqual([
      { name: 'read', key, value: 7 },
      { ...cas, expected: 7, value: 8, answer: 'matched' },
      { ...cas, expected: 8, value: 9, answer: 'unknown', ...info },
      { name: 'write', key, value: 5 },
      { name: 'write', key, value: 6 },
      { name: 'write', key, value: 1 },
      { ...cas, expected: 1, value: 3, answer: 'matched' },
    ]);
  });

  test('learns from an answer when it arrives, not when the call is sent', () => {
    const read = invoke(0, 'a/1/read');
    const early = called('a/1/write', { value: 8, version: 3 }, made(4));
    const answered = answer(1, 'a/1/read', value(7, 3));
    const late = called('a/2/write', { value: 9, version: 3 }, made(5));
    expect(callsIn(casHistory, [read], early, [answered], late)).toEqual([
      { name: 'read', key, value: 7 },
      { name: 'write', key, value: 8 },
      { ...cas, expected: 7, value: 9, answer: 'matched' },
    ]);
  });

  test('learns nothing from another key or from an answer without a version', () => {
    expect(
      callsIn(
        casHistory,
        called('a/1/read', { key: 'y' }, value(7, 3)),
        called('a/1/write', { value: 8, version: 3 }, yes),
        called('a/2/write', { value: 9, version: null }, made(5)),
      ),
    ).toEqual([
      { name: 'read', key: 'y', value: 7 },
      { name: 'write', key, value: 8 },
      { name: 'write', key, value: 9 },
    ]);
  });
});

/** Draws mostly sequential calls of three clients on two keys, with possible answers. */
function drawnOperations(seed: number): readonly StoreOperation[] {
  let drawn = seed;
  const below = (count: number): number => {
    drawn = mix(drawn + 0x9e3779b1);
    return drawn % count;
  };
  const events: TraceEvent[] = [];
  const open: TraceEvent[] = [];
  const last = 2 + below(4);
  for (let at = 1; at <= last; at += 1) {
    const isRead = below(2) === 0;
    const name = `${['alice', 'bob', 'carol'][below(3)]}/${at}/${isRead ? 'read' : 'write'}`;
    const fields = { key: ['x', 'y'][below(2)] ?? 'x', token: below(4) };
    events.push(invoke(at, name, { ...fields, value: isRead ? null : at }));
    const given: Answer = isRead ? { kind: 'value', value: below(at) } : below(5) > 0 ? yes : no;
    open.push(below(12) === 0 ? unknown(at, name) : answer(at, name, given));
    if (below(4) > 0) events.push(...open.splice(0));
  }
  return operationsOf([...events, ...open]);
}

/** Checks the operations by search alone. */
function searched(
  {
    operations,
    definition,
  }: { readonly operations: readonly StoreOperation[]; readonly definition: ModelDefinition },
  maxConfigurations: number,
): ModelVerdict {
  return asSeen(operations, { definition, first: null }, (seen, model) => {
    const verdict = checkHistory(seen.history, model, { maxConfigurations });
    if (verdict.kind !== 'invalid') return { kind: verdict.kind };
    return { kind: verdict.kind, at: seen.sources[verdict.at] };
  });
}

test.each(['register', 'fenced-register', 'fenced-register-with-reads'])(
  'a replay of the returns of a %s decides as a search does',
  (model) => {
    const definition = storeModels.get(model);
    assert(definition !== undefined, 'it is one of the models');
    const kinds = new Map<string, number>();
    let replayed = 0;
    for (let seed = 0; seed < 500; seed += 1) {
      const operations = drawnOperations(seed);
      const asked = { operations, definition };
      const decided = checkStore(operations, definition, { first: null, maxConfigurations: 1e5 });
      expect(decided).toEqual(searched(asked, 1e5));
      const least = checkStore(operations, definition, { first: null, maxConfigurations: 1 });
      if (least.kind === 'invalid') expect(least).toEqual(decided);
      // The replay refused a history that the search could not decide within its budget.
      if (least.kind === 'invalid' && searched(asked, 1).kind === 'unknown') replayed += 1;
      kinds.set(decided.kind, (kinds.get(decided.kind) ?? 0) + 1);
    }
    expect(Math.min(kinds.get('valid') ?? 0, kinds.get('invalid') ?? 0)).toBeGreaterThan(20);
    // Registers have a faster check.
    if (model !== 'register') expect(replayed).toBeGreaterThan(20);
  },
);
