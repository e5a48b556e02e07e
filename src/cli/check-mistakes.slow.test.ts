/** Tests how `fencepost check` refuses files that are not histories, and wrong command lines. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { check, file, fixture, folder } from './checking.fixture.ts';

describe('a mistake in the input', () => {
  async function refused(name: string, text: string | Uint8Array, what: RegExp): Promise<void> {
    const { code, out, err } = await check(file(name, text));
    expect(err).toMatch(what);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect({ code, out }).toEqual({ code: 2, out: '' });
  }

  const invoke = '{"process":1,"type":"invoke","f":"write","value":1}';
  const ok = '{"process":1,"type":"ok","f":"write"}';
  test.each([
    [
      'twice.jsonl',
      `${invoke}\n${invoke}\n`,
      /:2:1: process 1 calls write while .* line 1 is open/,
    ],
    ['none.jsonl', `${ok}\n`, /:1:1: ok of process 1, which has no call open/],
    [
      'other.jsonl',
      `${invoke}\n${ok.replace('write', 'read')}\n`,
      /:2:1: ok of read, but .* line 1/,
    ],
    [
      'cut.jsonl',
      `${invoke}\n${ok.slice(0, -9)}`,
      /:2:29: this JSON ends too early: it is truncated/,
    ],
    ['bad.jsonl', `${invoke}\n{"process":1;}\n`, /:2:13: not JSON: unexpected ";"/],
    ['type.jsonl', invoke.replace('invoke', 'invok'), /:1:1: unknown type "invok"; .*"invoke"/],
    ['f.jsonl', invoke.replace('write', 'wirte'), /:1:1: no model has all of the operations wirte/],
    ['cut.edn', '[{:process 1, :type :invoke, :f :read', /:1:2: the file ends inside this map/],
    ['list.edn', '[{:process 1, :type :invoke, :f :read}', /:1:1: the file ends before "]"/],
    ['odd.edn', '{:process 1, :type}', /:1:1: a key of this map has no value/],
    ['cut.log', 'INFO  jepsen.util - 3 :invoke :write 4\nINFO  jepsen.ut', /:2:1: .* truncated/],
    ['value.log', 'INFO  jepsen.util - 3 :invoke :cas [1', /:1:36: "]" is missing/],
    [
      'noise.log',
      'INFO  jepsen.util - 3 :invoke :read nil\nINFO  jepsen.util - 3 :ok\n',
      /:2:21: .* a type/,
    ],
    ['cut.json', '[{"process":1,"type":"invoke","f":"read"},', /:1:1: the file ends before "]"/],
    ['return.json', '[{"Input":["get","x"],"Call":5,"Return":4}]', /:1:2: it returns before/],
    ['empty.edn', '', /:1:1: the file is empty/],
    ['nothing.edn', '[]\n', /:1:1: there are no operations/],
    ['prose.txt', 'Dear reader,\n', /:1:1: unknown format; .*--format/],
  ])('%s is reported in one line, with file, line and column', refused);

  test('that is binary, compressed, not text, a directory or missing is reported too', async () => {
    await refused('binary', Uint8Array.from([1, 2, 0, 4]), /a binary file/);
    await refused('gzip', Uint8Array.from([0x1f, 0x8b, 8, 0]), /this gzip file is broken/);
    await refused('latin', Uint8Array.from([0x7b, 0xe9, 0x7d]), /not UTF-8/);
    expect((await check(folder)).err).toContain('this directory contains');
    expect((await check(join(folder, 'nothing'))).err).toContain('there is no such file');
  });

  test('on the command line has a suggestion', async () => {
    const path = fixture('mutex-valid.jsonl');
    expect(await check(path, '--model=mutx')).toMatchObject({
      code: 2,
      err: expect.stringContaining('did you mean "mutex"?'),
    });
    expect((await check(path, '--format=jsonn')).err).toContain('did you mean "json"?');
    expect((await check(path, '--fail=maybe')).err).toContain('known: drop, strict');
    expect((await check(path, '--init=1')).err).toContain('it always begins free');
    expect((await check(path, '--model=kv')).err).toContain(':1:1: unknown operation "acquire"');
    expect((await check(path, '--format=edn')).code).toBe(2);
    for (const option of ['--max-configurations', '--memory']) {
      expect((await check(path, `${option}=0`)).err).toBe(`${option} 0: expected at least 1\n`);
    }
  });

  test('in the place of a page is reported', async () => {
    const path = fixture('mutex-valid.jsonl');
    expect(await check(path, '--html', folder)).toMatchObject({
      code: 2,
      err: expect.stringContaining('not written: this is a directory; name a file in it'),
    });
  });

  test('in one file does not stop the judgment of others, and decides the exit code', async () => {
    const { code, out } = await check(
      fixture('mutex-invalid.jsonl'),
      join(folder, 'no'),
      fixture('kv-valid.txt'),
    );
    expect(code).toBe(2);
    expect(out).toMatch(/✗ invalid .*✓ valid/s);
  });
});

const completeLog = 'INFO  jepsen.util - 3 :invoke :read nil\nINFO  jepsen.util - 3 :ok :read 12\n';

describe('a text log that ends without a line end', () => {
  const options = ['--model=register', '--init=1'];
  test('is judged, with a note, since its last value may be truncated', async () => {
    const short = await check(file('short.log', completeLog.slice(0, -2)), ...options);
    expect(short).toMatchObject({ code: 0, err: '' });
    expect(short.out).toContain('it may be truncated');
  });
  test('differs from one that is complete', async () => {
    const complete = await check(file('whole.log', completeLog), ...options);
    expect(complete.code).toBe(1);
    expect(complete.out).not.toContain('cut short');
  });
});

test('a register may begin with any value that it may hold', async () => {
  const events = ['invoke', 'ok'].map((type) => ({ process: 1, type, f: 'read', value: 'red' }));
  const path = file('red.jsonl', events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  expect((await check(path, '--model=register', '--init=red')).code).toBe(0);
  expect((await check(path, '--model=register', '--init="red"')).code).toBe(0);
  expect((await check(path, '--model=register', '--init=blue')).code).toBe(1);
});

describe('a search that is limited to a few megabytes', () => {
  const adders = Array.from({ length: 22 }, (_, process) => {
    return { process, type: 'invoke', f: 'add', value: 3 ** process % 1000 };
  });
  const read = { process: 99, type: 'invoke', f: 'read' };
  const events = [
    ...adders,
    ...adders.map((event) => ({ ...event, type: 'ok' })),
    read,
    { ...read, type: 'ok', value: -5 },
  ];
  test('ends as unknown, with the reason', async () => {
    const text = events.map((event) => `${JSON.stringify(event)}\n`).join('');
    const { code, out } = await check(file('hard.jsonl', text), '--model=counter', '--memory=1');
    expect(code).toBe(5);
    expect(out).toContain('Memory limit reached (raise --memory)');
  });
});
