import { afterEach, expect, test, vi } from 'vitest';
import { loadScenario } from '../load.ts';
import { claimTally, EMPTY_TALLY, type Tally } from '../search/sweep/tally.ts';
import { paintFor } from '../text/colour.ts';
import { breaksNoted, openTerminal } from './terminal.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test('a quiet terminal keeps warnings, and neither notes nor progress', () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const terminal = openTerminal({ isQuiet: true, isJson: false });
  terminal.note('a note');
  terminal.progress('half of it');
  terminal.warn('warning: a lease is short');
  expect(write.mock.calls.map(([text]) => text)).toEqual(['warning: a lease is short\n']);
});

test('the first seed that breaks what should hold is told at once, and only once', () => {
  const text = `name: zombie
systems:
  sure: { lock: lock-service, store: fenced, expect: { holds: [grant-order] } }
  weak: { lock: lock-service, store: unfenced, expect: { breaks: [grant-order] } }
`;
  const read = loadScenario(text, 'zombie.yaml');
  if (read.kind === 'problems') expect.fail('the scenario does not load');
  const noted: string[] = [];
  const terminal = { note: (line: string) => void noted.push(line) };
  const noteBreaks = breaksNoted(read.scenario.systems, { terminal, trial: 'seed' });
  const claimOf = (...brokenSeeds: readonly number[]): Tally => ({
    ...EMPTY_TALLY,
    claims: {
      'grant-order': { ...claimTally(EMPTY_TALLY, ''), broken: brokenSeeds.length, brokenSeeds },
    },
  });
  for (const system of ['weak', 'sure']) {
    for (const tally of [claimOf(), claimOf(7, 8), claimOf(3)]) noteBreaks(system, tally);
  }
  expect(noted).toEqual(['  ✗ seed 7 breaks grant-order of sure; shrunk when all are done']);
});

test('a log has a line of progress where nothing else was printed for ten seconds', () => {
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

test('others’ text steers no terminal, whatever it is printed as', () => {
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

test('what is drawn keeps its lines and its colours, where there are colours', () => {
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
