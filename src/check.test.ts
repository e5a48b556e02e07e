/** The examples in the comments of `fencepost/check` print the value beside them. */
import { readFileSync } from 'node:fs';
import { compileFunction } from 'node:vm';
import { transformSync } from '@swc/wasm-typescript';
import { expect, test } from 'vitest';
import * as check from './check.ts';

test.each(['src/linearizability/check-history.ts', 'src/linearizability/formats/formats.ts'])(
  'the example in %s prints the documented value',
  (file) => {
    const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
    const [, block = ''] = /^ \* @example\n([\s\S]*?) \*\/$/m.exec(text) ?? [];
    const example = block.replace(/^ \* ?/gm, '').replace(/^import .*\n/, '');
    const [, beside = 'nothing'] = /console\.log\(.*\); \/\/ (.*)$/m.exec(example) ?? [];
    const printed: string[] = [];
    const log = (...values: readonly unknown[]): void => void printed.push(values.join(' '));
    const { code } = transformSync(example, { mode: 'strip-only' });
    const run = compileFunction(code, ['console', ...Object.keys(check)]);
    run({ log }, ...Object.values(check));
    expect(printed).toEqual([beside]);
  },
);
