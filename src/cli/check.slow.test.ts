/**
 * Tests `fencepost check` on recorded histories: those of the project, one history in every format,
 * and those with published verdicts.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dialects } from '../linearizability/formats/dialects.ts';
import { formatOf, formats, openHistory } from '../linearizability/formats/formats.ts';
import type { BuiltHistory } from '../linearizability/formats/history-builder.ts';
import { aboutModels, models } from '../linearizability/models.ts';
import { CHECK_HELP } from './check.ts';
import { check, file, fixture, folder, judged, root } from './checking.fixture.ts';
import { sampleEvents, writers } from './recorded.fixture.ts';

describe('a history of the project', () => {
  test.each([
    ['register', 'log', 'jepsen-log', 'cas-register'],
    ['kv', 'txt', 'porcupine', 'kv'],
    ['independent', 'edn', 'edn', null],
    ['counter', 'json', 'json', 'counter'],
    ['operations', 'json', 'operations', 'kv'],
    ['fenced-register', 'jsonl', 'jsonl', 'fenced-register'],
    ['mutex', 'jsonl', 'jsonl', 'mutex'],
  ])('of a %s is reported with its format and its model', async (name, ending, format, model) => {
    for (const [verdict, exit] of [
      ['valid', 0],
      ['invalid', 1],
    ] as const) {
      const { code, line } = await judged(fixture(`${name}-${verdict}.${ending}`), '--fail=strict');
      expect(code).toBe(exit);
      expect(line).toMatchObject({ verdict, format });
      if (model !== null) expect(line.model).toBe(model);
      const bad = line.parts.filter((part) => part.verdict === 'invalid');
      expect(bad.length > 0).toBe(verdict === 'invalid');
      for (const { core, because } of bad) {
        expect(core.filter(({ role }) => role === 'first bad')).toHaveLength(1);
        expect(because).toMatch(/\(lines? \d+.* needs /);
      }
    }
  });

  test('has every bad key reported, with the lines of its core', async () => {
    const { line } = await judged(fixture('kv-invalid.txt'));
    const bad = line.parts.filter(({ verdict }) => verdict === 'invalid');
    expect(bad.map(({ key }) => key)).toEqual(['a', 'c']);
    expect(bad[0]?.core.map(({ invokeLine }) => invokeLine)).toEqual([1, 7]);
  });

  test('is described in text, in lanes with line numbers, and drawn on a page', async () => {
    const page = join(folder, 'page.html');
    const { code, out } = await check(fixture('mutex-invalid.jsonl'), '--html', page);
    expect(code).toBe(1);
    expect(out).toContain('needs the lock to be free');
    expect(out).toMatch(/^ +3 +· +┏ acquire\(db\)=granted$/m);
    expect(out).toContain('no order satisfies this return');
    for (const line of out.split('\n').slice(0, -2)) expect(line.length).toBeLessThanOrEqual(100);
    const html = readFileSync(page, 'utf8');
    expect(html).toContain('2 of 3 operations contradict each other');
    expect(html).not.toMatch(/<script|src=|http(?!:\/\/www\.w3\.org)/);
  });

  test('cannot inject markup into the page', async () => {
    const page = join(folder, 'markup.html');
    const text = '{"process":"<b>","type":"invoke","f":"read","key":"<i>","value":null}\n';
    const path = file('markup.jsonl', `${text}{"process":"<b>","type":"ok","value":"<u>"}\n`);
    expect((await check(path, '--html', page)).code).toBe(1);
    const html = readFileSync(page, 'utf8');
    for (const markup of ['by <b>', '<i>', '<u>']) expect(html).not.toContain(markup);
  });

  test('has failed calls without information, or with --fail strict impossible ones', async () => {
    const log = [':invoke :write 1', ':ok :write 1', ':invoke :cas [1 2]', ':fail :cas [1 2]'];
    const text = log.map((event) => `INFO  jepsen.util - 0 ${event}\n`).join('');
    const path = file('failed.log', text);
    expect((await check(path)).code).toBe(0);
    const strict = await judged(path, '--fail=strict');
    expect(strict.code).toBe(1);
    expect(strict.line.parts[0]?.because).toContain('any value but 1');
  });

  test('stays undecided within too small a budget, and reports how far it got', async () => {
    const events = Array.from(
      { length: 12 },
      (_, at) => `{"process":${at},"type":"invoke","f":"add","value":${2 ** at}}`,
    );
    const read =
      '{"process":99,"type":"invoke","f":"read"}\n{"process":99,"type":"ok","value":0.5}';
    const path = file('hard.jsonl', `${[...events, read].join('\n')}\n`);
    const { code, line } = await judged(path, '--model=counter', '--max-configurations=50');
    expect(code).toBe(5);
    expect(line.parts[0]?.because).toMatch(/configurations without a result; .* 0 of 1 returns/);
  });
});

describe('the same history', () => {
  test('is read the same from every format, in pieces of any size', () => {
    fc.assert(
      fc.property(
        sampleEvents,
        fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
        (events, sizes) => {
          const histories = [...writers].map(([name, write]) => read(name, write(events), sizes));
          for (const history of histories) expect(history).toEqual(histories[0]);
        },
      ),
    );
  });

  test('is recognized in every format', () => {
    fc.assert(
      fc.property(sampleEvents, (events) => {
        for (const [name, write] of writers) expect(formatOf(write(events))?.name).toBe(name);
      }),
    );
  });

  function read(name: string, text: string, sizes: Iterator<number>): unknown {
    const known = formats.find((one) => one.name === name) ?? expect.fail(`no format ${name}`);
    const format = { ...known, hidesReads: false, readsPairs: true };
    const { builder, reader } = openHistory({ model: 'cas-register', initial: undefined, format });
    for (let at = 0; at < text.length; ) {
      const size = sizes.next().value ?? 1;
      expect(reader.push(text.slice(at, at + size))).toBeNull();
      at += size;
    }
    expect(reader.end()).toBeNull();
    const built = builder.finish();
    if ('what' in built) expect.fail(built.what);
    return operationsOf(built);
  }

  /** Removes keys, which one of the formats requires, and sorts by the order of the calls. */
  function operationsOf({ history }: BuiltHistory): unknown {
    return history
      .map(({ call, ...rest }) => {
        return { ...rest, call: { ...(typeof call === 'object' ? call : {}), key: '' } };
      })
      .sort((left, right) => left.invoke - right.invoke);
  }
});

test('every model and every format has a name, and is listed in the help', () => {
  expect([...dialects.keys()].sort()).toEqual(Object.keys(models).sort());
  // A renamed model is known under both names and listed under one.
  const names = new Set(Object.values(models).map((begin) => begin().name));
  expect([...aboutModels.keys()].sort()).toEqual([...names].sort());
  for (const line of CHECK_HELP.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  const help = CHECK_HELP.replaceAll(/\s+/g, ' ');
  for (const about of [...aboutModels.values(), ...formats.map((format) => format.about)]) {
    expect(help).toContain(about.replaceAll(/\s+/g, ' '));
  }
});

/**
 * Histories recorded by other projects; they may lie beside the project, in a folder of any name.
 */
const recorded = readdirSync(join(root, '..'))
  .map((name) => join(root, '..', name, 'data'))
  .find((path) => existsSync(join(path, 'porcupine/jepsen')) && existsSync(join(path, 'knossos')));

describe.skipIf(recorded === undefined)(
  'a history of another project has its published verdict',
  () => {
    const at = (path: string): string => join(recorded ?? '', path);
    const verdict = { valid: 0, invalid: 1 };

    test.each([
      ...['000', '040', '057', '099'].map((number) => [number, 'invalid'] as const),
      ...['002', '005', '007', '018', '075', '092', '098', '102'].map(
        (number) => [number, 'valid'] as const,
      ),
    ])('etcd_%s is %s', async (number, expected) => {
      const path = at(`porcupine/jepsen/etcd_${number}.log`);
      const { code, line } = await judged(path, '--model=cas-register', '--fail=strict');
      expect({ code, verdict: line.verdict }).toEqual({
        code: verdict[expected],
        verdict: expected,
      });
      expect(line.parts[0]?.core.length ?? 0).toBeLessThanOrEqual(10);
    });

    test.each(['c01', 'c10', 'c50'])('%s-ok is valid and %s-bad is not', async (name) => {
      expect(await judged(at(`porcupine/kv/${name}-ok.txt`))).toMatchObject({
        code: 0,
        line: { model: 'kv' },
      });
      const bad = await judged(at(`porcupine/kv/${name}-bad.txt`));
      expect(bad).toMatchObject({ code: 1, line: { verdict: 'invalid' } });
      for (const { verdict: kind, core } of bad.line.parts) {
        if (kind === 'invalid') expect(core.length).toBeLessThanOrEqual(6);
      }
    });

    test.each([
      ['cas-register_bad_cas-failure', 1],
      ['cas-register_bad_mongodb-v0-ack-rollback-6', 1],
      ['cas-register_bad_rethink-fail', 1],
      ['cas-register_good_memstress3-59', 0],
      ['cas-register_good_mongodb-v0-ack-rollback-4', 0],
    ])('%s ends with %i', async (name, code) => {
      expect(
        (await judged(at(`knossos/${name}.edn`), '--model=cas-register', '--init=0')).code,
      ).toBe(code);
    });

    test('mutex_bad_etcd is invalid', async () => {
      expect(await judged(at('knossos/mutex_bad_etcd.edn'), '--model=mutex')).toMatchObject({
        code: 1,
      });
    });

    test('a log that is truncated in the middle of a line is an error', async () => {
      const text = readFileSync(at('porcupine/kv/c10-ok.txt'), 'utf8');
      const { code, err } = await check(file('c10-cut.txt', text.slice(0, text.length / 2)));
      expect(code).toBe(2);
      expect(err).toMatch(/c10-cut\.txt:\d+:\d+: the file ends inside this map: it is truncated/);
    });
  },
);
