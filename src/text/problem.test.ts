import { expect, test } from 'vitest';
import { type PathStep, renderPath } from './problem.ts';

test.each<[readonly PathStep[], string]>([
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
