import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { inflate } from '../page/inflate.ts';
import { linkModules } from './document.ts';

describe('linkModules', () => {
  const boot = 'import{a as e,twice as t}from"../../shared/core.js";\nglobalThis.linked=t(e);\n';

  function linked(core: string): unknown {
    const modules = [
      ['shared/core.js', core],
      ['report/page/boot.js', boot],
    ] as const;
    new Function(linkModules(modules))();
    return Reflect.get(globalThis, 'linked');
  }

  it('passes the exports of one module to the module that imports them', () => {
    const core = 'let n=20;\nfunction o(r){return r*2}\nexport{n as a,o as twice};\n';
    expect(linked(core)).toBe(40);
  });

  it('leaves imports from elsewhere undefined, which fail only if called', () => {
    const imports = 'import x from"pkg";\nimport{sha as y}from"p/a.js";\nimport"./b.js";\n';
    const core = `${imports}function a(){return x(y)}\nlet twice=(f)=>f;\nexport{a,twice};\n`;
    const f = linked(core);
    expect(f).toBeTypeOf('function');
    if (typeof f === 'function') expect(() => f()).toThrow('x is not a function');
  });
});

describe('inflate', () => {
  const texts = {
    nothing: '',
    'one letter': 'a',
    'what repeats itself, further than a length can say': 'ab'.repeat(2000),
    'what seldom does': Array.from({ length: 9000 }, (_, at) => (at * at * 31) % 8191).join(),
  };

  it.each(Object.entries(texts))('unpacks %s, for every level and strategy', (_, text) => {
    const bytes = new TextEncoder().encode(text);
    for (const level of [0, 1, 9]) {
      for (const strategy of [0, 2, 3, 4]) {
        const packed = deflateRawSync(bytes, { level, strategy });
        const unpacked = inflate(packed, bytes.length);
        expect(Buffer.compare(unpacked, bytes), `${level}, ${strategy}`).toBe(0);
      }
    }
  });

  it('refuses a block that defines no codes', () => {
    // A block with dynamic codes that defines none.
    expect(() => inflate(new Uint8Array([5, 0, 0, 0, 0]), 9)).toThrow('damaged');
  });
});
