import { afterEach, expect, test, vi } from 'vitest';
import { openTerminal } from './terminal.ts';

afterEach(() => vi.restoreAllMocks());

test('a quiet terminal keeps warnings, and neither notes nor progress', () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const terminal = openTerminal({ isQuiet: true, isJson: false });
  terminal.note('a note');
  terminal.progress('half of it');
  terminal.warn('warning: a lease is short');
  expect(write.mock.calls.map(([text]) => text)).toEqual(['warning: a lease is short\n']);
});
