import { afterEach, expect, test, vi } from 'vitest';
import { paintFor } from '../text/colour.ts';
import { openTerminal } from './terminal.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test('a quiet terminal prints warnings, but no notes and no progress', () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const terminal = openTerminal({ isQuiet: true, isJson: false });
  terminal.note('a note');
  terminal.progress('half of it');
  terminal.warn('warning: a lease is short');
  expect(write.mock.calls.map(([text]) => text)).toEqual(['warning: a lease is short\n']);
});

test('a log has a progress line if nothing else was printed for ten seconds', () => {
  const written: string[] = [];
  const keep = (text: unknown): boolean => written.push(String(text).trim()) > 0;
  vi.spyOn(process.stderr, 'write').mockImplementation(keep);
  vi.spyOn(process.stdout, 'write').mockImplementation(keep);
  vi.stubEnv('CI', 'true');
  let nowMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const terminal = openTerminal();
  for (nowMs of [9_000, 11_000, 15_000]) terminal.progress(`at ${nowMs}`);
  nowMs = 20_000;
  terminal.print('a result');
  for (nowMs of [29_000, 31_000]) terminal.progress(`at ${nowMs}`);
  expect(written).toEqual(['at 11000', 'a result', 'at 31000']);
});

test('untrusted text cannot control the terminal in any kind of line', () => {
  const written: string[] = [];
  const keep = (text: unknown): boolean => written.push(String(text)) > 0;
  vi.spyOn(process.stderr, 'write').mockImplementation(keep);
  vi.spyOn(process.stdout, 'write').mockImplementation(keep);
  for (const force of ['1', '0']) {
    vi.stubEnv('NO_COLOR', '');
    vi.stubEnv('FORCE_COLOR', force);
    const terminal = openTerminal({ isQuiet: false, isJson: false });
    for (const write of [terminal.print, terminal.note, terminal.warn]) {
      write('a\u001b[2Jb\u0007\n::error::c');
    }
  }
  const safe = 'a‹U+001B›[2Jb‹U+0007›‹U+000A›::error::c\n';
  expect(written).toEqual([safe, safe, safe, safe, safe, safe]);
});

test('drawn text keeps its lines, and its colors if the terminal has colors', () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.stubEnv('NO_COLOR', '');
  vi.stubEnv('FORCE_COLOR', '1');
  const terminal = openTerminal({ isQuiet: false, isJson: false });
  terminal.printLines(`${paintFor(true).red('✗')} one\ntwo\u001b[2J`);
  expect(write.mock.calls.map(([text]) => text)).toEqual([
    '\u001b[31m✗\u001b[39m one\n',
    'two‹U+001B›[2J\n',
  ]);
});
