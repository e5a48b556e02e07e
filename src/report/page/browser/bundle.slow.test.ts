/** What the script that the page carries is made of. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { protocols } from '../../../parts.ts';
import { bundle, root } from './browser.fixture.ts';

describe('the script of the page', () => {
  const { code: script, loader } = bundle();

  it('has no reader of files, no schema and no engine to be loaded', () => {
    const engines = /ZodError|zod|YAMLParse|parseDocument|fengari|wasmoon|WebAssembly/i;
    const outside = /node:|require\(|\bfetch\(|XMLHttpRequest|localStorage/;
    expect(script.match(engines)?.[0]).toBeUndefined();
    expect(script.match(outside)?.[0]).toBeUndefined();
  });

  it('is packed to less than 195 kB, whatever lock its page is of, and unpacked by less than 3', () => {
    expect(script.length).toBeGreaterThan(100_000);
    const sizes = [...protocols.keys()].map((lock) => packedSize(bundle(lock).code));
    expect(Math.max(...sizes)).toBeLessThan(195_000);
    // Those of others stay out.
    expect(packedSize(script)).toBeLessThan(Math.max(...sizes) - 10_000);
    expect(loader.length).toBeLessThan(3_000);
    expect(loader).not.toMatch(/<[/!s]/);
  });

  it.each([...protocols])('has %s, where the page is of it', (lock, { about }) => {
    const [longest = ''] = about.split(/["'`$:,]/).sort((one, other) => other.length - one.length);
    expect(bundle(lock).code.includes(longest)).toBe(true);
  });

  it('imports nothing, and leaves out only what only commands call', () => {
    expect(script).not.toMatch(/^(?:import|export)\b|import\.meta/m);
    const spared = ['caches', 'redis', 'services'].map((name) => `locks-on-${name}`);
    const from = ['checker', 'core', ...spared, 'flow'].flatMap((name) => {
      const text = readFileSync(join(root, `dist/shared/${name}.js`), 'utf8');
      return [...text.matchAll(/^import.*"([^"]+)";$/gm)].map(([, other]) => `${name}: ${other}`);
    });
    expect(from.sort()).toEqual(
      [
        'core: ./checker.js',
        ...spared.map((name) => `${name}: ./core.js`),
        ...['core', ...spared].map((name) => `flow: ./${name}.js`),
        'flow: @noble/hashes/sha2.js',
        'flow: @noble/hashes/utils.js',
      ].sort(),
    );
  });
});

/** In base64, as the page has it. */
function packedSize(code: string): number {
  return deflateRawSync(code, { level: 9 }).toString('base64').length;
}
