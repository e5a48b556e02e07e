import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkHistory } from '../check-history.ts';
import { refuteOrder } from '../verify-order.ts';
import { formatOf, type ReadHistoryOptions, readHistory } from './formats.ts';

const names = ['counter', 'fenced-register', 'independent', 'kv', 'mutex', 'operations'];
const recorded = [...names, 'versioned-register'].flatMap((name) => {
  const endings = { counter: 'json', kv: 'txt', independent: 'edn', operations: 'json' };
  const ending = new Map(Object.entries(endings)).get(name) ?? 'jsonl';
  return ['valid', 'invalid'].map((kind) => [`${name}-${kind}.${ending}`, kind] as const);
});

describe('a program can read and check a recorded history', () => {
  it.each([
    ...recorded,
    ['register-valid.log', 'valid'] as const,
    ['register-invalid.log', 'invalid'] as const,
  ])('%s is %s', (name, kind) => {
    const file = new URL(`../../../fixtures/histories/${name}`, import.meta.url);
    const read = readHistory(readFileSync(file, 'utf8'));
    if (read.kind !== 'history') expect.fail(read.what);
    const verdict = checkHistory(read.history, read.model);
    expect(verdict.kind).toBe(kind);
    if (verdict.kind === 'valid') {
      expect(refuteOrder(read.history, read.model, verdict.order)).toBeNull();
    }
    expect(read.invokeLines).toHaveLength(read.history.length);
  });
  it('and an error in it has a position', () => {
    const line = '{"process":"a","type":"invoke","f":"write","value":1}';
    expect(readHistory(`${line}\n{"process"`)).toMatchObject({ kind: 'malformed', line: 2 });
    expect(readHistory('hello')).toMatchObject({ kind: 'malformed', line: 1, column: 1 });
  });
  it('and a possibly truncated log is distinguished from a complete one', () => {
    const line = '2024-01-01 00:00:00,000{GMT}\tINFO\t[jepsen] jepsen.util: 0\t:invoke\t:write\t1';
    const mayBeTruncated = (text: string) => {
      const read = readHistory(text, { format: 'jepsen-log' });
      return read.kind === 'history' ? read.mayBeTruncated : read.what;
    };
    expect([mayBeTruncated(line), mayBeTruncated(`${line}\n`)]).toEqual([true, false]);
  });
  it('and a Jepsen log is recognized before its first event', () => {
    const head =
      '2026-01-02 03:04:05,678{GMT}\tINFO\t[jepsen test runner] jepsen.core: Running test:';
    expect(formatOf(`${head}\n${'{:a 1}\n'.repeat(4_000)}`)?.name).toBe('jepsen-log');
    const log = `${head}\n{:name "a"}\n${['invoke', 'ok']
      .map((type) => `INFO [jepsen worker 0] jepsen.print: 0\t:${type}\t:write\t1\n`)
      .join('')}`;
    expect(readHistory(log)).toMatchObject({ format: 'jepsen-log', history: [{ outcome: 'ok' }] });
  });
  it('and the version that a write expects is checked', () => {
    const asked = '{"process":"a","type":"invoke","f":"write","value":1';
    const done = '{"process":"a","type":"ok"';
    const what = 'expected a version in "expected", a whole number below 2^53';
    expect(readHistory(`${asked},"expected":"1"}\n${done},"version":1}`)).toMatchObject({ what });
    const refused = `${asked}}\n${done},"answer":"refused","version":1}`;
    expect(readHistory(refused)).toMatchObject({ what });
  });
  it('but an unknown format or model throws', () => {
    expect(() => readHistory('', { format: 'jsonp' })).toThrow('unknown format "jsonp"; did you');
    expect(() => readHistory('', { model: 'registr' })).toThrow('did you mean "register"?');
    const unknownOptions: object = { order: 'tim' };
    const options: ReadHistoryOptions = Object.assign({}, unknownOptions);
    expect(() => readHistory('', options)).toThrow('unknown order "tim"; did you mean "time"?');
  });
});
