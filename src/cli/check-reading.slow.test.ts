/** Tests how `fencepost check` reads records, and which ones it refuses to guess. */
import { describe, expect, test } from 'vitest';
import { check, file, fixture, judged } from './checking.fixture.ts';

type Event = Readonly<Record<string, unknown>>;

/** Each call with its answer, sequentially, as JSON lines. */
function calls(...pairs: readonly (readonly [asked: Event, answered: Event])[]): string {
  const events = pairs.flatMap(([asked, answered], process) => [
    { process, type: 'invoke', ...asked },
    { process, type: 'ok', ...answered },
  ]);
  return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}

async function refused(name: string, text: string): Promise<string> {
  const { code, out, err } = await check(file(name, text));
  expect({ code, out }).toEqual({ code: 2, out: '' });
  return err;
}

describe('a number without an exact double', () => {
  const asked = '{"process":1,"type":"invoke","f":"write","value":9007199254740993}';
  const wrote = '{"process":1,"type":"ok","f":"write"}';
  const reads = '{"process":1,"type":"invoke","f":"read"}';
  const read = '{"process":1,"type":"ok","f":"read","value":9007199254740992}';
  test.each([
    ['big.jsonl', `${[asked, wrote, reads, read].join('\n')}\n`],
    ['big.json', `[${[asked, wrote, reads, read].join(',')}]`],
  ])('differs from its neighbor in %s', async (name, text) => {
    expect(await judged(file(name, text))).toMatchObject({ code: 1, line: { model: 'register' } });
  });

  test('is not a valid token', async () => {
    const text = asked.replace('"value"', '"token":9007199254740993,"value"');
    expect(await refused('token.jsonl', `${text}\n`)).toContain('a whole number below 2^53');
  });
});

describe('an answer', () => {
  const acquire = { f: 'acquire', key: 'db' };
  test.each([
    [acquire, { answer: 'failed' }, 'unknown answer "failed"; known: granted'],
    [acquire, { answer: 'deneid' }, 'unknown answer "deneid"; did you mean "denied"?'],
    [acquire, { ok: 'no' }, 'unknown ok "no"'],
    [{ f: 'write', value: 1 }, { answer: 'refused' }, 'unknown answer "refused"'],
    [{ f: 'cas', value: [1, 2] }, { answer: 7 }, 'unknown answer "7"'],
  ])('that is unknown is refused at its line: %o, %o', async (asked, answered, what) => {
    const err = await refused('answer.jsonl', calls([asked, answered]));
    expect(err).toContain(`answer.jsonl:2:1: ${what}`);
  });

  test.each([
    { answer: 'denied' },
    { answer: false },
    { ok: false },
    { value: false },
    { value: ':busy' },
  ])('that denies is recognized: %o', async (answered) => {
    const text = calls([acquire, {}], [acquire, answered]);
    expect((await check(file('no.jsonl', text))).code).toBe(0);
  });

  test('of a failed cas may be its value', async () => {
    const cas = { f: 'cas', value: [2, 3] };
    const write = { f: 'write', value: 1 };
    expect((await check(file('no.jsonl', calls([write, {}], [cas, { value: false }])))).code).toBe(
      0,
    );
    expect((await check(file('yes.jsonl', calls([write, {}], [cas, { value: true }])))).code).toBe(
      1,
    );
  });
});

describe('an object', () => {
  const write = { f: 'write', key: 'x', value: 1 };
  test('may have a number as its name', async () => {
    const fenced = [5, 3].map((token, at) => [{ ...write, resource: at, token }, {}] as const);
    expect((await judged(file('resource.jsonl', calls(...fenced)))).line.parts).toHaveLength(2);
    const owned = ['acquire', 'release'].map((f) => [{ f, key: 'db', owner: 17 }, {}] as const);
    expect((await judged(file('owner.jsonl', calls(...owned)))).code).toBe(0);
  });

  test('that is a lock may be named by the value of the call', async () => {
    const text = calls(...['db', 'other'].map((value) => [{ f: 'acquire', value }, {}] as const));
    expect(await judged(file('value.jsonl', text))).toMatchObject({ code: 0 });
  });

  test('is not guessed from a value of another type, which the report mentions', async () => {
    const text = calls([{ f: 'acquire', value: 5 }, {}]);
    expect((await check(file('number.jsonl', text))).out).toContain(
      'The value of 1 operation was ignored',
    );
  });

  test('is not guessed from a pair in fencepost’s format; for others a note says so', async () => {
    const pairs = [
      { f: 'write', value: [1, 2] },
      { f: 'write', value: [3, 4] },
    ];
    const text = calls(...pairs.map((one) => [one, one] as const));
    expect((await judged(file('pair.jsonl', text))).line.parts).toHaveLength(1);
    const array = `[${text.trim().split('\n').join(',')}]`;
    expect((await judged(file('pair.json', array))).line.parts).toHaveLength(2);
    const { out } = await check(file('pair.json', array));
    expect(out).toContain('In 2 operations a value of two is read as [key value]');
  });
});

describe('in fencepost’s format', () => {
  test('an unknown field is refused, except in a fault', async () => {
    const text = calls([{ f: 'write', value: 1, tokn: 3 }, {}]);
    expect(await refused('field.jsonl', text)).toContain(
      'unknown field "tokn"; did you mean "token"?',
    );
    const fault = '{"process":"nemesis","type":"info","f":"kill","node":"n1"}\n';
    const valid = calls([{ f: 'write', value: 1, time: 7, note: 'first' }, {}]);
    expect((await check(file('fault.jsonl', fault + valid))).code).toBe(0);
  });
});

describe('JSON', () => {
  test('with a duplicate key is refused', async () => {
    const twice = '{"process":1,"type":"invoke","f":"write","value":1,"value":2}\n';
    expect(await refused('twice.jsonl', twice)).toContain(':1:52: duplicate key "value"');
    const inside = '{"process":1,"type":"invoke","f":"write","value":{"a":"\\":","b":1,"a":2}}\n';
    expect(await refused('inside.jsonl', inside)).toContain('duplicate key "a"');
    const once = '{"process":1,"type":"invoke","f":"write","value":{"a":"\\":","b":{"a":2}}}\n';
    expect((await check(file('once.jsonl', once), '--model=register')).code).toBe(0);
  });

  test('that is invalid or too deep is reported with its place', async () => {
    const good = calls([{ f: 'write', value: 1 }, {}]);
    expect(await refused('none.jsonl', `${good}garbage here\n`)).toMatch(/:3:1: not JSON/);
    const deep = good.replace('1}', `${'['.repeat(9000)}${']'.repeat(9000)}}`);
    expect(await refused('deep.jsonl', deep)).toContain(
      'brackets nested more than 100 levels deep',
    );
  });
});

describe('times of operations', () => {
  function operations(...times: readonly (readonly [call: string, end: string])[]): string {
    const texts = times.map(([call, end], client) => {
      const input = client === 0 ? '{"op":"put","key":"x","value":"4"}' : '{"op":"get","key":"x"}';
      const output = client === 0 ? 'null' : '""';
      return `{"ClientId":${client},"Input":${input},"Output":${output},"Call":${call},"Return":${end}}`;
    });
    return `[${texts.join(',')}]`;
  }

  test.each([
    ['of 15 and of 16 digits', ['999999999999990', '1000000000000010', '1000000000000020']],
    [
      'of nanoseconds with a fraction',
      ['1700000000000000000.25', '1700000000000000000.5', '1700000000000000000.75'],
    ],
    [
      'of which one is a text',
      ['"1700000000000000001"', '1700000000000000002', '1700000000000000003'],
    ],
    ['with an exponent', ['1.7e18', '1700000000000000001', '17000000000000000020e-1']],
  ])('%s have the same scale', async (_, [call = '', end = '', after = '']) => {
    // A get that begins after the put returned cannot miss it; one that overlaps it can.
    const later = await check(file('later.json', operations([call, end], [after, after])));
    expect({ code: later.code, err: later.err }).toEqual({ code: 1, err: '' });
    const during = await check(file('during.json', operations([call, end], [call, after])));
    expect(during.code).toBe(0);
  });

  test('with and without fractions keep their order', async () => {
    const put = ['1700000000000020.5', '1700000000000030.5'] as const;
    const get = ['1700000000000040', '1700000000000050'] as const;
    expect((await check(file('mixed.json', operations(put, get)))).code).toBe(1);
  });

  test('of the largest 64-bit number mean that the call never returned', async () => {
    const never = operations(['10', '9223372036854775807'], ['20', '30']);
    expect((await check(file('never.json', never))).code).toBe(0);
  });
});

test('a Jepsen log may hold stack traces, results and the lines of other loggers', async () => {
  const text = `2023-01-05 12:00:01,123{GMT}	INFO	[jepsen test runner] jepsen.core: Test version abc
2023-01-05 12:00:01,124{GMT}	INFO	[jepsen worker 0] jepsen.util: 0	:invoke	:write	1
java.net.ConnectException: Connection refused
	at jepsen.util$timeout.invoke(util.clj:12)
Caused by: java.lang.RuntimeException: x
	... 22 common frames omitted
2023-01-05 12:00:01,124{GMT}	INFO	[jepsen worker 0] jepsen.util: 0	:ok	:write	1
2023-01-05 12:00:01,124{GMT}	INFO	[main] jepsen.util: Downloading something
{:valid? true,
 :count 2}

Everything looks good! ヽ(‘ー\`)ノ
`;
  expect(await judged(file('real.log', text))).toMatchObject({
    code: 0,
    line: { model: 'register' },
  });
});

test('a map without the key answers nil with --init null, which the report suggests', async () => {
  const path = file('nil.jsonl', calls([{ f: 'get', key: 'x' }, { value: null }]));
  const { code, out } = await check(path);
  expect(code).toBe(1);
  expect(out.replaceAll(/\s+/g, ' ')).toContain('or null, with --init null');
  expect((await check(path, '--init=null')).code).toBe(0);
});

describe('a bad return that may not be the first one', () => {
  const options = [fixture('kv-invalid.txt'), '--max-configurations=1'];
  test('is reported as such, without an order for the returns before it', async () => {
    const { code, out } = await check(...options);
    expect(code).toBe(1);
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      'No order satisfies the first 3 returns, up to line 8',
    );
    expect(out.slice(0, out.indexOf('key c'))).not.toContain('a valid order exists');
    const { line } = await judged(...options);
    expect(line.parts[0]).toMatchObject({ verdict: 'invalid', satisfied: null });
  });
});
