import { expect, test } from 'vitest';
import { renderPath, type Step } from './problem.ts';

test.each<[readonly Step[], string]>([
  [[], ''],
  [['faults', 0, 'late-timer', 'by'], 'faults[0].late-timer.by'],
  [['clients', 'each', 'zoë', 'ttl'], 'clients.each.zoë.ttl'],
  [['use', './my-lock.mjs'], 'use["./my-lock.mjs"]'],
  [['use', 0], 'use[0]'],
  [['decisions', 'alice/1/write', 'delay'], 'decisions["alice/1/write"].delay'],
  [['systems', 'a "b"', 'lock'], 'systems["a \\"b\\""].lock'],
  [['', 'x'], '[""].x'],
])('the path %j reads %s', (path, text) => {
  expect(renderPath(path)).toBe(text);
});
