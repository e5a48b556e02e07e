/** Tests the contents and the size of the script that the page embeds. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { protocols } from '../../../parts.ts';
import { bundle, root } from './browser.fixture.ts';

describe('the script of the page', () => {
  const { code: script, loader } = bundle();

  it('contains no file reader, no schema and no engine', () => {
    const engines = /ZodError|zod|YAMLParse|parseDocument|fengari|wasmoon|WebAssembly/i;
    const outside = /node:|require\(|\bfetch\(|XMLHttpRequest|localStorage/;
    expect(script.match(engines)?.[0]).toBeUndefined();
    expect(script.match(outside)?.[0]).toBeUndefined();
  });

  it('is less than 200 kB packed for any lock, with a loader of less than 3 kB', () => {
    expect(script.length).toBeGreaterThan(100_000);
    const sizes = [...protocols.keys()].map((lock) => packedSize(bundle(lock).code));
    expect(Math.max(...sizes)).toBeLessThan(200_000);
    // Other locks are left out.
    expect(packedSize(script)).toBeLessThan(Math.max(...sizes) - 10_000);
    expect(loader.length).toBeLessThan(3_000);
    expect(loader).not.toMatch(/<[/!s]/);
  });

  it.each([...protocols])('contains %s if the page needs it', (lock, { about }) => {
    const [longest = ''] = about.split(/["'`$:,]/).sort((one, other) => other.length - one.length);
    expect(bundle(lock).code.includes(longest)).toBe(true);
  });

  it('imports nothing, and omits only code that commands alone call', () => {
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

/** Returns the size in base64, as in the page. */
function packedSize(code: string): number {
  return deflateRawSync(code, { level: 9 }).toString('base64').length;
}
