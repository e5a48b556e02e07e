/** Tests where `fencepost check` finds a history: in a Jepsen folder, in gzip, in any order. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { check, file, fixture, folder, judged, root } from './checking.fixture.ts';

const EDN = ['invoke', 'ok']
  .map((type, time) => `{:process 0, :type :${type}, :f :write, :value 1, :time ${time}}\n`)
  .join('');
const TEXT = '0\t:invoke\t:write\t1\n0\t:ok\t:write\t1\n';

/** Creates a folder with files, each with its text. Names may be paths. */
function store(name: string, files: Readonly<Record<string, string | Uint8Array>>): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  for (const [inner, text] of Object.entries(files)) {
    mkdirSync(join(path, inner, '..'), { recursive: true });
    writeFileSync(join(path, inner), text);
  }
  return path;
}

async function refused(path: string): Promise<string> {
  const { code, out, err } = await check(path);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err.startsWith(`${path}:1:1: `)).toBe(true);
  return err;
}

describe('a folder of a Jepsen test', () => {
  const others = { 'test.edn': '{}', 'results.edn': '{:valid? true}', 'jepsen.log': 'INFO\n' };
  test.each([
    [{ 'history.edn': EDN, 'history.txt': TEXT }, 'history.edn', 'edn'],
    [{ 'history.txt': TEXT }, 'history.txt', 'jepsen-txt'],
    [{ 'history.edn.gz': gzipSync(EDN) }, 'history.edn.gz', 'edn'],
    [{ 'history.txt.gz': gzipSync(TEXT) }, 'history.txt.gz', 'jepsen-txt'],
  ])('contains the history of a run: %#', async (files, name, format) => {
    const path = store(`run ${name}`, { ...files, ...others });
    const { code, line } = await judged(path);
    expect(code).toBe(0);
    expect(line).toMatchObject({ format, file: join(path, name), model: 'register' });
  });

  const runs = {
    '20260101T000000.000Z/history.edn': EDN,
    '20260102T000000.000Z/history.txt': TEXT,
  };
  test('of several runs is read through the link to the latest', async () => {
    const path = store('store/etcd', runs);
    symlinkSync('20260102T000000.000Z', join(path, 'latest'));
    symlinkSync('etcd/20260101T000000.000Z', join(folder, 'store/latest'));
    const latest = join(path, '20260102T000000.000Z/history.txt');
    expect((await judged(path)).line).toMatchObject({ file: latest });
    const first = join(path, '20260101T000000.000Z/history.edn');
    expect((await judged(join(folder, 'store'))).line).toMatchObject({ file: first });
    expect((await judged(join(path, 'latest'))).line).toMatchObject({
      file: join(path, 'latest/history.txt'),
    });
  });

  test('of several runs without such a link is refused, with their names', async () => {
    const path = store('unlinked/etcd', runs);
    // A link that leads nowhere.
    symlinkSync('latest', join(path, 'latest'));
    symlinkSync('..', join(path, 'current'));
    const err = await refused(path);
    expect(err).toContain('this directory contains 2 runs and no "latest"; name one:');
    for (const name of Object.keys(runs)) expect(err).toContain(`\n  ${join(path, name)}`);
    expect(await refused(join(folder, 'unlinked'))).toContain('this directory contains 2 runs');
    const many = Array.from({ length: 13 }, (_, at) => [`${at}/history.edn`, EDN]);
    expect(await refused(store('many', Object.fromEntries(many)))).toContain('… and 3 more');
  });

  test('of one run is read without a link', async () => {
    const path = store('single', { 'etcd/20260101T000000.000Z/history.edn': EDN });
    symlinkSync('nowhere', join(path, 'latest'));
    expect((await judged(path)).code).toBe(0);
  });

  test('without a history is refused', async () => {
    expect(await refused(store('empty', {}))).toContain('this directory contains no history');
    const crashed = store('crashed', { 'test.jepsen': 'JEPSEN', 'jepsen.log': 'INFO\n' });
    expect(await refused(crashed)).toContain('jepsen.log can be checked, but its lines may be out');
    const blank = store('blank', { 'history.edn': '' });
    expect((await check(blank)).err).toBe(`${join(blank, 'history.edn')}:1:1: the file is empty\n`);
    symlinkSync('circle', join(folder, 'circle'));
    expect(await refused(join(folder, 'circle'))).not.toContain('    at ');
  });
});

describe('a gzip file', () => {
  test.each(['register-valid.log', 'kv-valid.txt', 'independent-valid.edn', 'counter-valid.json'])(
    'is read as its content: %s',
    async (name) => {
      const text = readFileSync(fixture(name));
      const plain = await judged(fixture(name));
      const packed = await judged(file(`${name}.gz`, gzipSync(text)));
      expect({ ...packed.line, file: '' }).toEqual({ ...plain.line, file: '' });
      const halves = [text.subarray(0, 100), text.subarray(100)].map((part) => gzipSync(part));
      expect((await judged(file(name, Buffer.concat(halves)))).line.verdict).toBe('valid');
    },
  );

  const compressed = gzipSync(readFileSync(fixture('kv-valid.txt')));
  test.each([
    ['cut', compressed.subarray(0, -12), 'this gzip file is broken: it is truncated'],
    ['begun', compressed.subarray(0, 5), 'this gzip file is broken: it is truncated'],
    ['damaged', Buffer.from(compressed).fill(7, 40, 80), 'this gzip file is broken: '],
    ['twice', gzipSync(compressed), 'the file is compressed twice; gunzip it first'],
    ['tar', gzipSync(Buffer.alloc(1024)), 'a binary file, not a history'],
    ['empty', gzipSync(''), 'the file is empty'],
    ['latin', gzipSync(Buffer.from([0x7b, 0xe9, 0x7d])), 'not UTF-8'],
    ['one line', gzipSync(Buffer.alloc(1 << 24, 32)), 'a line of more than 1000000 characters'],
  ])('that is %s is refused', async (name, bytes, what) => {
    const options = name === 'one line' ? ['--format=jsonl'] : [];
    const { code, err, out } = await check(file(`${name}.gz`, bytes), ...options);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(what);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  test('that expands too much is refused', async () => {
    const event = '{"process":0,"type":"invoke","f":"write","value":1}\n';
    const bomb = gzipSync(Buffer.concat([Buffer.from(event), Buffer.alloc(80_000_000, '\n')]));
    const { code, err } = await check(file('bomb.gz', bomb));
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('100 times') });
  });

  test('may come through a pipe, byte by byte', () => {
    const bytes = gzipSync(EDN);
    const run = (input: Uint8Array): number | null =>
      spawnSync(process.execPath, [join(root, 'dist/cli.js'), 'check', '-'], { input }).status;
    expect([run(bytes), run(bytes.subarray(0, 1)), run(Buffer.from(EDN))]).toEqual([0, 2, 0]);
    const path = file('piped.gz', bytes);
    const slow = `(head -c 1 '${path}'; sleep 0.2; tail -c +2 '${path}')`;
    const line = `${slow} | '${process.execPath}' '${join(root, 'dist/cli.js')}' check -`;
    expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' })).toContain('✓ valid');
  });
});

describe('the order of the events', () => {
  const event = (process: number, type: string, f: string, time: number, value: unknown): string =>
    `${JSON.stringify({ process, type, f, value, time })}\n`;
  /** In file order, a read of 1 ended before the write of 1 began; the times say otherwise. */
  const text = [
    event(1, 'invoke', 'read', 30, null),
    event(1, 'ok', 'read', 40, 1),
    event(0, 'invoke', 'write', 10, 1),
    event(0, 'ok', 'write', 20, 1),
  ].join('');

  test('is that of the file, with a warning and a place if times contradict it', async () => {
    const path = file('disorder.jsonl', text);
    const { code, out } = await check(path);
    expect(code).toBe(1);
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      `${path}:3:1: its time is before that of line 2, and 1 more event like it. ` +
        'The events were judged in file order; --order time sorts them by time.',
    );
    expect((await judged(path)).line).toMatchObject({
      notes: [expect.stringMatching(/disorder\.jsonl:3:1: its time is before that of line 2/)],
    });
    // The warning is per file.
    const { out: both } = await check(path, file('late.edn', EDN));
    expect(both.match(/its time is before/g)).toHaveLength(1);
  });

  test('is that of the times on request, and then no message refers to line order', async () => {
    const path = file('timed.jsonl', text);
    const { code, out } = await check(path, '--order=time');
    expect({ code, isWarned: out.includes('its time') }).toEqual({ code: 0, isWarned: false });
    const stale = file('stale.jsonl', text.replace('"value":1,"time":40', '"value":2,"time":40'));
    const bad = await judged(stale, '--order=time');
    expect(bad.code).toBe(1);
    expect(bad.line.parts[0]?.because).toContain('needs the value 2');
    expect(bad.line.parts[0]?.because).not.toMatch(/in lines|up to line/);
  });

  test('by time needs times, and an unknown order is refused', async () => {
    const path = file('untimed.txt', TEXT);
    expect((await check(path, '--order=time')).err).toContain(
      ':1:1: expected a time within 2^53 of the first, found none',
    );
    expect((await check(path, '--order=tme')).err).toContain('unknown order "tme"; known: file');
  });
});
