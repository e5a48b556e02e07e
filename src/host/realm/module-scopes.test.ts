import v8 from 'node:v8';
import vm from 'node:vm';
import { expect, test } from 'vitest';
import { reserveSlots } from './instances.ts';
import { rewriteModule, rewriteScript } from './rewrite-module.ts';

const FILLING = 'for (const name of names) Commander.prototype[name] = f;';

test('a class that is filled later is followed by a call, and no line moves', () => {
  const source = `class Other {}\nclass Commander {\n} // of Redis\n${FILLING}`;
  expect(rewriteScript(source, 'a.js')).toBe(
    `class Other {}\nclass Commander {\n};$fproom(Commander); // of Redis\n${FILLING}`,
  );
  const inFunction =
    'function f() {\n  const a = 1, A = class extends B {\n  }\n  fill(A.prototype)\n}';
  expect(rewriteScript(inFunction, 'a.js')).toBe(
    inFunction.replace('}\n  f', '};$fproom(A);\n  f'),
  );
  const module = `export class Commander {\n}\n${FILLING}`;
  expect(rewriteModule(module, 'a.mjs').text).toContain(`\n};$fproom(Commander);\n${FILLING}`);
});

test('a class is unchanged if code follows on its line, or if it is never filled', () => {
  for (const source of [
    `class Commander {} ${FILLING}`,
    'class Commander {}\nCommander.prototype.get.call(this);',
    'class Commander {}\nthis is no code; Commander.prototype[0]',
    `if (isOld) var Commander = class {}\n${FILLING}`,
    `var Commander = class {}, old = (Commander = null)\n${FILLING}`,
    `function Commander() {}\n${FILLING}`,
  ]) {
    expect(rewriteScript(source, 'a.js')).toBe(source);
  }
});

test('a class with reserved slots is the same, with a prototype in dictionary mode', () => {
  v8.setFlagsFromString('--allow-natives-syntax');
  const isList: unknown = vm.runInThisContext('(given) => %HasFastProperties(given)');
  if (typeof isList !== 'function') throw new Error('it is a function');
  class Commander {
    get(): number {
      return 1;
    }
  }
  const before = Object.getOwnPropertyDescriptors(Commander.prototype);
  expect(isList(Commander.prototype)).toBe(true);
  reserveSlots(Commander);
  expect(isList(Commander.prototype)).toBe(false);
  expect(Object.getOwnPropertyDescriptors(Commander.prototype)).toEqual(before);
  expect(Reflect.ownKeys(Commander.prototype)).toEqual(['constructor', 'get']);
  for (const other of [null, undefined, () => 1, {}, Object.freeze(class {})]) reserveSlots(other);
});

test.each([
  ['await using a = open()', true],
  ['class A { [await 1] = 2 }', true],
  ['for await (const a of b);', true],
  ['class A { a = async () => { await 1; await using b = c } }', false],
])('%s at the top of a module makes it asynchronous: %s', (source, isAsync) => {
  expect(rewriteModule(source, 'a.mjs').isAsync).toBe(isAsync);
});

test('a very long word does not slow down the scan', () => {
  const source = `class Commander {}\nconst bytes = '${'A'.repeat(2_000_000)}';\n`;
  expect(rewriteScript(source, 'a.js')).toBe(source);
});
