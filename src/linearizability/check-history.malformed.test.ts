import { describe, expect, it } from 'vitest';
import { runs } from '../../properties/runs.ts';
import { drawHistory, type Repertoire } from '../../tools/oracle/random-history.ts';
import * as repertoires from '../../tools/oracle/repertoires.ts';
import type { Json } from '../core/kernel/json.ts';
import { checkHistory, checkParts, MalformedOperation } from './check-history.ts';
import type { CheckOptions } from './decide.ts';
import { explainHistory } from './explain.ts';
import type { CallData, History, Model } from './model.ts';
import { mutex } from './models/mutex.ts';
import { register } from './models/register.ts';
import { models } from './models.ts';

/** Converts operations as they come from JavaScript, where types are not checked. */
function untyped(operations: readonly object[]): History<CallData> {
  return JSON.parse(
    JSON.stringify(operations, (_, value: unknown) => (Number.isNaN(value) ? 'NaN' : value)),
    (_, value: unknown) => (value === 'NaN' ? Number.NaN : value),
  );
}

const good = {
  client: 'a',
  call: { name: 'read', key: 'x', value: null },
  invoke: 1,
  return: 2,
  outcome: 'ok',
};

function check(operations: readonly object[], model: Model<Json, CallData> = register()): unknown {
  return checkHistory(untyped(operations), model);
}

describe('a malformed operation is refused with its index', () => {
  it.each([
    [{ return: 0 }, 'it returns at 0, before it is called at 1'],
    [{ outcome: 'OK' }, '"outcome" must be ok, fail or info, not "OK"'],
    [{ invoke: Number.NaN }, '"invoke" must be a number, not NaN'],
    [{ return: Number.NaN }, '"return" must be a number or null, not NaN'],
    [{ return: null }, '"return" must be a number if "outcome" is ok'],
    [{ return: '2' }, '"return" must be a number or null, not "2"'],
    [{ client: 7 }, '"client" must be a string, not 7'],
    [{ call: null }, '"call" must be an object with a "name", not null'],
    [{ call: { key: 'x' } }, '"call" must be an object with a "name", not {"key":"x"}'],
    [{ call: { name: 7 } }, '"call" must be an object with a "name", not {"name":7}'],
    [{ call: 'read' }, '"call" must be an object with a "name", not "read"'],
    [{ call: { name: 'cas' } }, 'unknown call "cas"; known: read, write'],
    [
      { call: { name: 'read', key: 'x' } },
      '"value" of its read must be a number, a string or null, not undefined',
    ],
  ])('%j', (change, message) => {
    const history = [good, { ...good, ...change }];
    expect(() => check(history)).toThrow(new MalformedOperation(1, message));
    const model: Model<Json, CallData> = register();
    expect(() => checkParts(untyped(history), model)).toThrow(MalformedOperation);
  });
  it('a grant without an answer', () => {
    const call = { name: 'acquire', lock: 'l', owner: 'a' };
    const message = '"answer" of its acquire must be granted, denied or unknown, not undefined';
    expect(() => check([{ ...good, call }], mutex())).toThrow(new MalformedOperation(0, message));
  });
  it.each([null, 7, 'read'])('%j', (one) => {
    const message = `expected an object, not ${JSON.stringify(one)}`;
    const history: History = JSON.parse(JSON.stringify([good, one]));
    const model: Model<Json, CallData> = register();
    expect(() => checkHistory(history, model)).toThrow(new MalformedOperation(1, message));
  });
  it('except an operation that returns at the position of its call', () => {
    expect(check([{ ...good, return: 1 }])).toMatchObject({ kind: 'valid' });
  });
  it('except an unanswered operation without a return', () => {
    expect(check([{ ...good, outcome: 'info', return: null }])).toMatchObject({ kind: 'valid' });
    expect(check([{ ...good, outcome: 'fail', return: null }])).toMatchObject({ kind: 'valid' });
  });
});

/** The optional fields of a write to a versioned register. */
const OPTIONAL = ['expected', 'answer'];

/** Expects the model to accept each call in its histories, but not without a required field. */
function expectKnown<State extends Json, Call extends CallData>(
  repertoire: Repertoire<State, Call>,
): void {
  const model: Model<Json, CallData> = repertoire.model;
  const shape = { operations: 7, clients: 3, longest: 8, wrong: 18, unknown: 15, failed: 5 };
  for (let seed = 0; seed < runs(200); seed++) {
    for (const { call } of drawHistory(seed, repertoire, shape)) {
      expect(model.mistakeIn?.(call)).toBeNull();
      for (const field of Object.keys(call).filter((name) => name !== 'name')) {
        const fields = Object.entries(call).filter(([name]) => name !== field);
        const [less] = untyped([{ ...good, call: Object.fromEntries(fields) }]);
        const isOptional = call.name === 'write' && 'version' in call && OPTIONAL.includes(field);
        const mistake = less && model.mistakeIn?.(less.call);
        if (isOptional) expect(mistake, field).toBeNull();
        else expect(mistake, field).toContain(`"${field}"`);
      }
    }
  }
}

describe('a built-in model knows its own calls and no others', () => {
  it('with any fields and answers', () => {
    expectKnown(repertoires.registers);
    expectKnown(repertoires.casRegisters);
    expectKnown(repertoires.counters);
    expectKnown(repertoires.mutexes);
    expectKnown(repertoires.fencedRegisters);
    expectKnown(repertoires.strictFencedRegisters);
    expectKnown(repertoires.fencedRegistersWithReads);
    expectKnown(repertoires.anonymousMutexes);
    expectKnown(repertoires.reentrantMutexes);
    expectKnown(repertoires.fencedMutexes);
    expectKnown(repertoires.reentrantFencedMutexes);
    expectKnown(repertoires.semaphores);
    expectKnown(repertoires.leases);
    expectKnown(repertoires.keyValues);
    expectKnown(repertoires.versionedRegisters);
  });
  it.each(Object.entries<() => Model>(models))('%s', (_, make) => {
    expect(make().mistakeIn?.({ name: 'no such call' })).toContain('unknown call "no such call"');
  });
});

describe('an invalid limit is refused', () => {
  it('and so is an unknown policy for failures', () => {
    const unknownMode: unknown = 'strictly';
    const message = 'failed must be drop or strict, not strictly';
    const options: CheckOptions = JSON.parse(JSON.stringify({ failed: unknownMode }));
    expect(() => checkHistory([], register(), options)).toThrow(new RangeError(message));
    for (const failed of ['drop', 'strict'] as const) {
      expect(checkHistory([], register(), { failed }).kind).toBe('valid');
    }
    expect(checkParts([], register(), { maxConfigurations: 1 })).toEqual([]);
    expect(() => checkParts([], register(), { maxBytes: 0 })).toThrow(RangeError);
  });
  it.each([0, -1, Number.NaN, 1.5])('%d', (limit) => {
    for (const name of ['maxConfigurations', 'maxBytes']) {
      const options: CheckOptions = { [name]: limit };
      const message = `${name} must be a whole number of at least 1, not ${limit}`;
      expect(() => checkHistory([], register(), options)).toThrow(new RangeError(message));
    }
  });
  it.each(['7', null, Number.NEGATIVE_INFINITY, {}])('%j, from unchecked JavaScript', (limit) => {
    const untyped = (option: object): CheckOptions => Object.assign({}, option);
    const limited = untyped({ maxConfigurations: limit });
    const refused = 'maxConfigurations must be a whole number of at least 1, not ';
    expect(() => checkHistory([], register(), limited)).toThrow(refused);
    const verdict = { kind: 'invalid', at: 0, configurations: 0, part: '' } as const;
    expect(() => explainHistory([], register(), verdict, limited)).toThrow(refused);
    const stopped = untyped({ shouldStop: limit });
    expect(() => checkHistory([], register(), stopped)).toThrow(
      'shouldStop must be a function, not ',
    );
  });
  it('but infinity is a valid limit', () => {
    const options = { maxConfigurations: Number.POSITIVE_INFINITY };
    expect(checkHistory([], register(), options).kind).toBe('valid');
  });
});
