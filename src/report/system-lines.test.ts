import { expect, it } from 'vitest';
import { systemLines } from './system-lines.ts';

const text = ['name: x', 'systems:', '  a: { lock: l }', '', '  "b c":', '    lock: l', ''].join(
  '\n',
);

it('points at the line on which a system is named', () => {
  const lines = systemLines({ file: 'x.yaml', text }, ['a', 'b c']);
  expect([...lines]).toEqual([
    ['a', 3],
    ['b c', 5],
  ]);
});

it('knows no line in what is not YAML', () => {
  expect(systemLines({ file: 'x.yaml', text: '{' }, ['a']).size).toBe(0);
});
