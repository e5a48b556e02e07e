import { describe, expect, test } from 'vitest';
import { renderProblem } from '../../text/problem.ts';
import { readUse, whyNoModulePath } from './used-modules.ts';

/** Returns the named modules as findings at their places. */
function read(text: string): readonly string[] {
  const found = readUse({ text, file: 'a.yaml' });
  if (found.kind === 'problems') return found.problems.map(renderProblem);
  const places = found.modules.map(({ path, place }) => ({ ...place, what: path }));
  return found.locate(places).map(renderProblem);
}

describe('the value of use', () => {
  test.each([
    ['is empty without the key', '{ is: not read', []],
    ['is empty if `use` is only a value', 'name: use\n', []],
    ['is empty in a text that is not a map', '"use"\n', []],
    ['is a path', 'use: ./a.mjs\n', ['a.yaml:1:6 use: ./a.mjs']],
    [
      'is a list of paths, without items that are not text',
      'use: [./a.mjs, 7, ./b.mjs]\n',
      ['a.yaml:1:7 use[0]: ./a.mjs', 'a.yaml:1:19 use[2]: ./b.mjs'],
    ],
    [
      'is a map from paths to digests',
      'use:\n  ./a.mjs: x\n  ./b.mjs: y\n',
      ['a.yaml:2:3 use["./a.mjs"]: ./a.mjs', 'a.yaml:3:3 use["./b.mjs"]: ./b.mjs'],
    ],
    ['is empty for a number', 'use: 7\n', []],
    ['is empty for an empty value', 'use:\n', []],
    [
      'is listed once',
      'use: [./a.mjs, ./b.mjs, ./a.mjs]\n',
      ['a.yaml:1:25 use[2]: "./a.mjs" is listed twice'],
    ],
    [
      'is a file below the folder',
      'use: [./a.mjs, ../b.mjs]\n',
      [
        'a.yaml:1:16 use[1]: "../b.mjs" leads out of the folder; ' +
          'expected a file below this folder, such as ./my-lock.mjs',
      ],
    ],
    ['is not read from a broken text', 'use: [', ['a.yaml:1:7: ']],
  ])('%s', (_, text, found) => {
    const lines = read(text);
    expect(lines).toHaveLength(found.length);
    for (const [at, line] of lines.entries()) {
      if (found[at]?.endsWith(': ')) expect(line).toContain(found[at]);
      else expect(line).toBe(found[at]);
    }
  });
});

test.each([
  ['./a.mjs', null],
  ['./folder/a.mjs', null],
  ['./a..mjs', null],
  ['./a/b:c.mjs', null],
  ['/a.mjs', 'is an absolute path'],
  ['\\a.mjs', 'is an absolute path'],
  ['C:a.mjs', 'is an absolute path'],
  ['z:/a.mjs', 'is an absolute path'],
  ['https://host/a.mjs', 'is a URL'],
  ['Node:fs', 'is a URL'],
  ['h2+x-y.z:a', 'is a URL'],
  ['ab:c', 'is a URL'],
  ['.\\a.mjs', 'has a backslash'],
  ['./a\u0007.mjs', 'has a control character'],
  ['./a/../../b.mjs', 'leads out of the folder'],
  ['..', 'leads out of the folder'],
  ['a.mjs', 'is the name of a package'],
  ['a/./b.mjs', 'is the name of a package'],
  ['1a:b', 'is the name of a package'],
  ['./', 'is a folder'],
  ['./a/', 'is a folder'],
])('a module at %j: %s', (path, why) => {
  const expected = 'expected a file below this folder, such as ./my-lock.mjs';
  expect(whyNoModulePath(path)).toBe(why && `${JSON.stringify(path)} ${why}; ${expected}`);
});
