/** The differential test covers only commands that `syntax.fixture.ts` draws. */
import { expect, test } from 'vitest';
import { rows } from './commands.ts';
import { syntax, undrawn } from './syntax.fixture.ts';

test('every command has a row of syntax, or is listed as not drawn', () => {
  const names = rows.map(([name]) => name);
  expect([...Object.keys(syntax), ...undrawn].sort()).toEqual([...names].sort());
});
