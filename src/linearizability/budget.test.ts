/** Tests the limits of a check, its policy for failures, and states that no call distinguishes. */
import { describe, expect, it } from 'vitest';
import { drawCasRegister, misreadOf } from '../../tools/oracle/long-history.ts';
import { checkHistory, checkParts } from './check-history.ts';
import { explainHistory } from './explain.ts';
import { type History, illegal, type Model, type Operation } from './model.ts';
import { type KeyValueCall, keyValue } from './models/key-value.ts';
import { type CasRegisterCall, casRegister } from './models/register.ts';
import { models } from './models.ts';
import { explainInWords } from './sentence.ts';

const key = 'x';

/** Returns overlapping appends; the tests add a read of a text that no order gives. */
function appends(count: number): Operation<KeyValueCall>[] {
  return Array.from({ length: count }, (_, place) => ({
    client: `c${place}`,
    call: { name: 'append', key, value: `<${place}>` },
    invoke: place,
    return: 100 + place,
    outcome: 'ok',
  }));
}

function read(value: string, invoke: number): Operation<KeyValueCall> {
  const call: KeyValueCall = { name: 'get', key, value };
  return { client: 'r', call, invoke, return: invoke + 1, outcome: 'ok' };
}

const { awaits: _awaits, ...blindKeyValue } = keyValue();

describe('states that no remaining call distinguishes', () => {
  it('count as one', () => {
    const unread = appends(8);
    const merged = checkHistory(unread.concat(read('<7>', 90)), keyValue());
    expect(merged).toMatchObject({ kind: 'valid' });
    expect(merged.configurations).toBeLessThan(60);
  });
  it('are not visited one by one to refute a read', () => {
    const history = appends(9).concat(read('<3>', 200));
    const looking = checkHistory(history, keyValue());
    const blind = checkHistory(history, blindKeyValue, { maxConfigurations: 100_000 });
    expect(looking).toMatchObject({ kind: 'invalid', at: 9 });
    expect(looking.configurations).toBeLessThan(2_000);
    expect(blind.kind).toBe('unknown');
  });
});

describe('a limit', () => {
  it.each([
    [0, 'invalid', 16],
    [1, 'valid', 16],
    // The core differs here if the amount already spent is unknown.
    [0, 'invalid', 8],
  ] as const)(
    'of infinity acts like one that is not reached, with windows too: %d, %s, %d clients',
    (seed, kind, clients) => {
      const model = casRegister(0);
      const drawn = drawCasRegister(seed, { operations: 1_000, clients });
      const history = kind === 'valid' ? drawn : misreadOf(drawn, 5, 500);
      const [none, high] = [Number.POSITIVE_INFINITY, 1e9].map((maxConfigurations) => {
        const verdict = checkHistory(history, model, { maxConfigurations });
        expect(verdict.kind).toBe(kind);
        if (verdict.kind !== 'invalid') return [verdict];
        return [verdict, explainHistory(history, model, verdict, { maxConfigurations })];
      });
      expect(none).toEqual(high);
    },
  );
  const history = appends(9).concat(read('<3>', 200));
  it('of bytes ends the search before it exceeds them', () => {
    expect(checkHistory(history, blindKeyValue, { maxBytes: 1_000_000 })).toMatchObject({
      kind: 'unknown',
      cause: 'maxBytes',
      deepest: 9,
    });
  });
  it('applies to each part separately', () => {
    const other = appends(9).map((operation): Operation<KeyValueCall> => {
      return { ...operation, call: { ...operation.call, key: 'y' } };
    });
    const limits = { maxConfigurations: 1_000 };
    const parts = checkParts([...history, ...other], blindKeyValue, limits);
    expect(parts.map(({ decision }) => decision.kind)).toEqual(['unknown', 'valid']);
  });
});

describe('a failed operation', () => {
  const at = { client: 'a', outcome: 'ok' as const };
  const write: Operation<CasRegisterCall> = {
    ...at,
    call: { name: 'write', key, value: 1 },
    invoke: 0,
    return: 1,
  };
  const cas = (expected: number): Operation<CasRegisterCall> => ({
    client: 'b',
    call: { name: 'cas', key, expected, value: 2, answer: 'unknown' },
    invoke: 2,
    return: 3,
    outcome: 'fail',
  });
  it('proves nothing if it is dropped', () => {
    expect(checkHistory([write, cas(1)], casRegister()).kind).toBe('valid');
  });
  it('did not match if it is read strictly', () => {
    const strict = { failed: 'strict' } as const;
    expect(checkHistory([write, cas(3)], casRegister(), strict).kind).toBe('valid');
    const verdict = checkHistory([write, cas(1)], casRegister(), strict);
    expect(verdict).toMatchObject({ kind: 'invalid', at: 1 });
  });
});

/** The example in the docs of `Model`. */
type FlagCall = { readonly name: 'raise' } | { readonly name: 'look'; readonly isRaised: boolean };

const flag: Model<boolean, FlagCall> = {
  name: 'flag',
  init: false,
  step(isRaised, call) {
    if (call.name === 'raise') return [true];
    return call.isRaised === isRaised ? [isRaised] : illegal;
  },
};

describe('a user-defined model', () => {
  const look = (isRaised: boolean, invoke: number): Operation<FlagCall> => {
    return { client: 'a', call: { name: 'look', isRaised }, invoke, return: invoke, outcome: 'ok' };
  };
  const raise: Operation<FlagCall> = {
    client: 'b',
    call: { name: 'raise' },
    invoke: 1,
    return: 5,
    outcome: 'ok',
  };
  it('needs only an initial state and a step', () => {
    expect(checkHistory([raise, look(false, 2), look(true, 3)], flag).kind).toBe('valid');
    const bad = [raise, look(true, 2), look(false, 3)];
    expect(checkHistory(bad, flag)).toMatchObject({ kind: 'invalid', at: 2 });
  });
});

describe('an explanation in words', () => {
  const wordsFor = (history: History<CasRegisterCall>): string => {
    const verdict = checkHistory(history, casRegister());
    if (verdict.kind !== 'invalid') expect.fail('there is nothing to explain');
    return explainInWords(history, casRegister(), explainHistory(history, casRegister(), verdict));
  };
  const write: Operation<CasRegisterCall> = {
    client: '1',
    call: { name: 'write', key, value: 2 },
    invoke: 0,
    return: 1,
    outcome: 'ok',
  };
  const cas: Operation<CasRegisterCall> = {
    client: '3',
    call: { name: 'cas', key, expected: 4, value: 4, answer: 'matched' },
    invoke: 2,
    return: 9,
    outcome: 'ok',
  };
  it('gives the needed value and why it is impossible', () => {
    const four = { ...write, call: { ...write.call, value: 4 }, invoke: -2, return: -1 };
    expect(wordsFor([four, write, cas])).toBe(
      '`cas(4→4)=ok` by 3 needs the value 4, but `write(2)` by 1 came before it, and nothing else ' +
        'called or open in positions 0–9 sets 4.',
    );
  });
  it('reports if no operation ever sets the value', () => {
    expect(wordsFor([write, cas])).toBe(
      '`cas(4→4)=ok` by 3 needs the value 4, but at first it is nothing, and nothing else called ' +
        'up to position 9 sets 4.',
    );
  });
});

describe('a log as short as those of Jepsen', () => {
  it('needs at most 1,000 configurations, whatever its verdict', () => {
    let invalid = 0;
    for (let seed = 0; seed < 300; seed++) {
      const legal = drawCasRegister(seed, { operations: 80, clients: 5 });
      const wrong = legal.findIndex(({ call }, index) => index > 40 && call.name === 'read');
      const log = legal.map((operation, index): Operation<CasRegisterCall> => {
        if (index !== wrong || seed % 2 === 0) return operation;
        return { ...operation, call: { name: 'read', key, value: seed % 5 } };
      });
      const { kind, configurations } = checkHistory(log, casRegister(0));
      if (kind === 'invalid') invalid += 1;
      expect(configurations, `seed ${seed}`).toBeLessThanOrEqual(1_000);
    }
    expect(invalid).toBeGreaterThan(50);
  });
});

describe('a registered model', () => {
  it('has the name under which it is registered', () => {
    for (const [name, begin] of Object.entries(models)) expect(begin().name).toBe(name);
  });
  it('begins with the given initial value', () => {
    expect(models.register({ value: 7 }).init).toBe(7);
    expect(models.kv({ text: null }).init).toBeNull();
    expect(models.semaphore({ permits: 3 }).init).toBe(3);
  });
});
